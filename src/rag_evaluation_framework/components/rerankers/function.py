"""Rerankers that give each text a score: functions, and rerankers of other libraries."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnReranker
from ...adapt.results import as_scores
from ...base.coroutines import resolved
from ...contracts.registry.building import OwnFunction
from ...contracts.roles import Reranker
from ...data.chunks import AnyChunk
from ...errors import InputError
from ...statistics.nearest import top_k as best_first

# Base of rerankers that give each text a score.


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


# Functions, and rerankers of other libraries, as rerankers.


class FunctionReranker(OwnFunction[OwnReranker], ScoringReranker):
    """A plain function `(query, texts) -> scores`, or a reranker of another library.

    Scores are one finite number per text, higher is better; or the texts are returned, best first, or in any order if
    each has its score, such as `(text, score)` or `(index, score)`. The function gets each distinct text once, and may
    be a coroutine function. An object reranks by its `compress_documents`, `postprocess_nodes`, `rerank` or `run`.

    Attributes:
        function: What scores the texts of the candidates; of an object, the function that calls it.

    Raises:
        ConfigError: `function` is neither, or has to be called with something else.
    """

    _kind = "reranker"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return what the function returns, shape (len(texts),).

        Raises:
            InputError: It is not one finite number per text.
        """
        returned: Any = resolved(self.function(query, list(texts)))
        return as_scores(returned, f"the reranker function {self.name}", texts)
