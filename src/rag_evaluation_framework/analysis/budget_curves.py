"""Recall against the context budget: what of the relevant text is found as more context is paid for."""

from collections.abc import Iterable
from dataclasses import dataclass

from rag_evaluation_framework.data.cutoffs import ScoreName

Means = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class BudgetCurve:
    """Mean recall of several runs at several context budgets.

    Attributes:
        metric: The recall, such as `span_recall`.
        budgets: The budgets, the smallest first, such as `1000ch`.
        means: For each run its mean at each budget, from 0 to 1; None where no question has the score in all runs.
    """

    metric: str
    budgets: tuple[str, ...]
    means: tuple[Means, ...]


def budget_scores(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the names of recalls at budgets of one unit, the smallest first: a curve each, of two budgets or more."""
    curves: dict[tuple[str, str, bool], list[tuple[int, str]]] = {}
    for name in names:
        metric, cutoff = (parsed := ScoreName.parse(name)).metric, parsed.cutoff
        if cutoff is not None and cutoff.is_budget and metric.rpartition("_")[2] == "recall":
            curves.setdefault((metric, cutoff.unit, cutoff.whole), []).append((cutoff.size, name))
    return [tuple(name for _, name in sorted(points)) for points in curves.values() if len(points) > 1]
