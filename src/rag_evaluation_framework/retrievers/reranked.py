"""Retrieve and rerank: a reranker around any retriever."""

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_evaluation_framework.base.coroutines import as_finished
from rag_evaluation_framework.base.exits import on_failure
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.components.parts import as_order
from rag_evaluation_framework.components.supported import OwnReranker
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.roles import Reranker, Retriever
from rag_evaluation_framework.data import (
    AnyChunk,
    Chunk,
    ChunkId,
    Corpus,
    DocumentId,
    EvaluationType,
    PositionAwareChunk,
    PositionAwareChunkId,
    generate_chunk_id,
    generate_pa_chunk_id,
)
from rag_evaluation_framework.data.hits import Hit, Ranking, Retrieval, Retrieved, Stage
from rag_evaluation_framework.data.queries import Query, Scope
from rag_evaluation_framework.data.rankings import CANDIDATES, RERANK
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.quotes.hit_locator import HitLocator
from rag_evaluation_framework.registry.building import as_component
from rag_evaluation_framework.retrievers.asking import AroundRetriever, ask, ask_many, unique_name
from rag_evaluation_framework.retrievers.function import Pipeline, as_retriever


class _Index(NamedTuple):
    locator: HitLocator
    paid: dict[str, tuple[Ranking, Ranking]]  # candidates and their order, of questions asked with one that failed


_Place = tuple[DocumentId | None, int | None, int | None, str | None]


@dataclass(frozen=True)
class RerankedRetriever(AroundRetriever[_Index]):
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

        def __init__(
            self,
            retriever: Pipeline,
            reranker: Reranker | OwnReranker,
            candidates: int = 50,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "retriever", as_retriever(self.retriever))
        object.__setattr__(self, "reranker", as_component(Reranker, self.reranker, "RerankedRetriever"))
        check_count("RerankedRetriever", "candidates", self.candidates)

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
        found = ask_many(self.retriever, queries, self.candidates, self._indexed.locator)
        orders = self._orders(queries, [each.hits for each in found])
        return [
            Retrieval(
                order[: max(k, 0)],
                (Stage(CANDIDATES, None, each.hits), Stage(RERANK, None)),
                self._limit(each),
                complete=k >= len(each.hits),
            )
            for order, each in zip(orders, found, strict=True)
        ]

    def _orders(self, queries: Sequence[str], candidates: Sequence[Ranking]) -> list[Ranking]:
        """Return the candidates of each question in the order of the reranker."""
        orders: dict[int, Ranking] = {}

        def order(number: int) -> Ranking:
            return self._reranked(queries[number], candidates[number], len(candidates[number]))

        def keep(_: BaseException) -> None:
            done = {queries[number]: (candidates[number], hits) for number, hits in orders.items()}
            self._indexed.paid.update(done)

        with (
            on_failure(keep),
            closing(as_finished(order, range(len(queries)), self.reranker.max_concurrency)) as finished,
        ):
            orders.update(finished)
        return [orders[number] for number in range(len(queries))]

    def honours(self, scope: Scope) -> bool:
        """Return whether the retriever does."""
        return self.retriever.honours(scope)

    def check(self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType) -> Iterable[str]:
        """Return what the retriever notes on the questions."""
        return self.retriever.check(questions, corpus, evaluation_type)

    @property
    def prefix_stable(self) -> bool:
        """True: the candidates are the same whatever `k` is."""
        return True

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
        waiting: dict[_Place, deque[Hit]] = {}
        for chunk, hit in zip(chunks, candidates, strict=True):
            waiting.setdefault(_place(chunk), deque()).append(replace(hit, score=None))
        hits: list[Hit] = []
        order: Any = self.reranker.rerank(query, [*chunks]) if chunks else []
        for chunk in as_order(order, self.reranker.name, len(chunks)):
            alike = waiting.get(_place(chunk))
            if not alike:
                raise InputError(
                    f"{self.reranker.name} returned {shown(chunk)}, which it was not given, or not so often"
                )
            hits.append(alike.popleft())
        if len(hits) < len(candidates):
            raise InputError(
                f"{self.reranker.name} returned {len(hits)} of {len(candidates)} chunks; expected all of them"
            )
        return tuple(hits[: max(k, 0)])

    def _as_chunk(self, hit: Hit) -> AnyChunk:
        """Return a candidate as a chunk, without a place if it has none."""
        document = None if hit.doc_id is None or hit.doc_id not in self._indexed.locator.corpus else hit.doc_id
        text = hit.text
        if text is None and document is not None:
            text = self._indexed.locator.corpus[document].content[hit.start : hit.end]
        if text is None:
            raise InputError(f"{self.retriever.name} returned a result without text, which cannot be reranked: {hit}")
        if hit.span is None:
            chunk_id = generate_chunk_id(text) if hit.chunk_id is None else ChunkId(hit.chunk_id)
            return Chunk(chunk_id, text, hit.doc_id or DocumentId(""))
        placed_id = generate_pa_chunk_id(text) if hit.chunk_id is None else PositionAwareChunkId(hit.chunk_id)
        return PositionAwareChunk(placed_id, text, hit.span.doc_id, hit.span.start, hit.span.end)


def _place(chunk: AnyChunk) -> _Place:
    hit = Hit.of(chunk)
    return hit.doc_id, hit.start, hit.end, hit.text
