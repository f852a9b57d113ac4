"""Reading relevant units: spans, chunk ids and document ids, with their gains."""

from collections.abc import Callable, Sequence, Set
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.naming import DocumentNames
from rag_evaluation_framework.datasets.records import Record, RecordReader, json_path, shown
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.files import is_list, is_object
from rag_evaluation_framework.ground_truth import (
    LARGEST_GAIN,
    ChunkLevelGroundTruth,
    DocumentLevelGroundTruth,
    IdT,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.ids import DocumentId, canonical_chunk_id
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Query


class SpanRecord(Record):
    """A place in a document."""

    doc_id: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str = ""
    before: str = ""
    after: str = ""


class UnitReader:
    """Turns what a file says is relevant into ground truth, collecting problems.

    Args:
        records: Where problems are collected.
        corpus: The documents; with it, documents may be named by their stem alone, and must exist.
        utf16_offsets: Offsets count UTF-16 units, as JavaScript does.

    Raises:
        DatasetError: UTF-16 offsets without a corpus.
    """

    def __init__(self, records: RecordReader, corpus: Corpus | None, utf16_offsets: bool = False) -> None:
        if utf16_offsets and corpus is None:
            raise DatasetError(f"{records.source}: UTF-16 offsets can only be converted with the corpus; pass corpus=")
        self.records, self.corpus = records, corpus
        self.names = DocumentNames(corpus) if corpus is not None else None
        self._utf16 = _Utf16Offsets(corpus) if corpus is not None and utf16_offsets else None

    def token_level(self, query: Query, spans: Sequence[SpanRecord], where: str) -> TokenLevelGroundTruth:
        """Return the ground truth of these spans; `where` is the place of their list."""
        found = [self.span(span, f"{where}[{number}]") for number, span in enumerate(spans)]
        return TokenLevelGroundTruth(query, tuple(span for span in found if span is not None))

    def span(self, record: SpanRecord, where: str) -> CharacterSpan | None:
        """Return a span, or None after noting what is wrong with it."""
        for key in record.model_extra or {}:
            self.records.note(key, f"{where}: unknown key {key!r} is not kept")
        try:
            doc_id = self.document(record.doc_id)
            start, end = record.start, record.end
            if self._utf16 is not None:
                start, end = self._utf16.code_points(doc_id, start), self._utf16.code_points(doc_id, end)
            if start == end:
                raise DatasetError(f"{doc_id}[{start}:{end}] covers no text")
            return CharacterSpan(doc_id, start, end, record.text)
        except ValueError as error:
            self.records.problem(where, error)
            return None

    def chunk_level(
        self, query: Query, ids: Any, gains: Any, where: str, gains_at: str
    ) -> ChunkLevelGroundTruth | None:
        """Return the ground truth of these chunks, or None after noting what is wrong.

        Args:
            query: The question.
            ids: The relevant ids, as a list or as an object of id and gain.
            gains: An object of id and gain.
            where: The place of the ids.
            gains_at: The place of the gains.
        """
        known = len(self.records.problems)
        found, graded = self._graded(ids, gains, where, gains_at, canonical_chunk_id)
        if len(self.records.problems) > known:
            return None
        try:
            return ChunkLevelGroundTruth(query, tuple(found), graded)
        except DatasetError as error:
            self.records.problem(gains_at, error)
            return None

    def document_level(
        self, query: Query, ids: Any, prefixes: Sequence[str], gains: Any, where: str, prefixes_at: str, gains_at: str
    ) -> DocumentLevelGroundTruth | None:
        """Return the ground truth of these documents, or None after noting what is wrong.

        Args:
            query: The question.
            ids: The relevant documents, as a list or as an object of id and gain.
            prefixes: Beginnings of relevant ids.
            gains: An object of id, or `prefix*`, and gain.
            where: The place of the ids.
            prefixes_at: The place of the prefixes.
            gains_at: The place of the gains.
        """
        known = len(self.records.problems)
        units = {f"{prefix}*" for prefix in prefixes}
        starless = {prefix for prefix in prefixes if prefix} - units
        ids, gains = self._with_star(ids, starless, where), self._with_star(gains, starless, gains_at)
        found, graded = self._graded(
            ids, gains, where, gains_at, lambda name: DocumentId(name) if name in units else self.document(name)
        )
        for number, prefix in enumerate(prefixes):
            place = f"{prefixes_at}[{number}]"
            begins = self.corpus is not None and any(document.id.startswith(prefix) for document in self.corpus)
            if not prefix:
                self.records.problem(place, "an empty prefix would make every document relevant")
            elif prefix.endswith("*") and not begins:
                self.records.problem(place, f"{prefix!r}: leave out the star; a prefix is written {prefix[:-1]!r}")
            elif self.corpus is not None and not begins:
                self.records.problem(place, f"no document of the corpus begins with {prefix!r}")
        if len(self.records.problems) > known:
            return None
        try:
            return DocumentLevelGroundTruth(query, tuple(found), tuple(prefixes), graded)
        except DatasetError as error:
            self.records.problem(gains_at, error)
            return None

    def _with_star(self, graded: Any, prefixes: Set[str], where: str) -> Any:
        """Return ids and gains without those that name a prefix as it is not written here, after noting these."""
        if not is_object(graded):
            return graded
        for name in (name for name in graded if name in prefixes):
            place = f"{where}{json_path((name,))}"
            self.records.problem(place, f"{name!r} is a prefix; write its gain in `gains`, under '{name}*'")
        return {name: gain for name, gain in graded.items() if name not in prefixes}

    def document(self, name: str) -> DocumentId:
        """Return the document of that name.

        Raises:
            DatasetError: There is a corpus, and no document of it, or more than one, could be meant.
        """
        return DocumentId(name) if self.names is None else self.names.resolve(name)

    def _graded(
        self, ids: Any, gains: Any, where: str, gains_at: str, resolve: Callable[[str], IdT]
    ) -> tuple[list[IdT], dict[IdT, float]]:
        """Return the ids as they stand and the gain of each that has one, noting what is wrong."""
        named: list[tuple[Any, str]] = []
        pairs: list[tuple[Any, Any, str]] = []
        if is_object(ids):
            pairs = _pairs(ids, where)
            named = [(name, at) for name, _, at in pairs]
        elif is_list(ids):
            named = [(name, f"{where}[{number}]") for number, name in enumerate(ids)]
        else:
            self.records.problem(where, f"wanted a list of ids, or an object of id and gain, got {shown(ids)}")
        if is_object(gains):
            pairs += _pairs(gains, gains_at)
        else:
            self.records.problem(gains_at, f"wanted an object of id and gain, got {shown(gains)}")
        units: dict[object, IdT | None] = {}
        for name, at in [*named, *((name, at) for name, _, at in pairs)]:
            if not isinstance(name, str):
                self.records.problem(at, f"wanted an id, got {shown(name)}")
            elif name not in units:
                units[name] = self._resolved(name, at, resolve)
        graded: dict[IdT, float] = {}
        for name, gain, at in pairs:
            unit = units.get(name)
            if isinstance(gain, bool) or not isinstance(gain, int | float) or not 0 < gain <= LARGEST_GAIN:
                self.records.problem(at, f"wanted a gain, a finite number above 0, got {shown(gain)}")
            elif unit is not None and graded.setdefault(unit, gain) != gain:
                self.records.problem(at, f"{unit!r} has the gains {graded[unit]} and {gain}; give it one")
        found = [unit for name, _ in named if isinstance(name, str) and (unit := units[name]) is not None]
        return found, graded

    def _resolved(self, name: str, at: str, resolve: Callable[[str], IdT]) -> IdT | None:
        if not name.strip():
            self.records.problem(at, "is blank; wanted an id")
            return None
        try:
            return resolve(name)
        except DatasetError as error:
            self.records.problem(at, error)
            return None


def _pairs(gains: dict[Any, Any], where: str) -> list[tuple[Any, Any, str]]:
    return [(name, gain, f"{where}{json_path((str(name),))}") for name, gain in gains.items()]


class _Utf16Offsets:
    """Converts offsets that count UTF-16 units, as JavaScript does."""

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
            raise DatasetError(f"UTF-16 offset {offset} is no character boundary of {doc_id!r}")
        return place
