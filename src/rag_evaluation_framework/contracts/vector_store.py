"""Vector stores: keeping vectors and finding the nearest."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.chunks import AnyChunk


class VectorStore(Component, ABC):
    """Keeps chunks with their vectors; every chunk stays that is added.

    The key is the order of adding, never the id: equal texts have equal ids, and are all kept, at two places, at the
    same place, and without a place (`Chunk`).

    After indexing, one search tells whether what was added is found. If the store has `__len__`, the number of its
    chunks, it is counted as well: 0 after `clear`, and as many as were added.
    """

    @abstractmethod
    def add(self, chunks: Sequence[AnyChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks.

        Args:
            chunks: What to keep: ids, texts, metadata, and places of those that have one.
            embeddings: One row per chunk, shape (len(chunks), dimension).

        Raises:
            InputError: The numbers of chunks and rows differ, or the dimension is not that of the store.
        """

    @abstractmethod
    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[AnyChunk]:
        """Return at most `k` chunks by falling cosine; chunks that tie stay in the order in which they were added."""

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[AnyChunk]]:
        """Return one ranking a row of `query_embeddings`; by default one after the other."""
        return [self.search(row, k) for row in query_embeddings]

    @abstractmethod
    def clear(self) -> None:
        """Forget everything; the store can be used again."""
