"""Vector store in memory, with exact search."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.statistics.nearest import Rows, nearest
from rag_evaluation_framework.vector_stores.vector_checks import checked_queries, checked_vectors, unit

_ROWS_TOGETHER = 65_536


class InMemoryVectorStore(VectorStore):
    """Vector store in memory: exact cosine similarity, nothing to install, nothing left behind.

    Vectors take 4 bytes per number. They are compared in single precision, and what could be among the nearest once
    more in double precision, so that results are those of a search in double precision. A zero vector has cosine 0 with
    everything. Tied chunks keep the order in which they were added.
    """

    def __init__(self) -> None:
        self._chunks: list[PositionAwareChunk] = []
        self._parts: list[Rows] = []
        self._new: list[Rows] = []

    def add(self, chunks: Sequence[PositionAwareChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks with their vectors, shape (len(chunks), dimension); the caller's array is not changed."""
        dimension = next((part.vectors.shape[1] for part in (*self._parts[:1], *self._new[:1])), None)
        self._new.append(Rows.of(checked_vectors("InMemoryVectorStore", chunks, embeddings, dimension)))
        self._chunks.extend(chunks)
        if sum(map(len, self._new)) >= _ROWS_TOGETHER:
            self._join()

    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[PositionAwareChunk]:
        """Return the `k` chunks with the highest cosine similarity."""
        return self.search_many(np.asarray(query_embedding, dtype=np.float32)[np.newaxis, :], k)[0]

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[PositionAwareChunk]]:
        """Return the `k` chunks with the highest cosine similarity for each row."""
        if not self._chunks:
            return [[] for _ in query_embeddings]
        self._join()
        dimension = self._parts[0].vectors.shape[1]
        queries = unit(checked_queries("InMemoryVectorStore", query_embeddings, dimension))
        return [[self._chunks[number] for number in numbers] for numbers in nearest(self._parts, queries, k)]

    def clear(self) -> None:
        """Remove all chunks and vectors."""
        self._chunks = []
        self._parts, self._new = [], []

    def _join(self) -> None:
        """Make one part of what was added since the last search; few large parts are searched faster than many."""
        if self._new:
            if self._parts and len(self._parts[-1]) < _ROWS_TOGETHER:
                self._new.insert(0, self._parts.pop())
            self._parts.append(Rows.joined(self._new))
            self._new = []

    def __len__(self) -> int:
        return len(self._chunks)
