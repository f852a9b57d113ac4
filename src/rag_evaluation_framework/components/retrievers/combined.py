"""Retrievers that are made of others: fused, reranked, and searched within scopes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import chain, count
from math import fsum, inf
from numbers import Real
from operator import attrgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ...adapt.adapt import OwnReranker
from ...adapt.results import as_chunks, as_listed, as_retrieval, one_each
from ...base.coroutines import as_finished
from ...base.notes import note
from ...base.outside import first_of, grouped, shown
from ...contracts.component import check_count
from ...contracts.registry.building import as_component
from ...contracts.roles import IndexedRetriever, IndexT, Reranker, Retriever, StableRetriever, VectorStore
from ...data import AnyChunk, Chunk, ChunkId, Corpus, DocumentId, EvaluationType, PositionAwareChunk
from ...data.hits import Hit, Ranking, Retrieval, Retrieved, Stage
from ...data.ids import PositionAwareChunkId, generate_chunk_id, generate_pa_chunk_id
from ...data.queries import Query, Scope
from ...data.rankings import CANDIDATES, RERANK
from ...data.values import gives_items, items
from ...errors import ConfigError, DatasetError, InputError, UnreadableAnswer
from ...labels.hit_locator import HitLocator
from ...statistics.nearest import top_k
from .bm25 import BM25Retriever
from .engine import engine_in, parts_of
from .function import Pipeline, as_retriever
from .vector_rag import VectorRAGRetriever

# Asking the retrievers that a retriever is made of, and naming their stages.


def ask(retriever: Retriever, question: str | Query, k: int, locator: HitLocator) -> Retrieval:
    """Return what a retriever finds: at most `k` hits with their places, which its last stage keeps as its own."""
    start = perf_counter()
    answer = retriever.retrieve(question, k) if isinstance(question, str) else retriever.retrieve_for(question, k)
    found = as_retrieval(answer, retriever.name, k, start)
    seconds = perf_counter() - start
    hits = _placed(retriever, found.hits, locator)
    *earlier, last = found.stages or (Stage("retrieve", seconds),)
    return Retrieval(hits, (*earlier, replace(last, hits=hits)), found.limit)


def ask_many(retriever: Retriever, queries: Sequence[str], k: int, locator: HitLocator) -> list[Retrieval]:
    """Return one retrieval per question, of at most `k` hits with their places; without stages.

    Raises:
        InputError: The retriever returned more or fewer rankings than there are questions.
    """
    name = retriever.name
    rankings = one_each(retriever.retrieve_many(queries, k), len(queries), f"{name}.retrieve_many")
    found = [as_retrieval(ranking, name, k) for ranking in rankings]
    return [Retrieval(_placed(retriever, each.hits, locator), limit=each.limit) for each in found]


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number behind it if it is taken."""
    return next(free for free in chain([name], (f"{name} {number}" for number in count(2))) if free not in taken)


def _placed(retriever: Retriever, found: Ranking, locator: HitLocator) -> Ranking:
    if all(hit.is_in(locator.corpus) for hit in found):
        return found
    placed = locator.place(found)
    if any(new.text in locator.ambiguous for old, new in zip(found, placed, strict=True) if new.span != old.span):
        note(
            f"{retriever.name}: texts that occur more than once were found; the first free place was taken. Let it "
            "return doc_id, or doc_id, start and end, to be sure"
        )
    return placed


# What retrievers around another one have in common.


