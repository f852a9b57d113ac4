"""Reading rankings of spans from arrays of integers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanTruth
from rag_evaluation_framework.judging.stretches import leads
from rag_evaluation_framework.scoring.span_mappings import LAST_OFFSET

_MOST_DOCUMENTS = 2**31
_PLACES = ("question", "document", "start", "end", "answer", "place", "wording")


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


@dataclass(frozen=True, eq=False)
class TruthRows:
    """Relevant spans by rows: sorted by query or, if answers have several places, by query, answer and place.

    Attributes:
        spans: The spans.
        answer: The number of the answer, over all queries, ascending; None if each span is an answer with one place.
        place: The number of the place in its answer.
        wording: The number of the first place of the answer with the same text.
    """

    spans: SpanColumns
    answer: Integers | None = None
    place: Integers | None = None
    wording: Integers | None = None

    def truth(self) -> SpanTruth:
        """Return the rows as ground truth."""
        if self.answer is None or self.place is None or self.wording is None:
            return SpanTruth(self.spans)
        return SpanTruth.of_rows(self.spans, self.answer, self.place, self.wording)


def read_truth_array(name: str, given: ArrayLike, queries: int) -> TruthRows:
    """Return rows of (query, document, start, end), or of these and (answer, place, wording), sorted.

    Raises:
        DatasetError: The array has the wrong shape or type, or a row is not a valid span of one of the queries, or of a
            place.
    """
    if not _has_places(given):
        return TruthRows(read_span_array(name, given, queries))
    rows = _whole_numbers(name, given, _PLACES)
    rows = _sorted(rows)
    spans = read_span_array(name, rows[:, :4], queries)
    if not len(rows):
        return TruthRows(spans)
    number, place, wording = rows[:, 4:].T
    expected = "an answer from 0, its places from 0, and a wording that is an earlier place or the place itself"
    _refuse_rows(name, rows, (number < 0) | (wording < 0) | (wording > place), expected)
    starts = leads(rows[:, 0]) | leads(number)
    answer = np.cumsum(starts) - 1
    _refuse_rows(name, rows, starts & (place != 0), "a place 0, the reference, of every answer")
    several = np.isin(spans.query, spans.query[place > 0], kind="table")
    _refuse_rows(name, rows, several & (spans.start == spans.end), "spans that are not empty where answers have places")
    goes_on = np.flatnonzero(several & ~(leads(answer) | leads(place)))
    apart = np.zeros(len(rows), dtype=np.bool_)
    apart[goes_on] = (spans.document[goes_on] != spans.document[goes_on - 1]) | (
        spans.start[goes_on] < spans.end[goes_on - 1]
    )
    _refuse_rows(name, rows, apart, "the spans of a place in one document, in order and without shared characters")
    _check_copies(name, rows, spans, answer)
    return TruthRows(spans, answer, place, wording)


def _sorted(rows: Integers) -> Integers:
    """Return rows by query, answer and place, those of a place as they were."""
    query, answer, place = rows[:, 0], rows[:, 4], rows[:, 5]
    later = np.diff(place) >= 0
    for column in (answer, query):
        step = np.diff(column)
        later = (step > 0) | ((step == 0) & later)
    return rows if later.all() else rows[np.lexsort((place, answer, query))]


def _has_places(given: ArrayLike) -> bool:
    try:
        return np.shape(given)[1:] == (len(_PLACES),)
    except (TypeError, ValueError, OverflowError):  # which reading it says
        return False


def _check_copies(name: str, rows: Integers, spans: SpanColumns, answer: Integers) -> None:
    """Refuse copies whose parts have not the lengths of those of their originals."""
    place, wording = rows[:, 5], rows[:, 6]
    if (place == wording).all():
        return
    width = int(place.max()) + 1
    keys, first, counts = np.unique(answer * width + place, return_index=True, return_counts=True)
    own = np.searchsorted(keys, answer * width + place)
    other = np.minimum(np.searchsorted(keys, answer * width + wording), len(keys) - 1)
    is_first = wording[first[other]] == place[first[other]]  # no copy of a copy
    same = (keys[other] == answer * width + wording) & (counts[other] == counts[own]) & is_first
    twin = np.where(same, first[other] - first[own], 0) + np.arange(len(rows))
    length = spans.end - spans.start
    wrong = ~same | (length[twin] != length)
    _refuse_rows(
        name,
        rows,
        wrong,
        "as wording the first place with the same text, of as many spans with the same lengths",
    )


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
    rows = _whole_numbers(name, given, columns)
    document, start, end = rows[:, -3], rows[:, -2], rows[:, -1]
    _refuse_rows(name, rows, document < 0, "documents numbered from 0")
    wrong = (start < 0) | (start > end) | (end > LAST_OFFSET)
    _refuse_rows(name, rows, wrong, "0 <= start <= end <= 2^40, in characters")
    return rows


def _whole_numbers(name: str, given: ArrayLike, columns: Sequence[str]) -> Integers:
    """Return rows of whole numbers, one in each column."""
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
    return rows


def _refuse_rows(name: str, rows: Integers, wrong: NDArray[np.bool_], expected: str) -> None:
    if wrong.any():
        first = int(wrong.argmax())
        raise DatasetError(f"{name}: row {first} is {rows[first].tolist()}; expected {expected}")
