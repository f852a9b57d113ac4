"""Filters: verified questions that are not worth keeping, each with its reason."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.labelling.telling import is_long
from rag_evaluation_framework.synthesis.candidates import Candidate, Evidence, Rejection, rejected

Filter: TypeAlias = Callable[[Sequence[Candidate[Any]]], Sequence[str | None]]
"""Returns why each question is not kept, None if it is."""

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
        told = [*zip(left, reasons_of(left), strict=True)]
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
    distinct = {wording: _distinct(group) for wording, group in alike.items()}
    differing = {wording: group for wording, group in distinct.items() if not _all_agree(group)}
    kept: list[Candidate[U]] = []
    for each in candidates:
        others = differing.get(wording_key(each.question))
        if others is None or each.request.given:
            kept.append(each)
            continue
        # The first with which it disagrees; if only others disagree with each other, the first with another text.
        told = next((other for other in others if not _agree(each, other)), None)
        told = told or next((other for other in others if other.excerpts != each.excerpts), others[0])
        rejections.append(rejected(each, "kept", OTHER_ANSWER, " | ".join(told.excerpts) or "no answer"))
    return kept


def _distinct(candidates: Sequence[Candidate[U]]) -> list[Candidate[U]]:
    """Return the first candidate of each answer."""
    found: dict[frozenset[Evidence | str], Candidate[U]] = {}
    for each in candidates:
        found.setdefault(frozenset(one.text if is_long(one.text) else one for one in each.evidence), each)
    return [*found.values()]


def _all_agree(candidates: Sequence[Candidate[U]]) -> bool:
    return all(_agree(one, other) for one, other in combinations(candidates, 2))


def _agree(one: Candidate[U], other: Candidate[U]) -> bool:
    """Return whether the same texts, in part at least, answer both; or nothing does."""
    if not (one.answers and other.answers):
        return not (one.answers or other.answers)
    if not {*one.answers}.isdisjoint(other.answers):
        return True
    return any(mine.is_that_of(theirs) for mine in one.evidence for theirs in other.evidence)


def _parted(reason: str) -> tuple[str, str]:
    """Return the reason and the detail behind its first colon."""
    kind, _, detail = reason.partition(": ")
    return kind, detail


def same_wording(candidates: Sequence[Candidate[Any]]) -> list[str | None]:
    """Tell the questions that have the wording of an earlier one, up to capitals and punctuation."""
    first: dict[str, str] = {}
    told = [first.setdefault(wording_key(each.question), each.question) for each in candidates]
    seen: set[str] = set()
    found: list[str | None] = []
    for earlier in told:
        found.append(f"{SAME_WORDING}: {earlier}" if earlier in seen else None)
        seen.add(earlier)
    return found
