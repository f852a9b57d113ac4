"""Hits: the ranked results of a retriever, as values and in columns."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isnan
from operator import attrgetter, eq
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .chunks import AnyChunk, PositionAwareChunk
from .columns import Integers, Numbering, Numbers, OnDemand
from .documents import Corpus
from .ids import DocumentId, canonical_chunk_id, generate_chunk_id, is_from_content
from .spans import CharacterSpan

# Hits, rankings and retrievals: the ranked results of a retriever, with its stages.


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked result; fields that the retriever does not report are None.

    Attributes:
        doc_id: The document, or None if unknown.
        start: First character in the document, or None if unknown.
        end: One past the last character, or None if unknown.
        chunk_id: The chunk's id, or None.
        text: The retrieved text, or None.
        score: The retriever's own score, higher is better, or None.
        sources: Names of where the text may be from, best first, as metadata give them. Unlike `doc_id` they may name
            no document; a hit that was located has none.
    """

    doc_id: DocumentId | None = None
    start: int | None = None
    end: int | None = None
    chunk_id: str | None = None
    text: str | None = None
    score: float | None = None
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, chunk: AnyChunk, score: float | None = None) -> "Hit":
        """Return the hit for a chunk, without a position if the chunk has none."""
        if isinstance(chunk, PositionAwareChunk):
            return cls(chunk.doc_id, chunk.start, chunk.end, chunk.id, chunk.content, score)
        return cls(chunk.doc_id, chunk_id=chunk.id, text=chunk.content, score=score)

    @property
    def placed(self) -> bool:
        """Whether the hit has a position in the corpus."""
        return self.doc_id is not None and self.start is not None and self.end is not None

    def is_in(self, corpus: Corpus) -> bool:
        """Return whether the hit has a position that the corpus has."""
        if self.doc_id is None or self.start is None or self.end is None or self.doc_id not in corpus:
            return False
        return self.end <= len(corpus[self.doc_id].content)

    @property
    def span(self) -> CharacterSpan | None:
        """The position in the corpus, or None if the hit is not located."""
        if self.doc_id is None or self.start is None or self.end is None:
            return None
        return CharacterSpan(self.doc_id, self.start, self.end)

    @property
    def identity(self) -> tuple[object, ...]:
        """Identity of the hit across rankings: document, start and end.

        Without a position it is the document and the chunk: by an id that follows from its content, as that is kept
        where texts are rewritten, else by the text, else by the id. Of equal texts in one document it is the same.
        """
        if self.placed:
            return self.doc_id, self.start, self.end
        if self.text and not is_from_content(self.chunk_id):
            return self.doc_id, generate_chunk_id(self.text)
        return self.doc_id, None if self.chunk_id is None else canonical_chunk_id(self.chunk_id)


@dataclass(frozen=True, slots=True)
class Stage:
    """Stage of a retrieval, such as `embed`, `search` or `rerank`.

    Attributes:
        name: What the stage does.
        seconds: Its duration on a monotonic clock; None where it was not measured for one question alone.
        hits: The ranking after the stage, if it differs from the final one.
    """

    name: str
    seconds: float | None
    hits: tuple[Hit, ...] | None = None


Ranking: TypeAlias = tuple[Hit, ...]
"""Hits, best first. The order of the list is the rank; scores never re-order it."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Retrieval for one question: the ranking and the stages that produced it.

    Attributes:
        hits: Best first.
        stages: In the order in which they ran.
        limit: The parameter of the retriever that ends the ranking where the corpus may hold more, such as
            `candidates=50 of RerankedRetriever`; None if there is none.
        complete: Whether it is known that the ranking would be no longer at a larger k.
    """

    hits: Ranking
    stages: tuple[Stage, ...] = ()
    limit: str | None = None
    complete: bool = False


Retrieved: TypeAlias = Retrieval | Sequence[AnyChunk] | Sequence[Hit]
"""What a retriever may return: the full record, or just its ranked chunks or hits."""


# Hits in columns: numbers, and texts that are kept once. Rankings are made of them when they are asked for.

