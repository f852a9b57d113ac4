"""Search within scopes: a filter around any retriever that searches all documents."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.contracts.roles import Retriever
from rag_evaluation_framework.data import Corpus, DocumentId
from rag_evaluation_framework.data.hits import Ranking, Retrieval, Retrieved, Stage
from rag_evaluation_framework.data.queries import Query, Scope
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.quotes.hit_locator import HitLocator
from rag_evaluation_framework.retrievers.asking import AroundRetriever, ask
from rag_evaluation_framework.retrievers.engine import engine_in
from rag_evaluation_framework.retrievers.function import Pipeline, as_retriever
from rag_evaluation_framework.retrievers.reranked import RerankedRetriever

_MOST_NAMED = 5
_DEEPEST = 100_000  # that one is asked for which repeats itself, or has hardly any in the scope
_DEEPER = 4  # times as deep, where too few of the results were in the scope


class _Index(NamedTuple):
    locator: HitLocator
    inside: dict[str, frozenset[DocumentId]]  # the documents of each scope, by how it is called


@dataclass(frozen=True)
class ScopedRetriever(AroundRetriever[_Index]):
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
        self._keep(_Index(HitLocator(corpus), {}))

    def retrieve(self, query: str, k: int) -> Retrieved:
        """Return what the retriever finds among all documents."""
        return self.retriever.retrieve(query, k)

    def retrieve_for(self, question: Query, k: int) -> Retrieved:
        """Return the best `k` results that are in the scope of the question."""
        scope = Scope.of(question)
        if not scope:
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
    missed = [scope for scope in narrow if not retriever.honours(scope)]
    if not missed:
        return retriever
    if engine_in(retriever) is not None or not retriever.needs_documents:
        raise DatasetError(
            f"the dataset asks for {_several(map(str, missed))}, which {retriever.name} does not honour: it has an "
            "index of its own. Give an engine whose retrieve(query, top_k, scope, metadata_constraints) does, or ask "
            "without it"
        )
    if isinstance(retriever, RerankedRetriever):  # what is reranked is in the scope already
        return replace(retriever, retriever=within_scopes(retriever.retriever, scopes, corpus))
    return ScopedRetriever(retriever)


def _several(names: Iterable[str]) -> str:
    first = [*islice(dict.fromkeys(names), _MOST_NAMED + 1)]
    return " and ".join([*first[:_MOST_NAMED], *(["others"] if len(first) > _MOST_NAMED else [])])


def _kept(hits: Ranking, inside: frozenset[DocumentId]) -> Ranking:
    return tuple(hit for hit in hits if hit.doc_id in inside)
