"""Filters: verified questions that are not worth keeping, each with its reason."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected

Filter: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]]], Sequence[str | None]]
"""Takes questions and the excerpts of each; returns why each is not kept, None if it is."""

SAME_WORDING = "same question again"
OTHER_ANSWER = "same question with another answer"


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


def without_contradictions(candidates: Sequence[Candidate[U]], rejections: list[Rejection]) -> list[Candidate[U]]:
    """Return the candidates without those of one wording of which two are answered by different texts: all of them go.

    Such a question does not say what it is about, so that several documents, or places, answer it differently. What
    users ask stays: they do ask so.

    Args:
        candidates: Questions with evidence, in their order.
        rejections: Where rejections are put.
    """
    alike: dict[str, list[Candidate[U]]] = {}
    for each in candidates:
        alike.setdefault(wording_key(each.question), []).append(each)
    kept: list[Candidate[U]] = []
    for each in candidates:
        pairs = combinations(alike[wording_key(each.question)], 2)
        pair = next((pair for pair in pairs if not _agree(*pair)), None)
        if pair is None or each.request.given:
            kept.append(each)
            continue
        other = pair[0] if each is not pair[0] else pair[1]
        rejections.append(rejected(each, "kept", OTHER_ANSWER, " | ".join(other.excerpts) or "no answer"))
    return kept


def _agree(one: Candidate[U], other: Candidate[U]) -> bool:
    """Return whether the same texts, in part at least, answer both; or nothing does."""
    if not (one.evidence and other.evidence):
        return not (one.evidence or other.evidence)
    return any(mine.is_that_of(theirs) for mine in one.evidence for theirs in other.evidence)


def _parted(reason: str) -> tuple[str, str]:
    """Return the reason and the detail behind its first colon."""
    kind, _, detail = reason.partition(": ")
    return kind, detail


def same_wording(questions: Sequence[str], excerpts: Sequence[Sequence[str]]) -> list[str | None]:
    """Tell the questions that have the wording of an earlier one, up to capitals and punctuation."""
    del excerpts
    first: dict[str, str] = {}
    told = [first.setdefault(wording_key(question), question) for question in questions]
    seen: set[str] = set()
    found: list[str | None] = []
    for earlier in told:
        found.append(f"{SAME_WORDING}: {earlier}" if earlier in seen else None)
        seen.add(earlier)
    return found
