"""Filters: verified questions that are not worth keeping, each with its reason."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected

Filter: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]]], Sequence[str | None]]
"""Takes questions and the excerpts of each; returns why each is not kept, None if it is."""

SAME_WORDING = "same question again"


def filtered(
    candidates: Sequence[Candidate[U]], filters: Sequence[Filter], rejections: list[Rejection]
) -> list[Candidate[U]]:
    """Return the candidates that pass all filters; each filter sees what those before it kept.

    Args:
        candidates: Verified questions, in their order.
        filters: The filters, in their order.
        rejections: Where rejections are put.
    """
    left = [*candidates]
    for reasons_of in filters:
        reasons = reasons_of([each.question for each in left], [each.excerpts for each in left])
        told = [*zip(left, reasons, strict=True)]
        rejections += [rejected(each, "kept", *_parted(reason)) for each, reason in told if reason is not None]
        left = [each for each, reason in told if reason is None]
    return left


def _parted(reason: str) -> tuple[str, str]:
    """Return the reason and the detail behind its first colon."""
    kind, _, detail = reason.partition(": ")
    return kind, detail


def same_wording(questions: Sequence[str], excerpts: Sequence[Sequence[str]]) -> list[str | None]:
    """Tell the questions that have the wording of an earlier one, up to capitals and punctuation."""
    del excerpts
    seen: set[str] = set()
    found: list[str | None] = []
    for question in questions:
        key = wording_key(question)
        found.append(SAME_WORDING if key in seen else None)
        seen.add(key)
    return found
