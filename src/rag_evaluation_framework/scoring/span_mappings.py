"""Reading rankings of spans from mappings and lists, as fast as Python allows."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain
from operator import attrgetter, index, itemgetter
from typing import Any, TypeAlias, cast

import numpy as np

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.ids import DocumentId, QueryId
from rag_evaluation_framework.data.plain import items
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanTruth
from rag_evaluation_framework.scoring.rank_checks import short

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
_Columns: TypeAlias = tuple[list[str], Integers, Integers]

_EXPECTED = "a CharacterSpan, (doc_id, start, end), or a mapping with doc_id, start and end"
_Readers: TypeAlias = tuple[Callable[[Any], Any], ...]

_FROM_SPAN: _Readers = tuple(map(attrgetter, ("doc_id", "start", "end")))
_FROM_MAPPING: _Readers = tuple(map(itemgetter, ("doc_id", "start", "end")))
_FROM_ROW: _Readers = tuple(map(itemgetter, range(3)))


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
    kinds = set(map(type, spans))
    if kinds == {CharacterSpan}:
        readers = _FROM_SPAN
    elif kinds == {dict}:
        readers = _FROM_MAPPING
    elif kinds in ({tuple}, {list}) and set(map(len, spans)) == {3}:
        readers = _FROM_ROW
    else:
        return None
    try:
        names, starts, ends = (list(map(reader, spans)) for reader in readers)
        if {*map(type, starts), *map(type, ends)} != {int} or set(map(type, names)) != {str}:
            return None
        columns = _columns(names, starts, ends)
    except (KeyError, OverflowError):
        return None
    _, start, end = columns
    return columns if start.min() >= 0 and end.max() <= LAST_OFFSET and (start <= end).all() else None


def _columns(names: list[str], starts: list[int], ends: list[int]) -> _Columns:
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
    first, last = _offset(start), _offset(end)
    if first is None or last is None or not 0 <= first <= last <= LAST_OFFSET:
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


def _offset(value: Any) -> int | None:
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return index(value)
    except TypeError:
        return None
