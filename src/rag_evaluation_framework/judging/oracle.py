"""Oracle judgements: a perfect retriever, which returns the chunks that share text with the truth and no others."""

from collections.abc import Sequence

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.spans import SpanColumns, SpanJudgements, spread


def oracle_from_lists(chunks: Sequence[CharacterSpan], truth: Sequence[Sequence[CharacterSpan]]) -> SpanJudgements:
    """Judge, for each query, the chunks that share at least one character with its truth.

    Args:
        chunks: All chunks of the corpus; they may overlap.
        truth: The relevant spans of each query.

    Returns:
        The judgements of retrieving these chunks, all at one rank, as they have no order; depth 1.
    """
    documents = Numbering()
    return oracle_from_columns(
        SpanColumns.of([chunks], documents), SpanColumns.of(truth, documents), queries=len(truth)
    )


def oracle_from_columns(chunks: SpanColumns, truth: SpanColumns, queries: int) -> SpanJudgements:
    """Judge as `oracle_from_lists` does; the query and rank columns of the chunks are ignored."""
    owners, rows = _sharing(chunks, truth.covering())
    oracle = SpanColumns(
        query=owners,
        document=chunks.document[rows],
        start=chunks.start[rows],
        end=chunks.end[rows],
        rank=np.zeros_like(owners),
    )
    return SpanJudgements.from_columns(oracle, truth, queries, depth=1)


def _sharing(chunks: SpanColumns, truth: SpanColumns) -> tuple[Integers, Integers]:
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
