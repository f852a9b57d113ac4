"""Late-interaction reranking (MaxSim): every token of the question against every token of the text."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import adapted
from rag_evaluation_framework.base.outside import one_line, said, shown
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.roles import TokenEmbedder
from rag_evaluation_framework.data.values import UNREADABLE, gives_items, items, plain_array
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.rerankers.scoring import ScoringReranker

_DECIMALS = 6  # a text's vectors differ in the last bits from batch to batch; that must not decide an order


@dataclass(frozen=True)
class LateInteractionReranker(ScoringReranker):
    """MaxSim over the token vectors of an embedder: no weights beyond those of the embedder.

    Each token of the question looks for the most similar token of the text; the score is the mean of those cosines,
    from -1 to 1. Khattab & Zaharia 2020, "ColBERT", who sum them: the order is the same. If the question has no tokens,
    all scores are 0; a text without tokens scores -1.

    Token vectors of texts are kept for the next question: about 200 kB for a chunk of 128 tokens and 384 dimensions.
    When there is no room, those that were not used for the longest time go.

    Attributes:
        embedder: Any embedder with `embed_tokens`.
        cache_megabytes: The most memory that token vectors of texts are kept in; 0 keeps none.

    Raises:
        ConfigError: `embedder` has no `embed_tokens`, or `cache_megabytes` is negative.
    """

    embedder: TokenEmbedder
    cache_megabytes: int = 1024

    def __post_init__(self) -> None:
        given: Any = self.embedder
        if isinstance(given, type) or not isinstance(given, TokenEmbedder):
            raise ConfigError(
                f"LateInteractionReranker: embedder={shown(given)}; expected one with embed_tokens(texts), such as a "
                "SentenceTransformerEmbedder"
            )
        object.__setattr__(self, "embedder", adapted(self.embedder))
        check_count("LateInteractionReranker", "cache_megabytes", self.cache_megabytes, least=0)

    def prepare(self) -> None:
        """Let the embedder load its model."""
        self._embed(["ready?"])

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return the mean best cosine of the question's tokens in each text: from -1 to 1, shape (len(texts),).

        Raises:
            InputError: The embedder returned other than one array of token vectors per text.
        """
        asked = self._embed([query])[0]
        vectors = self._vectors(texts)
        return np.round(_max_sim(asked, [vectors[text] for text in texts]), _DECIMALS)

    def _vectors(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the token vectors of every text, embedding only those that are not kept."""
        known = {text: vectors for text in texts if (vectors := self._kept.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known |= zip(new, self._embed(new), strict=True) if new else ()
        for text, vectors in known.items():
            self._kept.put(text, vectors)
        return known

    def _embed(self, texts: list[str]) -> list[NDArray[np.float32]]:
        source = f"{type(self.embedder).__name__}.embed_tokens"
        returned: Any = self.embedder.embed_tokens(texts)
        given: list[Any] = items(returned, source, len(texts) + 1) if gives_items(returned) else []
        if len(given) != len(texts):
            raise InputError(
                f"{source} returned {one_line(shown(returned))} for {len(texts)} texts; expected an array for each, "
                "shape (tokens, dimension)"
            )
        vectors = [_token_vectors(array, source) for array in given]
        if len({array.shape[1] for array in vectors}) > 1:
            raise InputError(
                f"{source} returned arrays of shapes {[array.shape for array in vectors][:3]}; expected (tokens, "
                "dimension), the dimension being the same"
            )
        return vectors

    @cached_property
    def _kept(self) -> "_LeastRecentlyUsed":
        return _LeastRecentlyUsed(self.cache_megabytes * 1_000_000)


def _token_vectors(array: Any, source: str) -> NDArray[np.float32]:
    try:
        numbers = plain_array(array)
    except UNREADABLE as error:
        raise InputError(
            f"{source} returned {one_line(shown(array))}: {said(error)}; expected (tokens, dimension)"
        ) from error
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        told = f"shape {numbers.shape}" if numbers.ndim != 2 and numbers.ndim else one_line(shown(array))
        raise InputError(
            f"{source} returned {told} for a text; expected an array of finite numbers, shape (tokens, dimension)"
        )
    return np.array(numbers, dtype=np.float32)  # a copy: a view would keep its whole batch


def _max_sim(query: NDArray[np.float32], texts: list[NDArray[np.float32]]) -> NDArray[np.float64]:
    if not len(query):
        return np.zeros(len(texts))
    cosines = query @ np.concatenate(texts).T  # one product for all texts: many small ones are several times slower
    ends = np.cumsum([len(text) for text in texts])
    parts = np.split(cosines, ends[:-1], axis=1)
    return np.array([part.max(axis=1).mean(dtype=np.float64) if part.size else -1.0 for part in parts])


class _LeastRecentlyUsed:
    """Arrays by text, as many as fit into so many bytes."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self._arrays: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def get(self, text: str) -> NDArray[np.float32] | None:
        return self._arrays.get(text)

    def put(self, text: str, array: NDArray[np.float32]) -> None:
        """Keep an array as the one used last."""
        old = self._arrays.pop(text, None)
        self.size += array.nbytes - (0 if old is None else old.nbytes)
        self._arrays[text] = array
        while self.size > self.capacity:
            self.size -= self._arrays.popitem(last=False)[1].nbytes
