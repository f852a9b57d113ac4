"""Reading labels from dataset files: spans, chunk ids and document ids, and answers with several places."""

from collections.abc import Callable, Set
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from ..base.files import is_list, is_object
from ..base.records import IGNORED, Record, RecordReader, as_list, as_object, brief_repr, json_path
from ..data import ChunkLevelGroundTruth, DocumentLevelGroundTruth, GroundTruth, Query, TokenLevelGroundTruth
from ..data.documents import Corpus, DocumentResolver
from ..data.ground_truth import Answer, IdT, is_gain
from ..data.ids import DocumentId, canonical_chunk_id
from ..data.levels import CHUNK, TOKEN, Level, U
from ..data.spans import CharacterSpan
from ..errors import DatasetError

BESIDE_ANSWERS = "beside `answers`; expected one of the two"


class Given(NamedTuple):
    """Values that a file gives.

    Attributes:
        value: The value, of whatever type it is there.
        at: Its location in the file.
    """

    value: Any
    at: str


class _AnswerRecord(Record):
    places: list[Any]


def have_places(answers: Any) -> bool:
    """Return whether a value is a list of answers with places; anything else that is called so is none of a label."""
    return is_list(answers) and any(is_object(answer) and "places" in answer for answer in answers)


# Reading labels from dataset files: spans, chunk ids and document ids, with their gains.


class SpanRecord(Record):
    """Span of a document, as files store it."""

    doc_id: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str = ""


class LabelReader:
    """Reads the labels of a file as ground truth, collecting problems.

    Args:
        records: Collects problems.
        corpus: The documents; if given, they may be named by a part of their id, and must exist, unless ids are exact.
        utf16_offsets: Whether offsets count UTF-16 units, as in JavaScript.

    Attributes:
        hashed: The documents of which the file has hashes: their ids were exact when they were written.

    Raises:
        DatasetError: UTF-16 offsets without a corpus.
    """

    def __init__(self, records: RecordReader, corpus: Corpus | None, utf16_offsets: bool = False) -> None:
        if utf16_offsets and corpus is None:
            raise DatasetError(f"{records.source}: UTF-16 offsets can only be converted with the corpus; pass corpus=")
        self.records, self.corpus = records, corpus
        self.hashed: Set[str] = frozenset()
        self.resolver = DocumentResolver(corpus) if corpus is not None else None
        self._utf16 = _Utf16Offsets(corpus) if corpus is not None and utf16_offsets else None

    def truth(
        self,
        level: Level[Any],
        query: Query,
        given: Given,
        answers: Given,
        gains: Given = Given({}, ""),  # noqa: B008  nothing writes into it
        relevant_prefixes: Given = Given([], ""),  # noqa: B008
    ) -> GroundTruth[Any] | None:
        """Return the ground truth of a question, or None after recording what is wrong.

        Args:
            level: Its level.
            query: The question.
            given: The relevant spans as a list; ids as a list or as an object {id: gain}.
            answers: A list of answers with their places.
            gains: An object {id: gain}; of documents also {`prefix*`: gain}.
            relevant_prefixes: A list of prefixes of relevant documents.
        """
        if level is TOKEN:
            spans = [self.span(span, f"{given.at}[{number}]") for number, span in enumerate(given.value)]
            more = self._answers(answers, "spans", self.span)
            return TokenLevelGroundTruth(query, (*(span for span in spans if span is not None), *more))
        known, prefixes = len(self.records.problems), tuple(relevant_prefixes.value)
        units = {f"{prefix}*" for prefix in prefixes}
        for number, prefix in enumerate(prefixes):
            self.records.attempt(f"{relevant_prefixes.at}[{number}]", self._refuse_prefix, prefix)

        def resolve(name: str) -> Any:
            if level is CHUNK:
                return canonical_chunk_id(name)
            return DocumentId(name) if name in units else self.document(name)

        found, graded = self._graded(given, gains, resolve)
        several = self._answers(answers, "ids", partial(self._id, resolve))
        if len(self.records.problems) > known:
            return None
        listed: tuple[Any, ...] = (*found, *several)
        if level is CHUNK:
            return self.records.attempt(gains.at, ChunkLevelGroundTruth, query, listed, graded)
        return self.records.attempt(gains.at, DocumentLevelGroundTruth, query, listed, prefixes, graded)

    def _answers(self, given: Given, several: str, read: Callable[[Any, str], U | None]) -> list[Answer[U]]:
        """Return the answers of a list, without those of which something was wrong, which is recorded.

        Args:
            given: The list of objects, each with its `places`.
            several: The key under which a place lists its units, if it has several.
            read: Returns a unit, given with its location, or None after recording what is wrong with it.
        """
        found: list[Answer[U]] = []
        for number, item in enumerate(given.value):
            at = f"{given.at}[{number}]"
            if record := self.records.validate(_AnswerRecord, item, at, unknown=IGNORED):
                listed = enumerate(record.places)
                places = [self._units(place, f"{at}.places[{row}]", several, read) for row, place in listed]
                answer = None if None in places else self.records.attempt(at, Answer[U], places)
                found += [] if answer is None else [answer]
        return found

    def _units(self, item: Any, at: str, several: str, read: Callable[[Any, str], U | None]) -> list[U] | None:
        """Return the units of a place, or None after recording what is wrong with it."""
        if not (is_object(item) and several in item):
            unit = read(item, at)
            return None if unit is None else [unit]
        listed = self.records.attempt(f"{at}.{several}", as_list, item[several])
        units = [read(unit, f"{at}.{several}[{row}]") for row, unit in enumerate(listed or ())]
        return None if listed is None or None in units else [unit for unit in units if unit is not None]

    def span(self, item: Any, where: str) -> CharacterSpan | None:
        """Return the span of an object of the file, or None after recording what is wrong with it."""
        record = self.records.validate(SpanRecord, item, where, unknown=IGNORED)
        return None if record is None else self.records.attempt(where, self._placed, record)

    def _placed(self, record: SpanRecord) -> CharacterSpan:
        doc_id = self._labelled_document(record)
        start, end = record.start, record.end
        if self._utf16 is not None:
            start, end = self._utf16.code_points(doc_id, start), self._utf16.code_points(doc_id, end)
        if start == end:
            raise DatasetError(f"{doc_id}[{start}:{end}] is empty")
        return CharacterSpan(doc_id, start, end, record.text)

    def _labelled_document(self, record: SpanRecord) -> DocumentId:
        """Return the id of the document of a span; as it is written if it is exact, or may have been renamed since.

        Raises:
            DatasetError: There is a corpus, the name matches more than one document or, without a text by which the
                span can be found again, none.
        """
        is_unknown = record.text and not (self.resolver and self.resolver.alike(record.doc_id))
        if self._utf16 is None and (record.doc_id in self.hashed or is_unknown):
            return DocumentId(record.doc_id)
        return self.document(record.doc_id)

    def _refuse_prefix(self, prefix: str) -> None:
        begins = self.corpus is not None and self.corpus.has_prefix(prefix)
        if not prefix:
            raise DatasetError("an empty prefix would make every document relevant")
        if prefix.endswith("*") and not begins:
            raise DatasetError(f"{prefix!r}: remove the star; write the prefix as {prefix[:-1]!r}")
        if self.corpus is not None and not begins:
            raise DatasetError(f"no document in the corpus starts with {prefix!r}")

    def document(self, name: str) -> DocumentId:
        """Return the id of the document with this name.

        Raises:
            DatasetError: There is a corpus, and the name matches no document, or more than one.
        """
        return DocumentId(name) if self.resolver is None else self.resolver.resolve(name)

    def _graded(self, ids: Given, gains: Given, resolve: Callable[[str], IdT]) -> tuple[list[IdT], dict[IdT, float]]:
        """Return the ids in order and their gains, recording what is wrong."""
        pairs: list[tuple[Any, Any, str]] = _pairs(ids) if is_object(ids.value) else []
        named: list[tuple[Any, str]] = [(name, at) for name, _, at in pairs]
        if not is_object(ids.value):
            listed = self.records.attempt(ids.at, as_list, ids.value, " of ids or an object {id: gain}")
            named = [(name, f"{ids.at}[{number}]") for number, name in enumerate(listed or ())]
        if self.records.attempt(gains.at, as_object, gains.value, " {id: gain}") is not None:
            pairs += _pairs(gains)
        units: dict[object, IdT | None] = {}
        for name, at in [*named, *((name, at) for name, _, at in pairs)]:
            if not isinstance(name, str) or name not in units:
                unit = self.records.attempt(at, _resolved, resolve, name, "")
                units |= {name: unit} if isinstance(name, str) else {}
        graded: dict[IdT, float] = {}
        for name, gain, at in pairs:
            self.records.attempt(at, _add_gain, graded, units.get(name), gain)
        found = [unit for name, _ in named if isinstance(name, str) and (unit := units[name]) is not None]
        return found, graded

    def _id(self, resolve: Callable[[str], IdT], name: Any, at: str) -> IdT | None:
        return self.records.attempt(at, _resolved, resolve, name, ", or an object with several `ids`")


