"""Hybrid retrieval: several retrievers merged by reciprocal rank fusion."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import fsum, inf
from numbers import Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.components.results import as_chunks
from rag_evaluation_framework.contracts import IndexedRetriever, Retriever, VectorStore
from rag_evaluation_framework.contracts.component import check_count, parameters
from rag_evaluation_framework.data import AnyChunk, Corpus
from rag_evaluation_framework.data.hits import Hit, Ranking, Retrieval, Retrieved, Stage
from rag_evaluation_framework.data.values import items
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.quotes.hit_locator import HitLocator
from rag_evaluation_framework.retrievers.asking import ask, ask_many, unique_name
from rag_evaluation_framework.retrievers.bm25 import BM25Retriever
from rag_evaluation_framework.retrievers.engine import engine_in
from rag_evaluation_framework.retrievers.function import Pipeline, as_retriever
from rag_evaluation_framework.retrievers.vector_rag import VectorRAGRetriever
from rag_evaluation_framework.statistics.nearest import top_k

_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class HybridRetriever(IndexedRetriever[HitLocator]):
    """Asks several retrievers and merges their rankings by reciprocal rank fusion.

    A result is worth the sum, over the rankings it is in, of weight / (rrf_k + rank), ranks counted from 1 (Cormack,
    Clarke & Büttcher 2009). Only ranks count, never scores: cosines and BM25 scores share no unit, and dividing by the
    best score of a ranking would call its first result perfect even where it is poor or alone. So weights are weights
    of ranks, too.

    Results are the same if document, start and end are; results that are texts are located in the corpus first. What
    has no place is the same as the result of the same document and chunk, by the id of its text. A result that a
    ranking has again is left out of it before ranks are counted. Results of equal worth keep the order in which they
    are met, reading the first retriever's ranking first.

    Each retriever is asked for `depth` results, whatever `k` is, so the ranking at `k` is the beginning of the ranking
    at any larger k, and ends, with a note, with what they brought. In `stages`, the last step of each retriever
    keeps its own ranking.

    Attributes:
        retrievers: Whose rankings are merged: retrievers or functions `(query, k) -> results`, at least one.
        weights: How much the rankings count, one number of at least 0 for each retriever; by default all the same.
        rrf_k: How little the first ranks stand out; at least 0.
        depth: How many results of each retriever are merged; at least 1.

    Raises:
        ConfigError: A parameter is out of range, two retrievers keep their vectors in the same store, or one is an
            engine.
    """

    trusted = True  # what its retrievers return and list is read where they are asked

    retrievers: Sequence[Retriever] = field(default_factory=lambda: (BM25Retriever(), VectorRAGRetriever()))
    weights: Sequence[float] | None = None
    rrf_k: int = 60
    depth: int = 100

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(
            self,
            retrievers: Sequence[Pipeline] = ...,
            weights: Sequence[float] | None = None,
            rrf_k: int = 60,
            depth: int = 100,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "retrievers", _checked_retrievers(self.retrievers))
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, len(self.retrievers)))
        check_count("HybridRetriever", "rrf_k", self.rrf_k, least=0)
        check_count("HybridRetriever", "depth", self.depth)

    def index(self, corpus: Corpus) -> None:
        """Let every retriever index the documents."""
        self._keep(None)
        for retriever in self.retrievers:
            retriever.index(corpus)
        self._keep(HitLocator(corpus))

    def prepare(self, queries: Sequence[str]) -> None:
        """Let every retriever prepare for the questions."""
        for retriever in self.retrievers:
            retriever.prepare(queries)

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the `k` results of the highest worth, which is their score."""
        locator = self._indexed
        found = [ask(retriever, query, self.depth, locator) for retriever in self.retrievers]
        start = perf_counter()
        hits = self._fused([retrieval.hits for retrieval in found], k)
        stages = (*self._renamed(found), Stage("fuse", perf_counter() - start))
        return Retrieval(hits, stages, self._limit(found), complete=len(hits) < k)

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return the merged ranking of every question, asking each retriever for all questions together."""
        locator = self._indexed
        found = [ask_many(retriever, queries, self.depth, locator) for retriever in self.retrievers]
        return [
            Retrieval(hits, limit=self._limit(each), complete=len(hits) < k)
            for each in zip(*found, strict=True)
            for hits in [self._fused([retrieval.hits for retrieval in each], k)]
        ]

    @property
    def prefix_stable(self) -> bool:
        """True: what is merged is the same whatever `k` is."""
        return True

    @property
    def most_results(self) -> int:
        """As many as all retrievers bring if no result is in two rankings."""
        return self.depth * len(self.retrievers)

    @property
    def takes_many(self) -> bool:
        """Whether one of the retrievers does."""
        return any(retriever.takes_many for retriever in self.retrievers)

    def _limit(self, found: Sequence[Retrieval]) -> str | None:
        """Return what ends the ranking, if it is not the corpus."""
        if any(len(retrieval.hits) >= self.depth for retrieval in found):
            return f"depth={self.depth} of HybridRetriever"
        return next((retrieval.limit for retrieval in found if retrieval.limit is not None), None)

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return everything that could be retrieved, each once, or None if a retriever cannot list it."""
        listed: dict[_Key, AnyChunk] = {}
        for retriever in self.retrievers:
            chunks = as_chunks(retriever.chunks(), retriever.name, self._indexed.corpus)
            if chunks is None:
                return None
            for chunk in chunks:
                listed.setdefault(Hit.of(chunk).identity, chunk)
        return list(listed.values())

    def close(self) -> None:
        """Close every retriever, also where another one cannot be closed."""
        super().close()
        with ExitStack() as stack:
            for retriever in reversed(self.retrievers):
                stack.callback(retriever.close)

    def _fused(self, rankings: Sequence[Ranking], k: int) -> Ranking:
        merged: dict[_Key, tuple[Hit, list[float]]] = {}
        for weight, ranking in zip(self.weights or (1,) * len(rankings), rankings, strict=True):
            distinct: dict[_Key, Hit] = {}
            for hit in ranking if weight else ():
                distinct.setdefault(hit.identity, hit)
            for rank, (key, hit) in enumerate(distinct.items(), start=1):
                merged.setdefault(key, (hit, []))[1].append(weight / (self.rrf_k + rank))
        scored = [replace(hit, score=fsum(shares)) for hit, shares in merged.values()]
        worths = np.array([hit.score for hit in scored], dtype=np.float64)
        ranked: list[int] = top_k(worths, k).tolist()
        return tuple(scored[number] for number in ranked)

    def _renamed(self, found: Sequence[Retrieval]) -> Iterator[Stage]:
        """Yield the steps of all retrievers, each under the name of its retriever."""
        labels: list[str] = []
        for retriever, retrieval in zip(self.retrievers, found, strict=True):
            labels.append(unique_name(retriever.name.partition("(")[0], labels))
            yield from (replace(stage, name=f"{labels[-1]}/{stage.name}") for stage in retrieval.stages)


