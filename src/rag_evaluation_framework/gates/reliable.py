"""Whether the result of a run can be relied on: which questions failed, were not asked, or were skipped."""

from typing import Any

from rag_evaluation_framework.data.failures import NOT_ASKED
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.results.notes import lacks_places
from rag_evaluation_framework.results.result import EvaluationResult


def unreliable(
    result: EvaluationResult[Any],
    allow_failures: int = 0,
    allow_skipped: int = 0,
    allow_unlocated: float = 0.5,
    why_skipped: str = "",
) -> tuple[str, ...]:
    """Return why a result cannot be relied on: everything that is more than was allowed; nothing if it can be.

    Args:
        result: The result.
        allow_failures: Number of questions that may fail.
        allow_skipped: Number of questions that may be skipped.
        allow_unlocated: Share of the results that may have no place in the corpus.
        why_skipped: Why questions were skipped, behind their number.
    """
    counts = result.counts
    failed, skipped, asked = counts["failed"] + counts["metric_failed"], counts["skipped"], counts["questions"]
    not_asked = sum(NOT_ASKED in failures for failures in result.failures.values())
    if not_asked:
        others = f"{counts['failed'] - not_asked} others in time"
        return (f"{not_asked} of {asked} questions were not asked, as the retriever did not answer {others}",)
    if has_no_score(result):
        return ("no question has a score",)
    problems: list[str] = []
    if failed > allow_failures:
        problems.append(f"{failed} of {asked} questions failed{_more_than(allow_failures, 'failures')}")
    if skipped > allow_skipped:
        many = f"{skipped} of {counts['answerable']} answerable questions {'were' if skipped > 1 else 'was'}"
        problems.append(f"{many} skipped{_more_than(allow_skipped, 'skipped')}{why_skipped}")
    if lacks_places(result, allow_unlocated):
        many = f"{counts['unlocated_hits']} of {counts['hits']} results"
        noun = RULES[result.evaluation_type].noun
        problems.append(f"{many} have no {noun}{_more_than(f'{allow_unlocated:.0%}', 'unlocated')}")
    return tuple(problems)


def _more_than(allowed: object, what: str) -> str:
    return f", more than the {allowed} allowed (allow_{what}, --allow-{what})"


def has_no_score(result: EvaluationResult[Any]) -> bool:
    """Return whether no question has any score."""
    return all(mean is None for mean in result.metrics.values())