def _resolved(resolve: Callable[[str], IdT], name: Any, alternative: str) -> IdT:
    if not isinstance(name, str):
        raise DatasetError(f"expected an id{alternative}, got {brief_repr(name)}")
    if not name.strip():
        raise DatasetError("is blank; expected an id")
    return resolve(name)


def _add_gain(graded: dict[IdT, float], unit: IdT | None, gain: Any) -> None:
    if not is_gain(gain):
        raise DatasetError(f"expected a gain (a finite number above 0), got {brief_repr(gain)}")
    if unit is not None and graded.setdefault(unit, gain) != gain:
        raise DatasetError(f"{unit!r} has two gains, {graded[unit]} and {gain}; keep one")


def _pairs(gains: Given) -> list[tuple[Any, Any, str]]:
    return [(name, gain, f"{gains.at}{json_path((str(name),))}") for name, gain in gains.value.items()]


class _Utf16Offsets:
    """Converts offsets from UTF-16 units, as JavaScript counts, to code points."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.tables: dict[str, np.ndarray[Any, np.dtype[np.int64]]] = {}

    def code_points(self, doc_id: DocumentId, offset: int) -> int:
        table = self.tables.get(doc_id)
        if table is None:
            codes = np.frombuffer(self.corpus[doc_id].content.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            table = self.tables[doc_id] = np.concatenate([[0], np.cumsum(1 + (codes > 0xFFFF))])
        place = int(np.searchsorted(table, offset))
        if place == len(table) or table[place] != offset:
            raise DatasetError(f"UTF-16 offset {offset} is not a character boundary in {doc_id!r}")
        return place
