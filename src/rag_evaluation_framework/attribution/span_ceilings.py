"""The best recall of text that is possible: for these chunks, or for these candidates, at a cutoff."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.attribution.losses import Bound
from rag_evaluation_framework.attribution.span_steps import SpanSteps
from rag_evaluation_framework.attribution.useful_results import grouped, readable, useful_chunks, useful_hits
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.judging.ceilings import largest_sums, relevant_parts
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanTruth
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.text.reading import ContextBudget

_FEW = 4
"""Of so many results, all orders are tried."""


def best_of_chunks(steps: SpanSteps) -> Bound | None:
    """Return the best recall for the chunks of the corpus; None if they are not known."""
    useful = useful_chunks(steps)
    return None if useful is None else _best(steps, useful)


def best_of_candidates(steps: SpanSteps) -> Bound:
    """Return the best recall for any order of the candidates of each question."""
    return _best(steps, useful_hits(steps, steps.evidence.candidates))


def _best(steps: SpanSteps, useful: RankedHits) -> Bound:
    """Return the best recall that a choice of results reaches.

    Of a result that is longer than the budget, only its beginning counts: it is never read further. Where all results
    that hold text of an answer fit, it is what they hold together. Of a few that do not fit a budget, all orders are
    tried. Else it is bounded by the sum of the best parts: of k results by the k largest, which is exact if they share
    no text; of a budget by the linear relaxation of the knapsack (Dantzig 1957) and, as the last result is cut, the
    largest part once more. Where answers have several places, parts do not add up, and the bound is what all of them
    hold.

    Args:
        steps: The truth.
        useful: The results of each question that hold text of one of its places.
    """
    known, questions = steps.evidence, len(steps.evidence.truth)
    cutoff, budget = known.cutoff, known.budget
    costs = np.ones(len(useful.query), dtype=np.int64)
    if budget is not None:
        useful, beginnings = _beginnings(steps, useful, budget)
        costs = np.minimum(budget.costs(useful.flat), cutoff.size)
    else:
        beginnings = useful
    items = steps.placed(beginnings)
    together = steps.credit(items)
    fits = np.bincount(items.query, weights=costs, minlength=questions) <= cutoff.size
    single = np.array([not entry.has_alternatives for entry in known.truth], dtype=np.bool_)
    parts = relevant_parts(items, steps.truth.reference)
    bound = largest_sums(items.query, parts, costs, cutoff, questions)
    apart = np.isclose(np.bincount(items.query, weights=parts, minlength=questions), together)
    best = np.where(fits | ~single, together, np.minimum(bound, together))
    exact = fits | (single & apart & (not cutoff.is_budget))
    if budget is not None:
        few = ~fits & (useful.counts <= _FEW)
        best = np.where(few, _best_order(steps, useful, costs, few, budget), best)
        exact |= few
    return Bound(np.minimum(best / steps.whole, 1.0), np.asarray(exact, dtype=np.bool_))


def _beginnings(steps: SpanSteps, useful: RankedHits, budget: ContextBudget) -> tuple[RankedHits, RankedHits]:
    """Return the results of which the budget can read something useful, and what it can read of each at most."""
    questions = len(useful)
    alone = readable(budget, useful.flat)
    cut = grouped(alone.flat, useful.query[alone.query], questions)
    holds = steps.sharing(SpanColumns.of_hits(cut, steps.documents))
    rows = alone.query[holds]
    query = useful.query[rows]
    return grouped(useful.flat.take(rows), query, questions), grouped(
        alone.flat.take(np.flatnonzero(holds)), query, questions
    )


def _best_order(
    steps: SpanSteps, useful: RankedHits, costs: Integers, few: NDArray[np.bool_], budget: ContextBudget
) -> Numbers:
    """Return the most characters that an order of results has within a budget, 0 but of `few`; shape (questions,)."""
    tried = [
        (row, order) for row in np.flatnonzero(few).tolist() for order in _orders(useful, row, costs, budget.cutoff)
    ]
    most = np.zeros(len(useful))
    if not tried:
        return most
    query = np.repeat(np.arange(len(tried)), [len(order) for _, order in tried])
    hits = useful.flat.take(np.array([row for _, order in tried for row in order], dtype=np.int64))
    read = SpanColumns.of_hits(budget.buy(grouped(hits, query, len(tried))).hits, steps.documents)
    truth = SpanTruth.of_entries([steps.evidence.truth[row] for row, _ in tried], steps.documents)
    at_once = SpanColumns(read.query, read.document, read.start, read.end, np.zeros_like(read.rank))
    credit = SpanJudgements.from_columns(at_once, truth, len(tried), depth=1).credit_chars
    np.maximum.at(most, [row for row, _ in tried], credit)
    return most


def _orders(useful: RankedHits, question: int, costs: Integers, cutoff: Cutoff) -> Iterator[tuple[int, ...]]:
    """Yield the orders of the results of a question in which only the last may be cut, as rows."""
    before = np.cumsum(useful.counts) - useful.counts
    rows = range(int(before[question]), int(before[question] + useful.counts[question]))
    for last in rows:
        others = [row for row in rows if row != last]
        for size in range(len(others) + 1):
            for first in combinations(others, size):
                if costs[[*first]].sum() < cutoff.size:
                    yield (*first, last)
