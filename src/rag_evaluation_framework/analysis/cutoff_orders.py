"""Whether the best run is another one at a number of results than at a context budget."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.cutoffs import ScoreName
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.statistics.best import TiedWithBest, tied_with_best

DISAGREE = "the orders by k and by budget disagree"
"""How a note of it begins."""


def noted_orders(runs: Sequence[str], tables: Sequence[ScoreTable], clusters: Integers | None) -> list[str]:
    """Return where the first metric has one best run at a number of results and another at a budget, beyond chance.

    That is so if neither run is tied with the best at the cutoff at which the other is best. What is so at several
    cutoffs is told once.

    Args:
        runs: Their names.
        tables: The scores of each run, of the same questions.
        clusters: As in `tied_with_best`.
    """

    @cache
    def tied(name: str) -> TiedWithBest | None:
        return tied_with_best(np.stack([table.columns[name] for table in tables], axis=1), clusters)

    best = {name: _best(tables, name) for name in _of_first_metric(tables[0])}
    told: dict[tuple[int, int], str] = {}
    for fixed, budget in product(*([name for name in best if _is_budget(name) == kind] for kind in (False, True))):
        first, second = best[fixed], best[budget]
        if first is None or second is None or first == second or (first, second) in told:
            continue
        at_k, at_budget = tied(fixed), tied(budget)
        if at_k and at_budget and not at_k.is_tied[second] and not at_budget.is_tied[first]:
            told[first, second] = (
                f"{DISAGREE}: {runs[first]} is above {runs[second]} by {fixed}, and below "
                f"it by {budget}, both by more than chance"
            )
    return [*told.values()]


def _of_first_metric(table: ScoreTable) -> list[str]:
    metric = ScoreName.parse(next(iter(table.columns))).metric
    return [name for name in table.columns if ScoreName.parse(name).metric == metric]


def _is_budget(name: str) -> bool:
    cutoff = ScoreName.parse(name).cutoff
    return cutoff is not None and cutoff.is_budget


def _best(tables: Sequence[ScoreTable], name: str) -> int | None:
    """Return the number of the run with the highest mean over the questions that all have; None without any."""
    scores = np.stack([table.columns[name] for table in tables], axis=1)
    complete = scores[~np.isnan(scores).any(axis=1)]
    return int(complete.mean(axis=0).argmax()) if len(complete) else None
