"""Choosing by a call of its own: which of several numbered texts a model names for a question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.answerability import UNCHECKED
from rag_evaluation_framework.synthesis.asking import Asker, Form
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.evidence import Evidence
from rag_evaluation_framework.synthesis.forms import Numbers, read_numbers
from rag_evaluation_framework.synthesis.marks import marked
from rag_evaluation_framework.synthesis.prompt_files import load_prompt

ALONE = "alone"
"""The prompt that asks which excerpts answer a question without the others."""

PLACES = "places"
"""The prompt that asks at which of several places the same words answer a question."""

ONE_IS_ENOUGH = "answered by one part alone"

_FORM = Form(Numbers, read_numbers)


def chosen(asked: Sequence[Any], asker: Asker, shown_as: str) -> list[list[int] | ProviderError]:
    """Return the numbers that a model names in answer to each request, from 1; or why there are none."""
    answers = asker.ask(_FORM, asked, shown_as)
    return [each if isinstance(each, ProviderError) else each.numbers for each in answers]


def choosing(prompt: str, question: str, evidence: Sequence[Evidence]) -> list[dict[str, str]]:
    """Return the messages that ask which of some texts are meant."""
    told = [{"number": str(number), **each.told} for number, each in enumerate(evidence, 1)]
    shown = marked("excerpt", [each.text for each in evidence], question, told)
    return load_prompt(prompt).messages(question=question, excerpts=shown)


def needing_all_parts(
    candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]
) -> list[Candidate[U]]:
    """Return the candidates of which no part of the evidence, one place or one document, is the answer by itself.

    Those that were not asked to have several parts are not asked about.

    Args:
        candidates: Questions that all of their excerpts together answer.
        asker: Asks the model.
        rejections: Where rejections are put.
    """
    parts = [[_together(part) for part in each.parts] for each in candidates]
    asked = [number for number, own in enumerate(parts) if len(own) > 1]
    messages = [choosing(ALONE, candidates[number].question, parts[number]) for number in asked]
    answers = dict(zip(asked, chosen(messages, asker, "Checking parts"), strict=True))
    kept: list[Candidate[U]] = []
    for number, candidate in enumerate(candidates):
        answer = answers.get(number, [])
        if isinstance(answer, ProviderError):
            rejections.append(rejected(candidate, "kept", UNCHECKED, str(answer)))
        elif enough := [parts[number][part - 1] for part in answer if 1 <= part <= len(parts[number])]:
            rejections.append(rejected(candidate, "kept", ONE_IS_ENOUGH, enough[0].text))
        else:
            kept.append(candidate)
    return kept


def _together(part: Sequence[Evidence]) -> Evidence:
    return replace(part[0], text="\n\n".join(each.text for each in part))
