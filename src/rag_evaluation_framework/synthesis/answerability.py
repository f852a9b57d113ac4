"""The second call: whether the excerpts of a question, and nothing else, answer it."""

from collections.abc import Sequence

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.asking import Asker, Form
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.forms import Verdict, read_verdict
from rag_evaluation_framework.synthesis.marks import marked
from rag_evaluation_framework.synthesis.prompt_files import load_prompt

PROMPT = "answerable"
REASONS = {"partly": "answered only in part", "no": "not answered"}
UNCHECKED = "could not be checked"


def answerable(candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]) -> list[Candidate[U]]:
    """Return the candidates whose excerpts alone answer the question, as the model judges in a call of its own.

    Args:
        candidates: Questions with excerpts.
        asker: Asks the model.
        rejections: Where rejections are put.
    """
    asked = [checking(each.question, each.excerpts) for each in candidates]
    kept: list[Candidate[U]] = []
    for candidate, verdict in zip(candidates, asker.ask(Form(Verdict, read_verdict), asked, "Checking"), strict=True):
        if isinstance(verdict, ProviderError):
            rejections.append(rejected(candidate, "kept", UNCHECKED, str(verdict)))
        elif verdict.answer == "yes":
            kept.append(candidate)
        else:
            rejections.append(rejected(candidate, "kept", REASONS[verdict.answer], " | ".join(candidate.excerpts)))
    return kept


def checking(question: str, excerpts: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages of the call about a question."""
    return load_prompt(PROMPT).messages(question=question, excerpts=marked("excerpt", excerpts, question))
