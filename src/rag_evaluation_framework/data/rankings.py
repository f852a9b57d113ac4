"""Rankings: what was found for every query, as deep as any cutoff reaches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.hits import Ranking, Stage
from rag_evaluation_framework.data.queries import Query


@dataclass(frozen=True)
class QueryRanking:
    """What was found for one query.

    Attributes:
        query: What was asked.
        hits: Best first, as deep as any cutoff reaches; empty if the retrieval failed.
        at: The ranking of a cutoff where it is not the beginning of `hits`: of a retriever that is not prefix-stable.
        stages: How long each step of the (last) retrieval took.
        failure: What went wrong, or None.
        exhausted: Whether the retriever had nothing more, so that `hits` is exact at any depth.
    """

    query: Query
    hits: Ranking = ()
    at: Mapping[Cutoff, Ranking] = field(default_factory=dict[Cutoff, Ranking])
    stages: tuple[Stage, ...] = ()
    failure: Failure | None = None
    exhausted: bool = True

    def first(self, cutoff: Cutoff) -> Ranking:
        """Return the first k results, k being the size of the cutoff."""
        return self.at.get(cutoff, self.hits)[: cutoff.size]


@dataclass(frozen=True)
class Rankings:
    """The rankings of many queries, made by one retriever over one corpus.

    Attributes:
        entries: One per query, in the order in which they were given.
        corpus: The documents in which hits have their places.
        retriever: The name of the retriever.
        chunks: Everything that could be retrieved, or None if the retriever cannot list it.
        cutoffs: Those that the rankings were made for; none if they were made elsewhere.
        depth: The most results that were asked for.
        seconds: How long indexing and retrieving took.
        calls: How many rankings the retriever was asked for.
        timed: How many questions were asked one at a time, so that their stages tell the latency.
        prepared: Whether the retriever was told all questions before.
        tokenizer: What counted tokens for budgets in tokens, or None; compared by equality.
        notes: What the user should know about how the rankings were made.
    """

    entries: tuple[QueryRanking, ...]
    corpus: Corpus
    retriever: str = "rankings"
    chunks: Sequence[PositionAwareChunk] | None = None
    cutoffs: tuple[Cutoff, ...] = ()
    depth: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    calls: int = 0
    timed: int = 0
    prepared: bool = False
    tokenizer: object | None = None
    notes: tuple[str, ...] = ()

    @property
    def latency(self) -> str:
        """How the stages of questions were measured."""
        some = "1 question, alone" if self.timed == 1 else f"{self.timed} questions, one at a time"
        return ("one question at a time" if self.timed == len(self) else some) + (
            ", what can be done for all together done before" if self.prepared else ""
        )

    def __iter__(self) -> Iterator[QueryRanking]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        failed = sum(entry.failure is not None for entry in self.entries)
        hits = sum(len(entry.hits) for entry in self)
        return f"Rankings(queries: {len(self)}, hits: {hits}, failed: {failed})"
