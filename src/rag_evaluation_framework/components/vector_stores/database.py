"""Base of vector stores that use a database: records, batches, and the order of ties."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...contracts.roles import VectorStore
from ...data.chunks import AnyChunk, Chunk, PositionAwareChunk, describe_chunk
from ...errors import ConfigError, InputError
from ...statistics.nearest import unit

# Checks of vectors before they are stored or searched.


def checked_vectors(
    owner: str, given: ArrayLike, dimension: int | None, chunks: Sequence[AnyChunk] | None = None
) -> NDArray[np.float32]:
    """Check the vectors of chunks or questions and return them as float32, shape (their number, dimension).

    Args:
        owner: The name of the store, for messages.
        given: One row per chunk or question.
        dimension: The dimension of the store, or None if it is empty.
        chunks: The chunks that the vectors belong to; None if they belong to questions.

    Raises:
        InputError: The shape is wrong, or a number is NaN or infinite.
    """
    vectors = np.asarray(given, dtype=np.float32)
    if chunks is None:
        source, count = f"{owner}.search", len(vectors) if vectors.ndim else 0
        advice = "one row per question; embed queries and chunks with the same embedder"
    else:
        source, count = f"{owner}.add", len(chunks)
        advice = "one row per chunk; call clear() before changing the embedder"
    if (
        vectors.ndim != 2
        or len(vectors) != count
        or vectors.shape[1] != (dimension or vectors.shape[1] or min(count, 1))
    ):
        expected = f"({count}, {dimension or 'dimension'})"
        raise InputError(f"{source}: vectors of shape {vectors.shape}; expected {expected}, {advice}")
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(broken):
        row = int(broken[0])
        place = "" if chunks is None else f", {describe_chunk(chunks[row])},"
        raise InputError(f"{source}: the vector in row {row}{place} contains NaN or infinity; expected finite numbers")
    return vectors


# Base of vector stores that use a database: records, batches, and the order of ties.

MADE_BY = "rag-evaluation-framework"
"""Marks our collections; no other collection is ever written to or deleted."""

StoredChunk: TypeAlias = dict[str, str | int]
"""A chunk as stored in a database: document and position (if it has one), for people, and the whole chunk as JSON."""

BATCH = 1_000
"""How many records are written, or read, at a time.

Some builds of Chroma take no more than 5,461. A server of Qdrant takes requests of up to 32 MB by default; those of
1,000 vectors of 1,536 numbers are smaller.
"""

_TIE = 2e-7  # databases compute in 32 bits: vectors whose cosines are closer than this may be equal
_MORE = 8  # results asked for beyond k, to see where a tie at k ends
_QUERIES_AT_ONCE = 256
_FIELDS_WITHOUT_PLACE = 4
_COLLECTION = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,198}[a-zA-Z0-9]")


class Found(NamedTuple):
    """Search result: its cosine to the query, its number in the order of adding (from 0), and its chunk as JSON."""

    cosine: float
    number: int
    chunk: str


class DatabaseVectorStore(VectorStore, ABC):
    """Base class of vector stores in a database that stores records with vectors of length 1.

    Records are keyed by the order in which they were added, so chunks with the same text or position are all kept.
    """

    called: ClassVar[str] = "collection"
    """What the database calls a collection; so is the parameter called that names it."""

    def add(self, chunks: Sequence[AnyChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks with their vectors, shape (len(chunks), dimension), in batches.

        Raises:
            InputError: The numbers of chunks and vectors or the dimensions do not match, a number is NaN or infinite,
                or metadata is not JSON. Nothing is added then.
        """
        owner = type(self).__name__
        dimension = self._dimension()
        vectors = checked_vectors(owner, embeddings, dimension, chunks)
        if not (records := [_record(owner, chunk) for chunk in chunks]):
            return
        if dimension is None:
            self._create(vectors.shape[1])
        rows = unit(vectors).astype(np.float32)
        first = len(self)
        for start in range(0, len(records), BATCH):
            batch = records[start : start + BATCH]
            self._insert(range(first + start, first + start + len(batch)), rows[start : start + BATCH], batch)

    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[AnyChunk]:
        """Return the `k` chunks with the highest cosine similarity."""
        return self.search_many(np.asarray(query_embedding, dtype=np.float32)[np.newaxis, :], k)[0]

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[AnyChunk]]:
        """Return the `k` chunks with the highest cosine similarity for each row, searched in batches."""
        dimension = self._dimension()
        if dimension is None or k <= 0:
            return [[] for _ in query_embeddings]
        queries = unit(checked_vectors(type(self).__name__, query_embeddings, dimension)).astype(np.float32)
        batches = (queries[start : start + _QUERIES_AT_ONCE] for start in range(0, len(queries), _QUERIES_AT_ONCE))
        return [ranking for batch in batches for ranking in self._rankings(batch, k)]

    def __len__(self) -> int:
        return 0 if self._dimension() is None else self._count()

    def _dimension(self) -> int | None:
        """Return the dimension of the collection, or None if there is no collection.

        Raises:
            ConfigError: It was not created by this package.
        """
        described = self._described()
        if described is None:
            return None
        self._check_ours(described)
        return int(described["dimension"])

    def _check_ours(self, described: Mapping[str, Any]) -> None:
        if described.get("made_by") != MADE_BY:
            raise ConfigError(
                f"{type(self).__name__}: the {self.called} {getattr(self, self.called)!r} exists and was not created "
                f"by this package. It is left unchanged; choose another name with {self.called}=..."
            )

    def _replaced(self) -> InputError:
        """Return the error for a collection that was removed or replaced while a store was using it."""
        name = getattr(self, self.called)
        return InputError(
            f"{type(self).__name__}: the {self.called} {name!r} was removed or replaced by another store after this "
            f"one filled it; index again, and give each of several stores its own {self.called}=..."
        )

    @abstractmethod
    def _described(self) -> Mapping[str, Any] | None:
        """Return the description that the collection holds, or None if there is no collection."""

    @abstractmethod
    def _count(self) -> int:
        """Return the number of records in the collection."""

    @abstractmethod
    def _create(self, dimension: int) -> None:
        """Create the collection."""

    @abstractmethod
    def _insert(self, numbers: range, vectors: NDArray[np.float32], records: Sequence[StoredChunk]) -> None:
        """Add a batch of records under their numbers."""

    @abstractmethod
    def _nearest(self, queries: NDArray[np.float32], count: int) -> list[list[Found]]:
        """Return `count` results per row in any order, or all there are."""

    @abstractmethod
    def _first(self, count: int) -> list[str]:
        """Return the `chunk` of the first `count` records, in the order of adding."""

    def _rankings(self, queries: NDArray[np.float32], k: int) -> list[list[AnyChunk]]:
        directed = np.flatnonzero(queries.any(axis=1))
        found = self._nearest(queries[directed], k + _MORE) if len(directed) else []
        by_row = dict(zip(directed.tolist(), found, strict=True))
        return [
            self._ranking(query, by_row[row], k) if row in by_row else list(map(_chunk, self._first(k)))
            for row, query in enumerate(queries)
        ]

    def _ranking(self, query: NDArray[np.float32], found: list[Found], k: int) -> list[AnyChunk]:
        asked = k + _MORE
        while len(found) == asked and _tie_is_open(found, k):
            asked *= 2
            (found,) = self._nearest(query[np.newaxis, :], asked)
        return [_chunk(result.chunk) for result in _ordered(found)[:k]]