Codes = NDArray[np.int32]
_READ_AT_ONCE = 1024
COLUMNS = ("doc_id", "start", "end", "chunk_id", "text", "score")
_READ = [attrgetter(name) for name in COLUMNS]
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: spreads neighbouring numbers


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column of texts, each of which is kept once.

    Attributes:
        codes: The number of the text of each row, -1 where it has none; shape (rows,).
        texts: The texts by number.
    """

    codes: Codes
    texts: Sequence[str]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a text; shape (rows,)."""
        return self.codes >= 0

    def __getitem__(self, rows: Integers) -> "Coded":
        """Return some of the rows."""
        return Coded(self.codes[rows], self.texts)

    def numbers(self, of: Callable[[str], int]) -> Integers:
        """Return a number of the text of each row, 0 where it has none; shape (rows,)."""
        used, rows = np.unique(self.codes, return_inverse=True)  # some rows of a table have few of its texts
        return np.array([0 if code < 0 else of(self.texts[code]) for code in _listed(used)], dtype=np.int64)[rows]

    def where(self, rows: NDArray[np.bool_]) -> "Coded":
        """Return the column without the texts of other rows than these."""
        codes = np.where(rows, self.codes, np.int32(-1))
        used = np.unique(codes[codes >= 0])
        return Coded(
            np.where(codes >= 0, np.searchsorted(used, codes), -1).astype(np.int32),
            [self.texts[number] for number in _listed(used)],
        )

    def __repr__(self) -> str:
        return f"Coded(rows: {len(self.codes)}, texts: {len(self.texts)})"

    def read(self, rows: slice) -> list[str | None]:
        """Return the texts of some rows, None where there is none."""
        return [None if code < 0 else self.texts[code] for code in _listed(self.codes[rows])]


@dataclass(frozen=True, eq=False, repr=False)
class HitTable:
    """Hits as columns of equal length; -1 stands for a start or an end that is not known, NaN for a score.

    Attributes:
        doc_id: The document of each hit.
        start: First character.
        end: One past the last character.
        chunk_id: The chunk's id.
        text: The retrieved text.
        score: The retriever's own score.
    """

    doc_id: Coded
    start: Integers
    end: Integers
    chunk_id: Coded
    text: Coded
    score: Numbers

    @cached_property
    def placed(self) -> NDArray[np.bool_]:
        """Which hits have a place in the corpus; shape (hits,)."""
        return self.doc_id.known & (self.start >= 0) & (self.end >= 0)

    def take(self, rows: Integers) -> "HitTable":
        """Return some of the hits."""
        return HitTable(*(getattr(self, column.name)[rows] for column in fields(self)))

    def columns(self, rows: slice) -> tuple[list[Any], ...]:
        """Return the columns of neighbouring hits as lists, None where nothing is known, in the order of a `Hit`."""
        return (
            self.doc_id.read(rows),
            _or_none(self.start[rows]),
            _or_none(self.end[rows]),
            self.chunk_id.read(rows),
            self.text.read(rows),
            [None if isnan(score) else score for score in self.score[rows].tolist()],
        )

    def read(self, rows: slice) -> Ranking:
        """Return neighbouring hits as objects."""
        return tuple(map(Hit, *self.columns(rows)))

    def __getitem__(self, row: int) -> Hit:
        return self.read(slice(row, row + 1))[0]

    def __iter__(self) -> Iterator[Hit]:
        for first in range(0, len(self), _READ_AT_ONCE):
            yield from self.read(slice(first, first + _READ_AT_ONCE))

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        return f"HitTable(hits: {len(self)})"

    def distinct(self) -> tuple[Integers, Integers]:
        """Return one row for each different hit, and for every row the number of its hit; scores do not count."""
        columns = (self.doc_id.codes, self.start, self.end, self.chunk_id.codes, self.text.codes)
        mixed = np.zeros(len(self), dtype=np.uint64)
        for column in columns:
            mixed = (mixed ^ column.astype(np.int64).view(np.uint64)) * _MIX
            mixed ^= mixed >> np.uint64(29)
        _, rows, numbers = np.unique(mixed, return_index=True, return_inverse=True)
        if all(np.array_equal(column[rows][numbers], column) for column in columns):
            return rows, numbers
        both = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)  # two mixed to one number
        return both[1], both[2].reshape(-1)


