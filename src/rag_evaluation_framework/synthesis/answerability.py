"""The second call: whether the excerpts of a question, and nothing else, answer it."""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.asking import Asker, Form
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.evidence import Evidence
from rag_evaluation_framework.synthesis.forms import Verdict, read_verdict
from rag_evaluation_framework.synthesis.marks import marked
from rag_evaluation_framework.synthesis.prompt_files import load_prompt

CHECK = "answerable"
REASONS = {"partly": "answered only in part", "no": "not answered"}
UNCHECKED = "could not be checked"


def answerable(candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]) -> list[Candidate[U]]:
    """Return the candidates whose excerpts alone answer the question, as the model judges in a call of its own.

    Args:
        candidates: Questions with excerpts.
        asker: Asks the model.
        rejections: Where rejections are put.
    """
    asked = [checking(each.question, each.evidence) for each in candidates]
    kept: list[Candidate[U]] = []
    for candidate, verdict in zip(candidates, judged(asked, asker, "Checking"), strict=True):
        if isinstance(verdict, ProviderError):
            rejections.append(rejected(candidate, "kept", UNCHECKED, str(verdict)))
        elif verdict.answer == "yes":
            kept.append(candidate)
        else:
            told = " | ".join(candidate.excerpts)
            told = f"{told}; left open: {verdict.missing}" if verdict.missing.strip() else told
            rejections.append(rejected(candidate, "kept", REASONS[verdict.answer], told))
    return kept


def judged(asked: Sequence[Any], asker: Asker, shown_as: str) -> list[Verdict | ProviderError]:
    """Return whether excerpts answer questions, for the messages of each call; or why that is not known."""
    return asker.ask(Form(Verdict, read_verdict), asked, shown_as)


def checking(question: str, evidence: Sequence[Evidence]) -> list[dict[str, str]]:
    """Return the messages of the call about a question."""
    shown = marked("excerpt", [each.text for each in evidence], question, [each.told for each in evidence])
    return load_prompt(CHECK).messages(question=question, excerpts=shown)
