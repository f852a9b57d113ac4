"""Reading rankings of spans from mappings, lists and arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
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
from rag_evaluation_framework.scoring.rank_mappings import short

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
_SPAN = ("question", "document", "start", "end")
_PLACE = (*_SPAN, "answer", "place", "wording")


def read_span_arrays(
    ground_truth: ArrayLike, rankings: ArrayLike, chunks: ArrayLike | None, queries: int
) -> tuple[SpanTruth, SpanColumns, SpanColumns | None]:
    """Return truth, rankings and chunks, which have one row per span, as columns; ranks follow the order given.

    Args:
        ground_truth: Rows of (query, document, start, end), or of these and (answer, place, wording).
        rankings: Rows of (query, document, start, end).
        chunks: Rows of (document, start, end), or None.
        queries: The number of queries.

    Raises:
        DatasetError: An array has the wrong shape or type, or a row is not a valid span of one of the queries, or of a
            place.
    """
    read = [_rows("ground_truth", ground_truth, _SPAN, _PLACE), _rows("rankings", rankings, _SPAN)]
    if chunks is not None:
        read.append(np.insert(_rows("chunks", chunks, _SPAN[1:]), 0, 0, axis=1))  # all of one query
    truth, ranked, *pieces = _with_small_numbers(read)
    every = _by_query("chunks", pieces[0], 1) if pieces else None
    return _truth(truth, queries), _by_query("rankings", ranked, queries), every


def _rows(name: str, given: ArrayLike, *forms: Sequence[str]) -> Integers:
    """Return rows of whole numbers, of valid spans, one number in each column of one of these forms."""
    expected = f"rows of whole numbers ({', '.join(forms[0])})"
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise DatasetError(f"{name}: {error}; expected {expected}") from error
    if array.ndim == 1 and not len(array):
        array = np.zeros((0, len(forms[0])), dtype=np.int64)
    has_form = array.ndim == 2 and array.shape[1] in map(len, forms)
    if not has_form or not np.issubdtype(array.dtype, np.integer):
        raise DatasetError(f"{name}: shape {array.shape} of {array.dtype}; expected {expected}")
    if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
        raise DatasetError(f"{name}: a number is above 2^63 - 1; expected {expected}")
    rows: Integers = array.astype(np.int64, copy=False)
    first = forms[0].index("document")
    document, start, end = rows[:, first : first + 3].T
    _refuse_rows(name, rows, document < 0, "documents numbered from 0")
    wrong = (start < 0) | (start > end) | (end > LAST_OFFSET)
    _refuse_rows(name, rows, wrong, "0 <= start <= end <= 2^40, in characters")
    return rows


def _with_small_numbers(read: list[Integers]) -> list[Integers]:
    """Return the same rows, their documents renumbered from 0 if large numbers would make sums overflow."""
    if all(int(rows[:, 1].max(initial=0)) < _MOST_DOCUMENTS for rows in read):
        return read
    known = np.unique(np.concatenate([rows[:, 1] for rows in read]))
    return [np.column_stack([rows[:, 0], np.searchsorted(known, rows[:, 1]), rows[:, 2:]]) for rows in read]


def _by_query(name: str, rows: Integers, queries: int) -> SpanColumns:
    """Return rows of (query, document, start, end) as columns, sorted by query."""
    _refuse_rows(name, rows, (rows[:, 0] < 0) | (rows[:, 0] >= queries), f"a question from 0 to {queries - 1}")
    if (rows[1:, 0] < rows[:-1, 0]).any():
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
    query, document, start, end = np.ascontiguousarray(rows[:, :4].T)
    counts = np.bincount(query, minlength=queries)
    rank = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    return SpanColumns(query, document, start, end, rank)


def _truth(rows: Integers, queries: int) -> SpanTruth:
    """Return the rows of the ground truth, of which each is an answer with one place unless they say more."""
    name = "ground_truth"
    if not len(rows) or rows.shape[1] == len(_SPAN):
        return SpanTruth(_by_query(name, rows, queries))
    rows = rows[np.lexsort((rows[:, 5], rows[:, 4], rows[:, 0]))]  # those of a place stay as they are
    spans = _by_query(name, rows, queries)
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
    return SpanTruth.of_rows(spans, answer, place, wording)


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


def _refuse_rows(name: str, rows: Integers, wrong: NDArray[np.bool_], expected: str) -> None:
    if wrong.any():
        first = int(wrong.argmax())
        raise DatasetError(f"{name}: row {first} is {rows[first].tolist()}; expected {expected}")
