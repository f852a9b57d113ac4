"""Rerankers: candidates in a new order."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.chunks import AnyChunk


class Reranker(Component, ABC):
    """Orders the candidates of a first retrieval by a closer look.

    Attributes:
        max_concurrency: For how many questions it may be asked side by side, in threads, where many are asked together.
    """

    max_concurrency: int = 1

    def prepare(self) -> None:
        """Load what is costly; called before the first question, so that no question waits for it. By default nothing.

        What is missing, such as a model that is not on this machine, is best found out here.
        """

    @abstractmethod
    def rerank(self, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
        """Return the best `top_k` of the chunks (all by default), best first; nothing for nothing.

        Each chunk comes back as often as it was given. Chunks are told apart by place, if they have
        one: equal texts may come twice, and chunks without a place (`Chunk`) come back as they are.
        """
