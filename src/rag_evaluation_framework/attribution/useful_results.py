"""The results that hold relevant text: of all chunks, or of a ranking; and what a budget can read of each."""

import numpy as np

from rag_evaluation_framework.attribution.embedded_text import uncovered
from rag_evaluation_framework.attribution.span_steps import SpanSteps
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.hit_table import HitTable, RankedHits
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans
from rag_evaluation_framework.judging.oracle import sharing
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.text.reading import ContextBudget


def useful_chunks(steps: SpanSteps) -> RankedHits | None:
    """Return the chunks that hold text of a place of each question, in no order; None if chunks are not known."""
    known = steps.evidence
    if known.chunks is None:
        return None
    query, row = sharing(SpanColumns.of([steps.chunk_spans], steps.documents), steps.places.covering())
    used, number = np.unique(row, return_inverse=True)
    placed = [hit for hit in map(Hit.of, known.chunks) if hit.placed]
    rows: list[int] = used.tolist()
    table = RankedHits.of([tuple(placed[row] for row in rows)]).flat
    return grouped(table.take(number), query, len(known.truth))


def useful_hits(steps: SpanSteps, ranked: RankedHits) -> RankedHits:
    """Return the results of each ranking that hold text of a place of its question, in their order."""
    table = ranked.flat
    items = SpanColumns.of_hits(ranked, steps.documents).take(table.placed)
    useful = steps.sharing(items)
    return grouped(table.take(np.flatnonzero(table.placed)[useful]), items.query[useful], len(ranked))


def grouped(table: HitTable, query: Integers, count: int) -> RankedHits:
    """Return hits, whose numbers of queries ascend, as one ranking per query."""
    counts = np.bincount(query, minlength=count)
    ends = np.cumsum(counts)
    return RankedHits(table, ends - counts, ends)


def readable(budget: ContextBudget, table: HitTable) -> RankedHits:
    """Return each hit as a ranking of its own, cut where the budget ends: no order of results has it read further."""
    rows = np.arange(len(table))
    return budget.buy(RankedHits(table, rows, rows + 1)).hits


def cut_off(steps: SpanSteps) -> list[CharacterSpan]:
    """Return what is in chunks, but behind what the budget reads of each of them, were it the first result.

    Where chunks are not known, it is told of what was retrieved. For a number of results it is empty.
    """
    known = steps.evidence
    if known.budget is None:
        return []
    chunks = useful_chunks(steps)
    results = [useful_hits(steps, known.deep), useful_hits(steps, known.final)] if chunks is None else [chunks]
    tables = [hits.flat for hits in results]
    whole = [hit.span for table in tables for hit in table if hit.span is not None]
    read = [hit.span for table in tables for hit in readable(known.budget, table).flat if hit.span is not None]
    return uncovered(merge_overlapping_spans(whole), merge_overlapping_spans(read))
