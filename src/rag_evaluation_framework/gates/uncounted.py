"""Which questions the value of a gate leaves out, or counts as 0, and why, in words beside it."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.analysis.comparison import Comparison
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.results.result import EvaluationResult

_WIDEST = 160  # characters of a failure


WITHOUT_BASELINE = "failed or skipped in the baseline"
"""Why a question of both datasets cannot be lost."""


def not_compared_by_reason(compared: Comparison, baseline: ScoreTable) -> dict[str, tuple[str, ...]]:
    """Return the ids of the questions of baseline and run that cannot be compared, by the reason.

    Those that fail or are skipped now are not among them: they are lost. Those that failed in the baseline are, also
    where they count as 0: they cannot be lost, nor fall.
    """
    rows, statuses = baseline.rows, baseline.statuses
    failed = [query_id for query_id in compared.change.query_ids if statuses[rows[query_id]] == "failed"]
    return {
        "gone": compared.removed,
        "new": compared.added,
        "with other wording or labels": compared.changed,
        WITHOUT_BASELINE: (*compared.placed, *failed),
    }


def why_no_score(result: EvaluationResult[Any], query_id: str) -> str:
    """Return why a question was not scored: it was skipped, or how it failed; "" if it was."""
    row = result.scores.rows.get(query_id)
    if row is None:
        return "skipped"
    if result.scores.statuses[row] != "failed":
        return ""
    failure = result.failures[query_id][0]
    return f"failed: {one_line(f'{failure.kind}: {failure.message}', _WIDEST)}"


def left_out_of_mean(scores: ScoreTable, name: str, rows: Integers) -> str:
    """Return how many of these questions have no score or failed, and whether a mean counts those that failed."""
    failed, counted = _failures(scores)[rows], ~np.isnan(scores.column(name)[rows])
    unscored = int((scores.answerable[rows] & ~(counted | failed)).sum())
    return _failed(failed, counted) + (f", {unscored} without the score and not counted" if unscored else "")


def left_out_of_drop(
    compared: Comparison, runs: tuple[ScoreTable, ScoreTable], name: str, some: Collection[str] | None
) -> str:
    """Return how many questions a drop leaves out, and why.

    Args:
        compared: The comparison.
        runs: The scores of the baseline, and of the run.
        name: The score.
        some: The ids of the questions that the gate is about; None for all.
    """
    ids = compared.change.query_ids
    chosen = np.array([row for row, query_id in enumerate(ids) if some is None or query_id in some], dtype=np.int64)
    counted = ~np.isnan(compared.change.columns[name][chosen])
    rows = [np.array([table.rows[ids[row]] for row in chosen], dtype=np.int64) for table in runs]
    before, now = (_failures(table)[own] for table, own in zip(runs, rows, strict=True))
    unscored = int((runs[1].answerable[rows[1]] & ~(counted | before | now)).sum())
    told = _failed(now, counted) + _failed(before & ~now, counted, " before", "compared")
    told += f", {unscored} without the score in both and not compared" if unscored else ""
    placed = sum(some is None or query_id in some for query_id in compared.placed)
    told += f", {placed} skipped before and not compared" if placed else ""
    return told + not_compared(compared, len(compared.skipped))


def not_compared(compared: Comparison, skipped: int = 0) -> str:
    """Return how many questions of the baseline are not there any more, or ask or expect something else now.

    Args:
        compared: The comparison.
        skipped: How many are skipped now, and left out for that.
    """
    count = len(compared.removed) + len(compared.changed) + skipped
    return f", {count} of the baseline not compared" if count else ""


def unfilled_budgets(name: str, runs: Mapping[str, EvaluationResult[Any]]) -> str:
    """Return how many rankings ran out of results before the budget of a score was filled, in each of some runs."""
    counts = [f"{run.unfilled[name]}{when}" for when, run in runs.items() if name in run.unfilled]
    return f", rankings that ran out of results before the budget was filled: {', '.join(counts)}" if counts else ""


def _failures(scores: ScoreTable) -> NDArray[np.bool_]:
    """Return which questions would have a score if they had not failed; shape (questions,)."""
    return scores.with_status("failed") & scores.answerable


def _failed(failed: NDArray[np.bool_], counted: NDArray[np.bool_], when: str = "", how: str = "counted") -> str:
    left, zeros = int((failed & ~counted).sum()), int((failed & counted).sum())
    told = f", {left} failed{when} and not {how}" if left else ""
    return told + (f", {zeros} failed{when} and counted as 0" if zeros else "")
