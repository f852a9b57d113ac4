"""The best recall of text that is possible: for these chunks, or for these candidates, at a cutoff."""

import numpy as np

from rag_evaluation_framework.attribution.evidence import Evidence
from rag_evaluation_framework.attribution.losses import Bound
from rag_evaluation_framework.attribution.span_steps import SpanSteps
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.hit_table import HitCollector
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.judging.oracle import sharing
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.stretches import Line, Merged, Pieces, Shared


def best_of_chunks(steps: SpanSteps) -> Bound | None:
    """Return the best recall for the chunks of the corpus; None if they are not known."""
    known = steps.evidence
    if known.chunks is None:
        return None
    chunks = SpanColumns.of([steps.chunk_spans], steps.documents)
    query, row = sharing(chunks, steps.places.covering())
    items = SpanColumns(query, chunks.document[row], chunks.start[row], chunks.end[row], np.zeros_like(query))
    used, number = np.unique(row, return_inverse=True)
    placed = [hit for hit in map(Hit.of, known.chunks) if hit.placed]
    costs = _costs(known, [placed[place] for place in map(int, used)])[number]
    return _best(steps, items, costs)


def best_of_candidates(steps: SpanSteps) -> Bound:
    """Return the best recall for any order of the candidates of each question."""
    known = steps.evidence
    hits = known.candidates
    table = hits.flat
    items = SpanColumns.of_hits(hits, steps.documents).take(table.placed)
    useful = steps.sharing(items)
    chosen = table.take(np.flatnonzero(table.placed)[useful])
    costs = np.ones(len(chosen), dtype=np.int64) if known.budget is None else known.budget.costs(chosen)
    return _best(steps, items.take(useful), costs)


def _costs(known: Evidence, hits: list[Hit]) -> Integers:
    """Return what each hit takes of the cutoff: one result, or its length."""
    if known.budget is None:
        return np.ones(len(hits), dtype=np.int64)
    collector = HitCollector()
    return known.budget.costs(collector.ranked([collector.add(tuple(hits))]).flat)


def _best(steps: SpanSteps, items: SpanColumns, costs: Integers) -> Bound:
    """Return the best recall that a choice of results reaches.

    Where all results that hold text of an answer fit, it is what they hold together. Else it is bounded by the sum of
    the best parts: of k results by the k largest, which is exact if they share no text; of a budget by the linear
    relaxation of the knapsack (Dantzig 1957) and, as the last result is cut, the largest part once more. Where answers
    have several places, parts do not add up, and the bound is what all of them hold.

    Args:
        steps: The truth.
        items: Results of each question that hold text of one of its places.
        costs: What each takes of the cutoff, in its unit.
    """
    cutoff, questions = steps.evidence.cutoff, len(steps.evidence.truth)
    rows = np.zeros_like(items.rank)
    together = steps.credit(SpanColumns(items.query, items.document, items.start, items.end, rows))
    fits = np.bincount(items.query, weights=costs, minlength=questions) <= cutoff.size
    single = np.array([not entry.has_alternatives for entry in steps.evidence.truth], dtype=np.bool_)
    parts = _parts(steps, items)
    bound = _largest(items.query, parts, costs, cutoff, questions)
    apart = np.isclose(np.bincount(items.query, weights=parts, minlength=questions), together)
    best = np.where(fits | ~single, together, np.minimum(bound, together))
    exact = fits | (single & apart & (not cutoff.is_budget))
    return Bound(np.minimum(best / steps.whole, 1.0), np.asarray(exact, dtype=np.bool_))


def _parts(steps: SpanSteps, items: SpanColumns) -> Numbers:
    """Return how many characters of the first places each result holds."""
    solid = items.end > items.start
    line = Line.of(items, steps.truth.reference, depth=1)
    merged = Merged.of(line.relevant)
    shared = Shared.of(Pieces(merged.starts, merged.ends, np.zeros_like(merged.starts)), line.hits)
    parts = np.zeros(len(items.query))
    parts[solid] = np.bincount(shared.stretch, weights=shared.lengths, minlength=int(solid.sum()))
    return parts


def _largest(query: Integers, parts: Numbers, costs: Integers, cutoff: Cutoff, questions: int) -> Numbers:
    """Return the most that parts of each question add up to within the cutoff; shape (questions,)."""
    worth = parts / np.maximum(costs, 1)
    order = np.lexsort((-worth, query))
    query, parts, costs = query[order], parts[order], costs[order]
    spent = np.cumsum(costs) - costs
    first = np.searchsorted(query, query)
    left = cutoff.size - (spent - spent[first])
    taken = np.clip(left / np.maximum(costs, 1), 0, 1)
    largest = np.zeros(questions)
    if cutoff.is_budget and not cutoff.whole:
        np.maximum.at(largest, query, parts)
    most = largest + np.bincount(query, weights=parts * taken, minlength=questions)
    return np.minimum(most, cutoff.size) if cutoff.unit == "ch" else most  # a relevant character is one of the budget
