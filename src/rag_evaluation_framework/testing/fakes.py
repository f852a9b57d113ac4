"""Fakes: components without a model or a search, for tests of what is built around them."""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..base.outside import shown
from ..contracts.component import check_count
from ..contracts.roles import Embedder, Reranker, StableRetriever
from ..data import AnyChunk, Corpus
from ..data.hits import Retrieved
from ..errors import ConfigError, InputError

_WORD = re.compile(r"\w+")
Call: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class HashingEmbedder(Embedder):
    """Embedder without a model: counts of words, each word hashed to one of the dimensions.

    Texts are alike if they share words, in lower case. The vectors are the same in every process and on every machine,
    and nothing has to be fitted, loaded or installed.

    Attributes:
        dimensions: The length of a vector; the fewer, the more words share one.

    Raises:
        ConfigError: `dimensions` is below 1.
    """

    dimensions: int = 512

    def __post_init__(self) -> None:
        check_count("HashingEmbedder", "dimensions", self.dimensions)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the counts of each text: float32, shape (len(texts), dimension); zeros for a text without words."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                vectors[row, zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.dimensions] += 1
        return vectors


@dataclass(frozen=True)
class FixedRetriever(StableRetriever):
    """Retriever that returns given rankings, whatever the corpus, and records its calls.

    It needs no index. Its rankings are prefix-stable: each k returns the first k results.

    Attributes:
        rankings: The results, best first, by question, or one list for every question. A result is whatever a
            retriever may return: a `Hit`, a chunk, a text or a mapping.
        calls: What it was asked, in order: the name of the method, then its arguments, as `("retrieve", "Who?", 5)`.

    Raises:
        ConfigError: `rankings` is neither a mapping nor a list.
    """

    rankings: Mapping[str, Sequence[Any]] | Sequence[Any] = field(default=(), repr=False, hash=False)
    calls: list[Call] = field(default_factory=list[Call], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = cast("object", self.rankings)
        if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
            raise ConfigError(f"FixedRetriever: rankings={shown(given)}; expected a list, or a mapping from questions")

    def index(self, corpus: Corpus) -> None:
        """Record the call."""
        self.calls.append(("index", corpus))

    def prepare(self, queries: Sequence[str]) -> None:
        """Record the call."""
        self.calls.append(("prepare", list(queries)))

    def retrieve(self, query: str, k: int) -> Retrieved:
        """Record the call, and return the first k results of the ranking.

        Raises:
            InputError: There are rankings by question, and none for this one.
        """
        self.calls.append(("retrieve", query, k))
        ranking = self.rankings
        if isinstance(ranking, Mapping):
            if query not in ranking:
                known = ", ".join(map(repr, list(ranking)[:5]))
                raise InputError(f"FixedRetriever: no ranking for {query!r}; there are rankings for {known or 'none'}")
            ranking = ranking[query]
        return list(ranking[:k])

    def close(self) -> None:
        """Record the call."""
        self.calls.append(("close",))


@dataclass(frozen=True)
class ReversingReranker(Reranker):
    """Reranker that turns the order around, and records its calls: it shows whether, and what, a pipeline reranks.

    Attributes:
        calls: What it was asked, in order: the name of the method, then its arguments, as
            `("rerank", "Who?", [...], None)`.
    """

    calls: list[Call] = field(default_factory=list[Call], init=False, repr=False, compare=False)

    def prepare(self) -> None:
        """Record the call."""
        self.calls.append(("prepare",))

    def rerank(self, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
        """Record the call, and return the chunks from last to first, at most `top_k` of them."""
        self.calls.append(("rerank", query, list(chunks), top_k))
        return list(chunks)[::-1][:top_k]