@dataclass(eq=False)
class ClientVectorStore(DatabaseVectorStore, ABC):
    """Base class of vector stores behind a client: in memory, in a folder, or on a server.

    Attributes:
        path: A folder for the database; created if it does not exist.

    Raises:
        ConfigError: Both a folder and a server are given, or the name of the collection is not valid in every database.
    """

    server: ClassVar[str]
    """The parameter that names a server."""

    path: str | Path | None = None
    _client: Any = field(default=None, init=False, repr=False)
    _collection: Any = field(default=None, init=False, repr=False)  # as it was opened or made; None if there is none
    _finalizer: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        owner, server, name = type(self).__name__, getattr(self, self.server), getattr(self, self.called)
        if self.path is not None and server is not None:
            raise ConfigError(
                f"{owner}: path={str(self.path)!r} and {self.server}={server!r}; expected only one of them, or neither"
            )
        if not isinstance(name, str) or not _COLLECTION.fullmatch(name):
            raise ConfigError(
                f"{owner}: collection={name!r}; expected 3 to 200 characters from a-z, A-Z, 0-9, '.', '_' and '-', "
                "starting and ending with a letter or digit"
            )
        self.path = None if self.path is None else str(self.path)

    def close(self) -> None:
        """Close the database; a collection in memory is removed. The store can be used again."""
        if self._finalizer is not None:
            self._finalizer()
        self._client = self._collection = self._finalizer = None

    @abstractmethod
    def _read(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """Return the `chunk` of a batch of records by their numbers."""

    def _chunks(self, numbers: Sequence[int]) -> list[str]:
        chunks: dict[int, str] = {}
        for start in range(0, len(numbers), BATCH):
            chunks.update(self._read(numbers[start : start + BATCH]))
        return [chunks[number] for number in numbers]

    def _first(self, count: int) -> list[str]:
        return self._chunks(range(min(count, self._count())))


def _record(owner: str, chunk: AnyChunk) -> StoredChunk:
    metadata = dict(chunk.metadata)
    place = {"start": int(chunk.start), "end": int(chunk.end)} if isinstance(chunk, PositionAwareChunk) else {}
    fields = [chunk.id, chunk.content, chunk.doc_id, *place.values(), metadata]
    try:
        text = json.dumps(fields, allow_nan=False)  # in ASCII, so that lone surrogates survive
        if json.loads(text)[-1] != metadata:
            raise ValueError("its metadata would be changed")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{owner}.add: {describe_chunk(chunk)} cannot be stored as JSON: {error}; its metadata is {metadata}; "
            "expected JSON values: strings as keys, lists instead of tuples"
        ) from error
    readable = chunk.doc_id.encode("utf-8", "backslashreplace").decode("utf-8")
    return {"doc_id": readable, **place, "chunk": text}


def _chunk(text: str) -> AnyChunk:
    fields = json.loads(text)
    return Chunk(*fields) if len(fields) == _FIELDS_WITHOUT_PLACE else PositionAwareChunk(*fields)


def _tie_is_open(found: list[Found], k: int) -> bool:
    """Return whether the tie at rank `k` extends to the last result, so that there may be more of it."""
    cosines = sorted((result.cosine for result in found), reverse=True)[k - 1 :]
    return all(higher - lower <= _TIE for higher, lower in pairwise(cosines))


def _ordered(found: list[Found]) -> list[Found]:
    """Return results by falling cosine similarity, with ties in the order of adding."""
    groups: list[list[Found]] = []
    for result in sorted(found, key=lambda result: -result.cosine):
        if groups and groups[-1][-1].cosine - result.cosine <= _TIE:
            groups[-1].append(result)
        else:
            groups.append([result])
    return [result for group in groups for result in sorted(group, key=lambda result: result.number)]