def _checked_retrievers(given: Any) -> tuple[Retriever, ...]:
    value: object = given
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise ConfigError(f"HybridRetriever: retrievers={shown(value)}; expected a list of retrievers")
    pipelines = items(given, "HybridRetriever: retrievers")
    if not pipelines:
        raise ConfigError("HybridRetriever: no retrievers; expected at least one")
    retrievers = tuple(map(as_retriever, pipelines))
    engine = next(filter(None, map(engine_in, retrievers)), None)
    if engine is not None:  # questions have scopes, and what was written is deleted by those who know of one engine
        raise ConfigError(
            f"HybridRetriever: {engine.name} is an engine, which is evaluated as a whole; evaluate it on its own, or "
            "merge the rankings inside of it"
        )
    stores = [id(store) for retriever in retrievers for store in _stores(retriever)]
    if len(set(stores)) < len(stores):
        raise ConfigError(
            "HybridRetriever: two retrievers keep their vectors in the same store, and each empties it when it "
            "indexes; give each a store of its own"
        )
    return retrievers


def _stores(component: object) -> Iterator[VectorStore]:
    for value in parameters(component).values():
        inner: Sequence[object] = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        for item in inner:
            if isinstance(item, VectorStore):
                yield item
            elif isinstance(item, Retriever):
                yield from _stores(item)


def _checked_weights(given: Any, count: int) -> tuple[float, ...]:
    value: object = given
    weights: list[Any] = items(given, "HybridRetriever: weights") if isinstance(given, Iterable) else []
    sound = [_is_weight(weight) for weight in weights]
    if len(weights) != count or not all(sound) or not any(weights):
        raise ConfigError(
            f"HybridRetriever: weights={shown(value)}; expected {count} numbers of at least 0, one per retriever, and "
            "not all of them 0"
        )
    return tuple(map(float, weights))


def _is_weight(weight: Any) -> bool:
    return not isinstance(weight, bool) and isinstance(weight, Real) and 0 <= float(weight) < inf
