"""What a perfect retriever would have to return: all chunks that share text with the truth, and nothing else."""

from collections.abc import Sequence

import numpy as np

from rag_evaluation_framework.metrics.judgements import (
    Integers,
    Numbering,
    SpanColumns,
    SpanJudgements,
    judge_spans,
    spread,
)
from rag_evaluation_framework.spans import CharacterSpan


def judge_attainable(chunks: Sequence[CharacterSpan], truth: Sequence[Sequence[CharacterSpan]]) -> SpanJudgements:
    """Judge for each question the chunks that share at least one character with its truth.

    Args:
        chunks: All chunks of the corpus; they may overlap.
        truth: The relevant spans of each question.

    Returns:
        The judgements of retrieving these chunks, all at one rank, as they have no order; depth 1.
    """
    documents = Numbering()
    return judge_attainable_columns(
        SpanColumns.of([chunks], documents), SpanColumns.of(truth, documents), queries=len(truth)
    )


def judge_attainable_columns(chunks: SpanColumns, truth: SpanColumns, queries: int) -> SpanJudgements:
    """Judge as `judge_attainable` does; of the chunks, the questions and ranks are of no meaning."""
    owners, rows = _sharing(chunks, truth.covering())
    attainable = SpanColumns(
        query=owners,
        document=chunks.document[rows],
        start=chunks.start[rows],
        end=chunks.end[rows],
        rank=np.zeros_like(owners),
    )
    return judge_spans(attainable, truth, queries, depth=1)


def _sharing(chunks: SpanColumns, truth: SpanColumns) -> tuple[Integers, Integers]:
    """Return each question and the rows of the chunks that share characters with its truth, each pair once.

    Of two spans that share characters, one begins within the other. Looking up both kinds of pairs takes time in
    proportion to their number, also where chunks are nested. Empty chunks may be among them; they cover nothing.
    """
    # Places are numbered in order, so that document and place fit into one integer.
    places = np.unique(np.concatenate([chunks.start, chunks.end, truth.start, truth.end]), return_inverse=True)[1]
    numbers = np.split(places, np.cumsum([len(chunks.start), len(chunks.end), len(truth.start)]))
    chunk_documents, truth_documents = chunks.document * len(places), truth.document * len(places)
    chunk_start, chunk_end = numbers[0] + chunk_documents, numbers[1] + chunk_documents
    truth_start, truth_end = numbers[2] + truth_documents, numbers[3] + truth_documents
    right, chunk = _beginning_within(chunk_start, truth_start, truth_end)
    outer, inner = _beginning_within(truth_start, chunk_start, chunk_end)
    pairs = np.concatenate([truth.query[right], truth.query[inner]]) * len(chunks.query)
    pairs += np.concatenate([chunk, outer])
    owners, rows = np.divmod(np.unique(pairs), max(len(chunks.query), 1))
    return owners, rows


def _beginning_within(starts: Integers, firsts: Integers, lasts: Integers) -> tuple[Integers, Integers]:
    """Return the pairs (stretch, start) with `first <= start < last`, by their rows."""
    order = np.argsort(starts, kind="stable")
    begin, end = np.searchsorted(starts[order], firsts), np.searchsorted(starts[order], lasts)
    stretch, number = spread(np.maximum(end - begin, 0))
    return stretch, order[begin[stretch] + number]
