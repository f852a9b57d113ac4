"""Vector store in memory, with exact search."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.statistics.selection import top_k
from rag_evaluation_framework.vector_stores.vector_checks import checked_queries, checked_vectors, unit

_SCORES_AT_ONCE = 8_000_000
_DECIMALS = 12  # sums of equal products may differ in the last bits; equal vectors must tie


class InMemoryVectorStore(VectorStore):
    """Vector store in memory: exact cosine similarity, nothing to install, nothing left behind.

    A zero vector has cosine 0 with everything. Tied chunks keep the order in which they were added.
    """

    def __init__(self) -> None:
        self._chunks: list[PositionAwareChunk] = []
        self._blocks: list[NDArray[np.float64]] = []

    def add(self, chunks: Sequence[PositionAwareChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks with their vectors, shape (len(chunks), dimension); the caller's array is not changed."""
        dimension = self._blocks[0].shape[1] if self._blocks else None
        vectors = checked_vectors("InMemoryVectorStore", chunks, embeddings, dimension)
        self._blocks.append(unit(vectors))
        self._chunks.extend(chunks)

    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[PositionAwareChunk]:
        """Return the `k` chunks with the highest cosine similarity."""
        return self.search_many(np.asarray(query_embedding, dtype=np.float32)[np.newaxis, :], k)[0]

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[PositionAwareChunk]]:
        """Return the `k` chunks with the highest cosine similarity for each row."""
        if not self._chunks:
            return [[] for _ in query_embeddings]
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        vectors = self._blocks[0]
        queries = unit(checked_queries("InMemoryVectorStore", query_embeddings, vectors.shape[1]))
        step = max(1, _SCORES_AT_ONCE // len(self._chunks))
        rankings: list[list[PositionAwareChunk]] = []
        for first in range(0, len(queries), step):
            batch = np.round(queries[first : first + step] @ vectors.T, _DECIMALS)
            rankings.extend([self._chunks[number] for number in top_k(scores, k)] for scores in batch)
        return rankings

    def clear(self) -> None:
        """Remove all chunks and vectors."""
        self._chunks = []
        self._blocks = []

    def __len__(self) -> int:
        return len(self._chunks)
