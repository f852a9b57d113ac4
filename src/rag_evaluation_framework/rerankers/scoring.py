"""Base of rerankers that give each text a score."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.components.parts import as_scores
from rag_evaluation_framework.contracts.roles import Reranker
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.statistics.nearest import top_k as best_first


class ScoringReranker(Reranker, ABC):
    """Orders chunks by a score of their text; chunks of equal score keep the order in which they are given."""

    @abstractmethod
    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return how well each text answers, higher is better: finite numbers, shape (len(texts),)."""

    def rerank(self, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
        """Return the best `top_k` chunks (all by default), best first; each distinct text is scored once.

        Raises:
            InputError: `top_k` is negative, or the scores are not one finite number per text.
        """
        if top_k is not None and top_k < 0:
            raise InputError(f"{self.name}.rerank: top_k={top_k}; expected at least 0, or None for all chunks")
        if not chunks:
            return []
        texts = list(dict.fromkeys(chunk.content for chunk in chunks))
        scores = as_scores(self.scores(query, texts), f"{self.name}.scores", texts)
        score_of = dict(zip(texts, scores, strict=True))
        ranked = best_first(np.array([score_of[chunk.content] for chunk in chunks]), len(chunks))
        return [chunks[number] for number in ranked[:top_k]]