@dataclass(frozen=True, eq=False, repr=False)
class RankedHits(OnDemand[Ranking]):
    """Rankings of hits that are kept in columns; a ranking is made when it is asked for.

    Attributes:
        table: The hits; those of one ranking are neighbours, best first. It may hold others.
        begins: The row of the first hit of each ranking; shape (rankings,).
        ends: One past the row of its last hit.
    """

    table: HitTable
    begins: Integers
    ends: Integers

    @classmethod
    def of(cls, rankings: Iterable[Ranking]) -> "RankedHits":
        """Return rankings in columns."""
        collector = HitCollector()
        return collector.ranked([collector.add(ranking) for ranking in rankings])

    @property
    def counts(self) -> Integers:
        """Number of hits per ranking; shape (rankings,)."""
        return self.ends - self.begins

    @cached_property
    def query(self) -> Integers:
        """The number of the ranking of each hit, in the order of the rankings; shape (hits,)."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def rank(self) -> Integers:
        """The rank of each hit, 0-based; shape (hits,)."""
        return np.arange(len(self.query)) - (np.cumsum(self.counts) - self.counts)[self.query]

    def first(self, k: int | Integers) -> Self:
        """Return the first k hits of each ranking, k being one number for all or one per ranking."""
        return replace(self, ends=np.minimum(self.ends, self.begins + k))

    def take(self, rows: Integers) -> Self:
        """Return some of the rankings."""
        return replace(self, begins=self.begins[rows], ends=self.ends[rows])

    @property
    def flat(self) -> HitTable:
        """The hits of all rankings and no others, one ranking after the other; a copy unless the table is that."""
        ends = np.concatenate([[0], self.ends])
        if np.array_equal(self.begins, ends[:-1]) and ends[-1] == len(self.table):
            return self.table
        before: Integers = np.cumsum(self.counts) - self.counts
        rows: Integers = np.arange(int(self.counts.sum())) + np.repeat(self.begins - before, self.counts)
        return self.table.take(rows)

    def compact(self) -> "RankedHits":
        """Return the same rankings with a table that holds no other hits."""
        ends = np.cumsum(self.counts)
        return RankedHits(self.flat, ends - self.counts, ends)

    def without_texts(self) -> "RankedHits":
        """Return the same rankings, compact, in which no hit that has a place has a text: it follows from the place."""
        found = self.compact()
        return replace(found, table=replace(found.table, text=found.table.text.where(~found.table.placed)))

    def row(self, number: int) -> Ranking:
        """Return one of the rankings."""
        return self.table.read(slice(int(self.begins[number]), int(self.ends[number])))

    def __len__(self) -> int:
        return len(self.begins)

    def __repr__(self) -> str:
        return f"RankedHits(rankings: {len(self)}, hits: {self.counts.sum()})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RankedHits) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # it holds arrays


class HitCollector:
    """Collects rankings in columns; the number of the first is 1, that of an empty one 0.

    What is kept is 36 bytes per hit, and every text once.
    """

    def __init__(self) -> None:
        self._names = (Numbering(), Numbering(), Numbering())  # documents, chunks and texts
        self._codes = (array("i"), array("i"), array("i"))
        self._places = (array("q"), array("q"))
        self._scores, self._bounds = array("d"), array("q", [0, 0])

    def add(self, ranking: Ranking) -> int:
        """Add a ranking, and return its number."""
        return self.add_columns([[*map(read, ranking)] for read in _READ])

    def add_columns(self, columns: Sequence[Sequence[Any]]) -> int:
        """Add a ranking of which the columns are given, in the order of a `Hit`, and return its number."""
        doc_ids, starts, ends, chunk_ids, texts, scores = columns
        self._drop_unfinished()
        for codes, numbers, column in zip(self._codes, self._names, (doc_ids, chunk_ids, texts), strict=True):
            codes.extend([-1 if text is None else numbers[text] for text in column])
        for places, offsets in zip(self._places, (starts, ends), strict=True):
            places.extend([-1 if offset is None else offset for offset in offsets])
        self._scores.extend([np.nan if score is None else score for score in scores])
        self._bounds.append(len(self._scores))
        return len(self._bounds) - 2

    def _drop_unfinished(self) -> None:
        """Take out what an interrupt left of a ranking that was being added."""
        end = self._bounds[-1]
        if len(self._codes[0]) > end:  # the first to grow
            columns: tuple[array[Any], ...] = (*self._codes, *self._places, self._scores)
            for column in columns:
                del column[end:]

    def ranked(self, numbers: Sequence[int]) -> RankedHits:
        """Return the rankings of these numbers, in this order; all that are asked for share one table."""
        bounds, chosen = np.frombuffer(self._bounds, dtype=np.int64), np.array(numbers, dtype=np.int64)
        return RankedHits(self._table, bounds[chosen], bounds[chosen + 1])

    @cached_property
    def _table(self) -> HitTable:
        """The columns; nothing can be added any more."""
        self._drop_unfinished()
        columns = zip(self._codes, self._names, strict=True)
        doc_id, chunk_id, text = (Coded(_array(codes, np.int32), tuple(names)) for codes, names in columns)
        start, end = (_array(offsets, np.int64) for offsets in self._places)
        return HitTable(doc_id, start, end, chunk_id, text, _array(self._scores, np.float64))


def _array(numbers: Any, kind: Any) -> NDArray[Any]:
    """Return collected numbers as an array, without a copy."""
    return np.frombuffer(numbers, dtype=kind) if len(numbers) else np.zeros(0, dtype=kind)


def _or_none(column: Integers) -> list[int | None]:
    return [None if number < 0 else number for number in column.tolist()]


def _listed(column: NDArray[Any]) -> list[int]:
    numbers: list[int] = column.tolist()
    return numbers
