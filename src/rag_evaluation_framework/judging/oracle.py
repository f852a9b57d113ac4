"""Oracle judgements: a perfect retriever, which returns the chunks that share text with the truth and no others."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanPlaces, SpanTruth
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.judging.stretches import leads, spread


def oracle_from_lists(chunks: Sequence[CharacterSpan], truth: Sequence[Sequence[CharacterSpan]]) -> SpanJudgements:
    """Judge, for each query, the chunks that share at least one character with its truth.

    Args:
        chunks: All chunks of the corpus; they may overlap.
        truth: The relevant spans of each query.

    Returns:
        The judgements of retrieving these chunks, all at one rank, as they have no order; depth 1.
    """
    documents = Numbering()
    relevant = SpanTruth(SpanColumns.of(truth, documents))
    return oracle_from_columns(SpanColumns.of([chunks], documents), relevant, queries=len(truth))


def oracle_from_columns(chunks: SpanColumns, truth: SpanTruth, queries: int) -> SpanJudgements:
    """Judge as `oracle_from_lists` does; the query and rank columns of the chunks are ignored.

    Of an answer with several places, the one is chosen of which chunks hold the largest part, then that whose chunks
    have the largest part in any place of the question, then the first. Each answer is chosen by itself.
    """
    sought = judged = truth.reference
    if truth.alternatives is not None:
        places = truth.alternatives
        single = ~np.isin(sought.query, places.spans.query)
        sought = _joined(sought.take(single), places.spans.take(_chosen(chunks, places)))
        judged = _joined(judged.take(single), places.spans)
    oracle = _touching(chunks, sought)
    return SpanJudgements.from_columns(oracle, SpanTruth(judged), queries, depth=1)


def _touching(chunks: SpanColumns, truth: SpanColumns) -> SpanColumns:
    """Return, for each query, the chunks that share characters with its truth, all at one rank."""
    owners, rows = sharing(chunks, truth.covering())
    return SpanColumns(owners, chunks.document[rows], chunks.start[rows], chunks.end[rows], np.zeros_like(owners))


def _joined(first: SpanColumns, second: SpanColumns) -> SpanColumns:
    """Return the rows of both, by query."""
    pairs = ((getattr(first, name), getattr(second, name)) for name in ("query", "document", "start", "end", "rank"))
    query, *others = map(np.concatenate, pairs)
    order = np.argsort(query, kind="stable")
    return SpanColumns(query[order], *(column[order] for column in others))


def _chosen(chunks: SpanColumns, places: SpanPlaces) -> NDArray[np.bool_]:
    """Return which spans belong to the place that is chosen of their answer."""
    is_new = leads(places.answer) | leads(places.place)
    number = np.cumsum(is_new) - 1
    count, first = int(number[-1]) + 1, np.flatnonzero(is_new)
    alone = replace(places.spans, query=number)
    touching = _touching(chunks, alone)
    held = SpanJudgements.from_columns(touching, SpanTruth(alone), count, depth=1)
    begins, ends = (np.searchsorted(places.spans.query, places.spans.query[first], side) for side in ("left", "right"))
    owner, row = spread(ends - begins)  # all spans of its question, for each place
    row += begins[owner]
    beside = SpanColumns(
        owner, places.spans.document[row], places.spans.start[row], places.spans.end[row], np.zeros_like(owner)
    )
    useful = SpanJudgements.from_columns(touching, SpanTruth(beside), count, depth=1)
    part = held.relevant_chars / held.truth
    precision = useful.relevant_chars / np.maximum(useful.retrieved_chars, 1)
    order = np.lexsort((places.place[first], -precision, -part, places.answer[first]))
    best = np.zeros(count, dtype=np.bool_)
    best[order[leads(places.answer[first][order])]] = True
    return np.asarray(best[number], dtype=np.bool_)


def sharing(chunks: SpanColumns, truth: SpanColumns) -> tuple[Integers, Integers]:
    """Return the pairs (query, row of a chunk that shares characters with its truth), each once, as two columns.

    Of two spans that share characters, one starts within the other. Looking up both kinds of pairs takes time in
    proportion to their number, even where chunks are nested. Empty chunks may be among them; they cover nothing.

    In one document, chunks [0:10], [10:20] and [5:12]; query 0 has the truth [8:11], query 1 [12:15]. The pairs are
    ([0, 0, 0, 1], [0, 1, 2, 1]): all three chunks share text with query 0, only the second shares some with query 1,
    as [5:12] merely touches [12:15].
    """
    # Offsets are replaced by their order, so that document and offset fit into one integer.
    offsets = np.unique(np.concatenate([chunks.start, chunks.end, truth.start, truth.end]), return_inverse=True)[1]
    numbers = np.split(offsets, np.cumsum([len(chunks.start), len(chunks.end), len(truth.start)]))
    chunk_documents, truth_documents = chunks.document * len(offsets), truth.document * len(offsets)
    chunk_start, chunk_end = numbers[0] + chunk_documents, numbers[1] + chunk_documents
    truth_start, truth_end = numbers[2] + truth_documents, numbers[3] + truth_documents
    right, chunk = _starting_within(chunk_start, truth_start, truth_end)
    outer, inner = _starting_within(truth_start, chunk_start, chunk_end)
    pairs = np.concatenate([truth.query[right], truth.query[inner]]) * len(chunks.query)
    pairs += np.concatenate([chunk, outer])
    owners, rows = np.divmod(np.unique(pairs), max(len(chunks.query), 1))
    return owners, rows


def _starting_within(starts: Integers, firsts: Integers, lasts: Integers) -> tuple[Integers, Integers]:
    """Return the pairs (stretch, start) with `first <= start < last`, by their rows.

    Of the starts [7, 2, 9], the stretches [0, 5) and [6, 9) hold 2 and 7: ([0, 1], [1, 0]).
    """
    order = np.argsort(starts, kind="stable")
    begin, end = np.searchsorted(starts[order], firsts), np.searchsorted(starts[order], lasts)
    stretch, number = spread(np.maximum(end - begin, 0))
    return stretch, order[begin[stretch] + number]
