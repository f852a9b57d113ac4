"""Ordering candidates anew."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rag_evaluation_framework.contracts.part import Part
from rag_evaluation_framework.types import PositionAwareChunk


class Reranker(Part, ABC):
    """Orders the candidates of a first retrieval by a closer look."""

    @abstractmethod
    def rerank(
        self, query: str, chunks: Sequence[PositionAwareChunk], top_k: int | None = None
    ) -> list[PositionAwareChunk]:
        """Return the best `top_k` of the chunks (all by default), best first; nothing for nothing."""
