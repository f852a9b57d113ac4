"""Reading rankings of spans from mappings, lists and arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, index, itemgetter
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data import Answer, CharacterSpan, DocumentId, QueryId
from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.values import items
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.span_truth import SpanPlaces, SpanTruth
from rag_evaluation_framework.judging.stretches import SpanColumns, leads
from rag_evaluation_framework.scoring.rank_checks import short

# Reading rankings of spans from mappings and lists, as fast as Python allows.

SpanLike: TypeAlias = CharacterSpan | tuple[str, int, int] | Mapping[str, Any]
"""A span, `(doc_id, start, end)`, or a mapping with these keys."""

Spans: TypeAlias = Mapping[str, Iterable[SpanLike]] | Mapping[QueryId, Iterable[SpanLike]]

Truth: TypeAlias = (
    Mapping[str, Iterable[SpanLike | Answer[CharacterSpan]]]
    | Mapping[QueryId, Iterable[SpanLike | Answer[CharacterSpan]]]
)

LAST_OFFSET = 2**40
"""The largest offset: no text is longer, and larger numbers could not be summed exactly."""

_Row: TypeAlias = tuple[DocumentId, int, int]
_Columns: TypeAlias = tuple[Sequence[str], Integers, Integers]

_EXPECTED = "a CharacterSpan, (doc_id, start, end), or a mapping with doc_id, start and end"
_FROM_ROW = tuple(map(itemgetter, range(3)))
_READERS: dict[type, tuple[Callable[[Any], Any], ...]] = {
    CharacterSpan: tuple(map(attrgetter, ("doc_id", "start", "end"))),
    dict: tuple(map(itemgetter, ("doc_id", "start", "end"))),
    tuple: _FROM_ROW,
    list: _FROM_ROW,
}


def read_spans(owners: Sequence[str], given: Sequence[object], documents: Numbering, *, ranked: bool) -> SpanColumns:
    """Return the spans as columns, one query per owner; documents that are new are numbered.

    Args:
        owners: What errors call each list of spans, such as `"question 'q1': the ranking"`.
        given: The spans of each owner.
        documents: The numbers of the documents.
        ranked: Whether the order of the spans matters, so that a set is refused.

    Raises:
        DatasetError: A list or a span cannot be read.
    """
    lists = [_listed(owner, spans, ranked=ranked) for owner, spans in zip(owners, given, strict=True)]
    flat = list(chain.from_iterable(lists))
    columns = _quickly(flat)
    if columns is None:
        rows = [_row(owner, span) for owner, spans in zip(owners, lists, strict=True) for span in spans]
        columns = _columns([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    names, start, end = columns
    return SpanColumns(
        query=np.repeat(np.arange(len(lists)), counts),
        document=np.fromiter(map(documents.__getitem__, names), dtype=np.int64, count=len(flat)),
        start=start,
        end=end,
        rank=np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts),
    )


def read_truth(
    owners: Sequence[str], given: Sequence[object], documents: Numbering
) -> tuple[SpanTruth, list[list[Answer[CharacterSpan]]] | None]:
    """Return what is relevant as columns, and the answers of each owner if one of them has several places.

    Args:
        owners: As in `read_spans`.
        given: The relevant spans, or answers, of each owner.
        documents: The numbers of the documents.

    Raises:
        DatasetError: A list, a span or an answer cannot be read.
    """
    lists = [_listed(owner, spans, ranked=False) for owner, spans in zip(owners, given, strict=True)]
    if not any(isinstance(one, Answer) for spans in lists for one in spans):
        return SpanTruth(read_spans(owners, lists, documents, ranked=False)), None
    answers = [[_answer(owner, one) for one in spans] for owner, spans in zip(owners, lists, strict=True)]
    every = [[span for answer in some for place in answer.places for span in place] for some in answers]
    read_spans(owners, every, documents, ranked=False)
    _note_unknown_texts(answers)
    return SpanTruth.of(answers, documents), answers


def _note_unknown_texts(answers: Iterable[Iterable[Answer[CharacterSpan]]]) -> None:
    """Note how many answers have several places of which not all are known to be copies or other wordings."""
    several = (answer for some in answers for answer in some if len(answer.places) > 1)
    silent = sum(not all(span.text for span in answer.units) for answer in several)
    if silent:
        note(
            f"answers with several places without texts: {silent}; no place is taken for a copy of another one, each "
            "counts as another wording. Give their spans the text: CharacterSpan(doc_id, start, end, text)"
        )


def _answer(owner: str, given: Any) -> Answer[CharacterSpan]:
    if not issubclass(type(given), Answer):
        return Answer(((given if isinstance(given, CharacterSpan) else CharacterSpan(*_row(owner, given)),),))
    answer: Answer[Any] = given
    for place in answer.places:
        for span in place:
            if not isinstance(span, CharacterSpan):
                raise DatasetError(
                    f"{owner} holds an answer with the place {short(span)}; expected spans: CharacterSpan"
                )
    return answer


def as_spans(given: Iterable[Iterable[SpanLike]]) -> list[list[CharacterSpan]]:
    """Return spans that can be read as objects; only a `CharacterSpan` carries its text."""
    return [
        [span if isinstance(span, CharacterSpan) else CharacterSpan(*_row("a list", span)) for span in spans]
        for spans in given
    ]


def _listed(owner: str, spans: Any, *, ranked: bool) -> list[Any]:
    given: object = spans
    if isinstance(given, str | bytes | Mapping | CharacterSpan) or not isinstance(given, Iterable):
        raise DatasetError(f"{owner} is {short(spans)}; expected a list of spans{', best first' if ranked else ''}")
    if ranked and isinstance(given, Set):
        raise DatasetError(f"{owner} is {short(spans)}, which has no order; expected a list of spans, best first")
    return items(spans, owner)


def _quickly(spans: list[Any]) -> _Columns | None:
    """Return the columns of spans that are all of one form and all valid, or None."""
    try:
        (kind,) = set(map(type, spans))
        names, starts, ends = (list(map(read, spans)) for read in _READERS[kind])
        if {*map(type, starts), *map(type, ends)} != {int} or set(map(type, names)) != {str}:
            return None
        if _READERS[kind] is _FROM_ROW and set(map(len, spans)) != {3}:
            return None
        columns = _columns(names, starts, ends)
    except (LookupError, ValueError, OverflowError):
        return None
    _, start, end = columns
    return columns if start.min() >= 0 and end.max() <= LAST_OFFSET and (start <= end).all() else None


def _columns(names: Sequence[str], starts: Sequence[int], ends: Sequence[int]) -> _Columns:
    count = len(names)
    return names, np.fromiter(starts, dtype=np.int64, count=count), np.fromiter(ends, dtype=np.int64, count=count)


def _row(owner: str, span: Any) -> _Row:
    """Return one span as a row.

    Raises:
        DatasetError: It is not a valid span.
    """
    parts = _parts(span)
    if len(parts) != 3:
        raise DatasetError(f"{owner} holds {short(span)}; expected {_EXPECTED}")
    document, start, end = parts
    if not isinstance(document, str):
        raise DatasetError(
            f"{owner} holds {short(span)}; expected the document's id as a text, got {shown(document, 60)}"
        )
    try:
        first, last = ((-1 if isinstance(offset, bool | np.bool_) else index(offset)) for offset in (start, end))
    except TypeError:
        first = last = -1
    if not 0 <= first <= last <= LAST_OFFSET:
        raise DatasetError(
            f"{owner} holds {short(span)}; expected whole numbers of characters, 0 <= start <= end <= 2^40, got "
            f"start {shown(start, 60)}, end {shown(end, 60)}"
        )
    return DocumentId(document), first, last


def _parts(span: Any) -> tuple[Any, ...]:
    if isinstance(span, CharacterSpan):
        return span.doc_id, span.start, span.end
    if isinstance(span, Mapping):
        named = cast("Mapping[str, Any]", span)
        keys = ("doc_id" if "doc_id" in named else "docId", "start", "end")
        return tuple(named[key] for key in keys if key in named)
    return tuple(cast("Sequence[Any]", span)) if isinstance(span, list | tuple) else ()


# Reading rankings of spans from arrays of integers.

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
    original = SpanPlaces.of(spans, answer, place, wording).original
    twin = np.minimum(original, len(rows) - 1)
    length = spans.end - spans.start
    is_last = np.append((leads(answer) | leads(place))[1:], True)
    same = (answer[twin] == answer) & (place[twin] == wording) & (wording[twin] == wording)  # no copy of a copy
    same &= (length[twin] == length) & (is_last[twin] == is_last)
    expected = "as wording the first place with the same text, of as many spans with the same lengths"
    _refuse_rows(name, rows, ~same, expected)


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