class AroundRetriever(IndexedRetriever[IndexT]):
    """A retriever around another one, its `retriever`, which has the documents and is asked."""

    retriever: Retriever

    @property
    def rewrites_texts(self) -> bool:
        """As the retriever says."""
        return self.retriever.rewrites_texts

    @property
    def needs_documents(self) -> bool:
        """Whether the retriever does."""
        return self.retriever.needs_documents

    def honours(self, scope: Scope) -> bool:
        """Return whether the retriever does."""
        return self.retriever.honours(scope)

    def check(
        self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType, k: int
    ) -> Iterable[str]:
        """Return what the retriever notes on the questions."""
        return self.retriever.check(questions, corpus, evaluation_type, k)

    def prepare(self, queries: Sequence[str]) -> None:
        """Let the retriever prepare for the questions."""
        self.retriever.prepare(queries)

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return everything that could be retrieved, or None if that cannot be listed."""
        return self.retriever.chunks()

    def close(self) -> None:
        """Close the retriever."""
        super().close()
        self.retriever.close()


# Hybrid retrieval: several retrievers merged by reciprocal rank fusion.

_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class HybridRetriever(StableRetriever, IndexedRetriever[HitLocator]):
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

    @property
    def rewrites_texts(self) -> bool:
        """Whether any of its retrievers does."""
        return any(retriever.rewrites_texts for retriever in self.retrievers)

    def check(
        self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType, k: int
    ) -> Iterable[str]:
        """Return what the retrievers note on the questions, each of which is asked for `depth` results."""
        del k
        return chain.from_iterable(
            retriever.check(questions, corpus, evaluation_type, self.depth) for retriever in self.retrievers
        )

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
        return self._answer(query, k)

    def retrieve_for(self, question: Query, k: int) -> Retrieval:
        """Return the same for the question, where a retriever reads more of it than its text."""
        return self.retrieve(question.text, k) if self._read_texts else self._answer(question, k)

    def _answer(self, question: str | Query, k: int) -> Retrieval:
        locator = self._indexed
        found = [ask(retriever, question, self.depth, locator) for retriever in self.retrievers]
        start = perf_counter()
        fused = self._fused(found, k)
        return replace(fused, stages=(*self._renamed(found), Stage("fuse", perf_counter() - start)))

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return the merged ranking of every question, asking each retriever for all questions together."""
        locator = self._indexed
        found = [ask_many(retriever, queries, self.depth, locator) for retriever in self.retrievers]
        return [self._fused(each, k) for each in zip(*found, strict=True)]

    @property
    def most_results(self) -> int:
        """As many as all retrievers bring if no result is in two rankings."""
        return self.depth * len(self.retrievers)

    @property
    def takes_many(self) -> bool:
        """Whether one of the retrievers does, and none reads more of a question than its text."""
        return self._read_texts and any(retriever.takes_many for retriever in self.retrievers)

    @property
    def _read_texts(self) -> bool:
        return all(each.takes_many or type(each).retrieve_for is Retriever.retrieve_for for each in self.retrievers)

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return everything that could be retrieved, each once, or None if a retriever cannot list it."""
        listed: dict[_Key, AnyChunk] = {}
        for retriever in self.retrievers:
            chunks = as_listed(retriever.chunks(), retriever.name)
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

    def _fused(self, found: Sequence[Retrieval], k: int) -> Retrieval:
        """Return the merged ranking, without stages, and what ends it, if it is not the corpus."""
        merged: dict[_Key, tuple[Hit, list[float]]] = {}
        for weight, retrieval in zip(self.weights or (1,) * len(found), found, strict=True):
            distinct: dict[_Key, Hit] = {}
            for hit in retrieval.hits if weight else ():
                distinct.setdefault(hit.identity, hit)
            for rank, (key, hit) in enumerate(distinct.items(), start=1):
                merged.setdefault(key, (hit, []))[1].append(weight / (self.rrf_k + rank))
        scored = [replace(hit, score=fsum(shares)) for hit, shares in merged.values()]
        worths = np.array([hit.score for hit in scored], dtype=np.float64)
        ranked: list[int] = top_k(worths, k).tolist()
        is_cut = any(len(retrieval.hits) >= self.depth for retrieval in found)
        own = f"depth={self.depth} of HybridRetriever" if is_cut else None
        limit = next(filter(None, (own, *(retrieval.limit for retrieval in found))), None)
        return Retrieval(tuple(scored[number] for number in ranked), limit=limit, complete=len(ranked) < k)

    def _renamed(self, found: Sequence[Retrieval]) -> Iterator[Stage]:
        """Yield the steps of all retrievers, each under the name of its retriever."""
        labels: list[str] = []
        for retriever, retrieval in zip(self.retrievers, found, strict=True):
            labels.append(unique_name(retriever.name.partition("(")[0], labels))
            yield from (replace(stage, name=f"{labels[-1]}/{stage.name}") for stage in retrieval.stages)


def _checked_retrievers(given: Any) -> tuple[Retriever, ...]:
    value: object = given
    pipelines = items(given, "HybridRetriever: retrievers") if gives_items(given, str, Mapping) else []
    if not pipelines:
        raise ConfigError(f"HybridRetriever: retrievers={shown(value)}; expected a list of at least one retriever")
    retrievers = tuple(map(as_retriever, pipelines))
    # Questions have scopes, and what was written is deleted by those who know of one engine.
    if engine := next(filter(None, map(engine_in, retrievers)), None):
        raise ConfigError(
            f"HybridRetriever: {engine.name} is an engine, which is evaluated as a whole; evaluate it on its own, or "
            "merge the rankings inside of it"
        )
    stores = [id(store) for retriever in retrievers for store in parts_of(retriever, VectorStore)]
    if len(set(stores)) < len(stores):
        raise ConfigError(
            "HybridRetriever: two retrievers keep their vectors in the same store, and each empties it when it "
            "indexes; give each a store of its own"
        )
    return retrievers


def _checked_weights(given: Any, count: int) -> tuple[float, ...]:
    value: object = given
    weights: list[Any] = items(given, "HybridRetriever: weights") if gives_items(given) else []
    numbers = [float(each) if not isinstance(each, bool) and isinstance(each, Real) else inf for each in weights]
    if len(numbers) != count or not all(0 <= number < inf for number in numbers) or not any(numbers):
        raise ConfigError(
            f"HybridRetriever: weights={shown(value)}; expected {count} numbers of at least 0, one per retriever, and "
            "not all of them 0"
        )
    return tuple(numbers)


# Retrieve and rerank: a reranker around any retriever.

_told = attrgetter("doc_id", "start", "end", "text")  # by what chunks are told apart: copies may have another id


class _Index(NamedTuple):
    locator: HitLocator
    paid: dict[str, tuple[Ranking, Ranking]]  # candidates and their order, of questions asked with one that failed


@dataclass(frozen=True)
class RerankedRetriever(StableRetriever, AroundRetriever[_Index]):
    """Retrieves candidates and lets a reranker put them into another order.

    The number of candidates is one number for the whole run, whatever `k` is. So the ranking at `k` is the beginning of
    the ranking at any larger k, and ends, with a note, where the candidates end. In `stages`, the last step before
    `rerank` keeps the candidates in their first order: the beginning of it is the ranking without the reranker. Of many
    questions at once the step `candidates` keeps them, without seconds.

    Results that are texts are located in the corpus first. One that has no place is reranked by its text, one that
    has no text by the text of its place or, without a place, by its document. Results have no score: a reranker returns
    an order.

    Attributes:
        retriever: What finds the candidates: a retriever or a function `(query, k) -> results`.
        reranker: What orders them: a reranker or a function `(query, texts) -> scores`.
        candidates: How many results are reranked; at least 1.

    Raises:
        ConfigError: `candidates` is below 1, or a component is of another kind.
    """

    retriever: Retriever
    reranker: Reranker
    candidates: int = 50

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(self, retriever: Pipeline, reranker: Reranker | OwnReranker, candidates: int = 50) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "retriever", as_retriever(self.retriever))
        object.__setattr__(self, "reranker", as_component(Reranker, self.reranker, "RerankedRetriever"))
        check_count("RerankedRetriever", "candidates", self.candidates)

    def check(
        self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType, k: int
    ) -> Iterable[str]:
        """Return what the retriever notes on the questions, for each of which it is asked for the candidates."""
        del k
        return super().check(questions, corpus, evaluation_type, self.candidates)

    def index(self, corpus: Corpus) -> None:
        """Let the retriever index the documents, and the reranker load what it needs."""
        self._keep(None)
        self.retriever.index(corpus)
        self.reranker.prepare()
        self._keep(_Index(HitLocator(corpus), {}))

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the first `k` candidates in the order of the reranker.

        Raises:
            InputError: A candidate has no text, or the reranker lost or made up a chunk.
        """
        return self._answer(query, query, k)

    def retrieve_for(self, question: Query, k: int) -> Retrieval:
        """Return the same of the candidates for the question, where the retriever reads more of it than its text."""
        if type(self.retriever).retrieve_for is Retriever.retrieve_for:
            return self.retrieve(question.text, k)
        return self._answer(question, question.text, k)

    def _answer(self, question: str | Query, query: str, k: int) -> Retrieval:
        found = ask(self.retriever, question, self.candidates, self._indexed.locator)
        start = perf_counter()
        candidates, hits = self._indexed.paid.pop(query, ((), ()))
        is_known = bool(hits) and candidates == found.hits
        hits = hits[: max(k, 0)] if is_known else self._reranked(query, found.hits, k)
        name = unique_name(RERANK, [stage.name for stage in found.stages])
        stages = (*found.stages, Stage(name, None if is_known else perf_counter() - start))
        return Retrieval(hits, stages, self._limit(found), complete=k >= len(found.hits))

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return the reranked candidates of every question; the retriever is asked for all questions together.

        What was reranked before a question failed may have been paid for: it is kept until its question is asked alone.
        """
        locator, paid = self._indexed
        found = ask_many(self.retriever, queries, self.candidates, locator)
        orders: dict[int, Ranking] = {}

        def order(number: int) -> Ranking:
            return self._reranked(queries[number], found[number].hits, len(found[number].hits))

        with closing(as_finished(order, range(len(queries)), self.reranker.max_concurrency)) as finished:
            for number, hits in finished:
                orders[number], paid[queries[number]] = hits, (found[number].hits, hits)
        paid.clear()
        return [
            Retrieval(
                orders[number][: max(k, 0)],
                (Stage(CANDIDATES, None, each.hits), Stage(RERANK, None)),
                self._limit(each),
                complete=k >= len(each.hits),
            )
            for number, each in enumerate(found)
        ]

    @property
    def most_results(self) -> int:
        """The number of candidates."""
        return self.candidates

    @property
    def takes_many(self) -> bool:
        """Whether the retriever does."""
        return self.retriever.takes_many

    def _limit(self, found: Retrieval) -> str | None:
        """Return what ends the ranking, if it is not the corpus."""
        if len(found.hits) >= self.candidates:
            return f"candidates={self.candidates} of RerankedRetriever"
        return found.limit

    def _reranked(self, query: str, candidates: Ranking, k: int) -> Ranking:
        chunks = [self._as_chunk(hit) for hit in candidates]
        waiting = grouped(zip((_told(Hit.of(chunk)) for chunk in chunks), candidates, strict=True))
        hits: list[Hit] = []
        order: Any = self.reranker.rerank(query, [*chunks]) if chunks else []
        name, expected = self.reranker.name, "the chunks that it was given, best first"
        listed = as_chunks(order, name, expected, len(chunks) + 1, (Mapping, Set))
        if len(listed) > len(chunks):
            raise UnreadableAnswer(f"{name} returned more than the {len(chunks)} chunks that it was given")
        for chunk in listed:
            if not (alike := waiting.get(_told(Hit.of(chunk)))):
                raise InputError(f"{name} returned {shown(chunk)}, which it was not given, or not so often")
            hits.append(replace(alike.pop(0), score=None))
        if len(hits) < len(candidates):
            raise InputError(f"{name} returned {len(hits)} of {len(candidates)} chunks; expected all of them")
        return tuple(hits[: max(k, 0)])

    def _as_chunk(self, hit: Hit) -> AnyChunk:
        """Return a candidate as a chunk, without a place if it has none."""
        corpus, text = self._indexed.locator.corpus, hit.text
        if text is None and hit.doc_id is not None and hit.doc_id in corpus:
            text = corpus[hit.doc_id].content[hit.start : hit.end]
        if text is None:
            raise InputError(f"{self.retriever.name} returned a result without text, which cannot be reranked: {hit}")
        if hit.span is None:
            return Chunk(ChunkId(hit.chunk_id or generate_chunk_id(text)), text, hit.doc_id or DocumentId(""))
        placed_id = PositionAwareChunkId(hit.chunk_id or generate_pa_chunk_id(text))
        return PositionAwareChunk(placed_id, text, hit.span.doc_id, hit.span.start, hit.span.end)


# Search within scopes: a filter around any retriever that searches all documents.

_MOST_NAMED = 5
_DEEPEST = 100_000  # that one is asked for which repeats itself, or has hardly any in the scope
_DEEPER = 4  # times as deep, where too few of the results were in the scope


class _Scopes(NamedTuple):
    locator: HitLocator
    inside: dict[str, frozenset[DocumentId]]  # the documents of each scope, by how it is called


@dataclass(frozen=True)
class ScopedRetriever(AroundRetriever[_Scopes]):
    """Searches all documents, and keeps what is in the scope of the question: one index with a filter over it.

    The retriever is asked for more until enough of what it finds is in the scope, so ranks and scores are those of the
    whole index. A question without a scope gets what the retriever finds.

    Attributes:
        retriever: What searches: a retriever or a function `(query, k) -> results`.

    Raises:
        ConfigError: It is neither.
    """

    retriever: Retriever

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(self, retriever: Pipeline) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "retriever", as_retriever(self.retriever))

    @property
    def name(self) -> str:
        """The name of the retriever: the scope is that of the question."""
        return self.retriever.name

    def honours(self, scope: Scope) -> bool:
        """Return True: any scope."""
        del scope
        return True

    def index(self, corpus: Corpus) -> None:
        """Let the retriever index all documents."""
        self._keep(None)
        self.retriever.index(corpus)
        self._keep(_Scopes(HitLocator(corpus), {}))

    def retrieve(self, query: str, k: int) -> Retrieved:
        """Return what the retriever finds among all documents."""
        return self.retriever.retrieve(query, k)

    def retrieve_for(self, question: Query, k: int) -> Retrieved:
        """Return the best `k` results that are in the scope of the question."""
        if not (scope := Scope.of(question)):
            return self.retriever.retrieve_for(question, k)
        inside, depth, earlier = self._inside(scope), k, list[Stage]()
        while True:
            found = ask(self.retriever, question, depth, self._indexed.locator)
            hits = _kept(found.hits, inside)
            ended = len(found.hits) < depth
            if ended or len(hits) >= k or depth >= _DEEPEST:
                if not ended and len(hits) < k:
                    note(f"{self.name} found too few results in a scope among the first {depth:,}, its limit")
                stages = (
                    stage if stage.hits is None else replace(stage, hits=_kept(stage.hits, inside))
                    for stage in found.stages
                )
                return Retrieval(hits[:k], (*earlier, *stages), found.limit if len(hits) < k else None, ended)
            earlier += (Stage(stage.name, stage.seconds) for stage in found.stages)  # its time is of this question, too
            depth = min(depth * _DEEPER, _DEEPEST)

    @property
    def prefix_stable(self) -> bool | None:
        """Whether the retriever is."""
        return self.retriever.prefix_stable

    def _inside(self, scope: Scope) -> frozenset[DocumentId]:
        known = self._indexed.inside
        if repr(scope) not in known:
            corpus = self._indexed.locator.corpus
            known[repr(scope)] = frozenset(document.id for document in corpus if scope.holds(document))
        return known[repr(scope)]


def within_scopes(retriever: Retriever, scopes: Collection[Scope], corpus: Corpus) -> Retriever:
    """Return a retriever that honours these scopes: itself if it does, else a filter around it.

    A scope that all documents are in takes nothing away, and needs nobody to honour it.

    Raises:
        DatasetError: It has an index of its own, which cannot be filtered here.
    """
    narrow = [scope for scope in scopes if not len(corpus) or not all(map(scope.holds, corpus))]
    if not (missed := [scope for scope in narrow if not retriever.honours(scope)]):
        return retriever
    if engine_in(retriever) is not None or not retriever.needs_documents:
        raise DatasetError(
            f"the dataset asks for {first_of(dict.fromkeys(map(str, missed)), _MOST_NAMED)}, which {retriever.name} "
            "does not honour: it has an index of its own. Give an engine whose retrieve(query, top_k, scope, "
            "metadata_constraints) does, or ask without it"
        )
    if isinstance(retriever, RerankedRetriever):  # what is reranked is in the scope already
        return replace(retriever, retriever=within_scopes(retriever.retriever, scopes, corpus))
    return ScopedRetriever(retriever)


def _kept(hits: Ranking, inside: frozenset[DocumentId]) -> Ranking:
    return tuple(hit for hit in hits if hit.doc_id in inside)
