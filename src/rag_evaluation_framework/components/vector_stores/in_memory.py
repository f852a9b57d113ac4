"""Vector store in memory, with exact search."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...contracts.roles import VectorStore
from ...data.chunks import AnyChunk
from ...statistics.nearest import Rows, nearest, unit
from .database import checked_vectors

_ROWS_TOGETHER = 65_536


class InMemoryVectorStore(VectorStore):
    """Vector store in memory: exact cosine similarity, nothing to install, nothing left behind.

    Vectors take 4 bytes per number. They are compared in single precision, and what could be among the nearest once
    more in double precision, so that results are those of a search in double precision. A zero vector has cosine 0 with
    everything. Tied chunks keep the order in which they were added.
    """

    def __init__(self) -> None:
        self._chunks: list[AnyChunk] = []
        self._rows: tuple[tuple[Rows, ...], tuple[Rows, ...]] = ((), ())  # what is joined, and what was added since

    def add(self, chunks: Sequence[AnyChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks with their vectors, shape (len(chunks), dimension); the caller's array is not changed."""
        parts, new = self._rows
        dimension = next((rows.vectors.shape[1] for rows in (*parts[:1], *new[:1])), None)
        vectors = checked_vectors("InMemoryVectorStore", embeddings, dimension, chunks)
        if not len(vectors):
            return
        new = (*new, Rows.of(vectors))
        self._rows = (_joined(parts, new), ()) if sum(map(len, new)) >= _ROWS_TOGETHER else (parts, new)
        self._chunks.extend(chunks)

    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[AnyChunk]:
        """Return the `k` chunks with the highest cosine similarity."""
        return self.search_many(np.asarray(query_embedding, dtype=np.float32)[np.newaxis, :], k)[0]

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[AnyChunk]]:
        """Return the `k` chunks with the highest cosine similarity for each row."""
        parts, new = self._rows
        if new:  # threads that search at the same time join the same, and either result will do
            parts = _joined(parts, new)
            self._rows = (parts, ())
        if not parts:
            return [[] for _ in query_embeddings]
        queries = unit(checked_vectors("InMemoryVectorStore", query_embeddings, parts[0].vectors.shape[1]))
        return [[self._chunks[number] for number in numbers] for numbers in nearest(parts, queries, k)]

    def clear(self) -> None:
        """Remove all chunks and vectors."""
        self._chunks = []
        self._rows = ((), ())

    def __len__(self) -> int:
        return len(self._chunks)


def _joined(parts: tuple[Rows, ...], new: tuple[Rows, ...]) -> tuple[Rows, ...]:
    """Return few large parts, which are searched faster than many small ones; what is large stays as it is."""
    if parts and len(parts[-1]) < _ROWS_TOGETHER and len(new[0]) < _ROWS_TOGETHER:
        parts, new = parts[:-1], (parts[-1], *new)
    return (*parts, Rows.joined(new))
