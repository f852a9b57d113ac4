"""Reading rankings of spans from arrays of integers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.spans import SpanColumns
from rag_evaluation_framework.scoring.span_mappings import LAST_OFFSET

_MOST_DOCUMENTS = 2**31


def read_span_array(name: str, given: ArrayLike, queries: int) -> SpanColumns:
    """Return rows of (query, document, start, end) as columns, sorted by query; ranks follow the order given.

    Raises:
        DatasetError: The array has the wrong shape or type, or a row is not a valid span of one of the queries.
    """
    rows = _spans(name, given, "question", "document", "start", "end")
    _refuse_rows(name, rows, (rows[:, 0] < 0) | (rows[:, 0] >= queries), f"a question from 0 to {queries - 1}")
    if (rows[1:, 0] < rows[:-1, 0]).any():
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
    query, document, start, end = np.ascontiguousarray(rows.T)
    counts = np.bincount(query, minlength=queries)
    rank = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    return SpanColumns(query, document, start, end, rank)


def read_chunk_array(name: str, given: ArrayLike) -> SpanColumns:
    """Return rows of (document, start, end) as columns of one query.

    Raises:
        DatasetError: The array has the wrong shape or type, or a row is not a valid span.
    """
    document, start, end = np.ascontiguousarray(_spans(name, given, "document", "start", "end").T)
    return SpanColumns(np.zeros_like(start), document, start, end, rank=np.arange(len(start)))


def number_documents(columns: list[SpanColumns]) -> list[SpanColumns]:
    """Return the same columns, their documents renumbered from 0 if large numbers would make sums overflow."""
    if all(int(spans.document.max(initial=0)) < _MOST_DOCUMENTS for spans in columns):
        return columns
    numbers = np.unique(np.concatenate([spans.document for spans in columns]), return_inverse=True)[1]
    parts = np.split(numbers, np.cumsum([len(spans.document) for spans in columns])[:-1])
    return [
        SpanColumns(spans.query, part, spans.start, spans.end, spans.rank)
        for spans, part in zip(columns, parts, strict=True)
    ]


def _spans(name: str, given: ArrayLike, *columns: str) -> Integers:
    """Return rows that end in document, start and end."""
    expected = f"rows of whole numbers ({', '.join(columns)})"
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise DatasetError(f"{name}: {error}; expected {expected}") from error
    if array.ndim == 1 and not len(array):
        array = np.zeros((0, len(columns)), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != len(columns) or not np.issubdtype(array.dtype, np.integer):
        raise DatasetError(f"{name}: shape {array.shape} of {array.dtype}; expected {expected}")
    if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
        raise DatasetError(f"{name}: a number is above 2^63 - 1; expected {expected}")
    rows: Integers = array.astype(np.int64, copy=False)
    document, start, end = rows[:, -3], rows[:, -2], rows[:, -1]
    _refuse_rows(name, rows, document < 0, "documents numbered from 0")
    wrong = (start < 0) | (start > end) | (end > LAST_OFFSET)
    _refuse_rows(name, rows, wrong, "0 <= start <= end <= 2^40, in characters")
    return rows


def _refuse_rows(name: str, rows: Integers, wrong: NDArray[np.bool_], expected: str) -> None:
    if wrong.any():
        first = int(wrong.argmax())
        raise DatasetError(f"{name}: row {first} is {rows[first].tolist()}; expected {expected}")
