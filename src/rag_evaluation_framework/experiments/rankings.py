"""Getting rankings: as deep as the cutoffs need, placed in the corpus, cut at budgets."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from time import perf_counter
from typing import Any

from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.exits import no_exit
from rag_evaluation_framework.ids import ChunkId, DocumentId, canonical_chunk_id
from rag_evaluation_framework.retrievers.function import as_hits
from rag_evaluation_framework.retrievers.placing import HitLocator
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Hit, PositionAwareChunk, Ranking, Retrieval, Stage

_FIRST_DEPTH = 10
_STEEPEST = 8  # results that cost next to nothing must not send the retriever down without bound
_DEEPEST = 10_000


def listed_chunks(retriever: Retriever) -> Sequence[PositionAwareChunk] | None:
    """Return everything that a retriever could return, or None if it cannot list that.

    Raises:
        ConfigError: It lists something else than chunks.
    """
    with no_exit(retriever.name, "chunks"):
        given: Any = resolved(retriever.chunks())
    if given is None:
        return None
    chunks: tuple[Any, ...] = tuple(given)
    for chunk in chunks:
        if not isinstance(chunk, PositionAwareChunk):
            raise ConfigError(f"{retriever.name} lists {chunk!r:.80} as a chunk; wanted a PositionAwareChunk")
    return chunks


class HitPlacer(HitLocator):
    """Gives hits their place in the corpus, and knows what their reader reads.

    A hit that brings nothing but the id of a chunk is looked up among those that the retriever lists. What cannot be
    placed keeps its rank, and its text counts as retrieved and not relevant.
    """

    def __init__(self, corpus: Corpus, retriever: Retriever) -> None:
        super().__init__(corpus)
        self.retriever = retriever

    def _places(self, hit: Hit, doc_id: DocumentId | None) -> Sequence[CharacterSpan]:
        if hit.text is not None or hit.chunk_id is None:
            return super()._places(hit, doc_id)
        named = self.chunks.get(canonical_chunk_id(hit.chunk_id), ())
        return [span for span in named if doc_id in (None, span.doc_id)]

    @cached_property
    def chunks(self) -> dict[ChunkId, list[CharacterSpan]]:
        """The places of the chunks that the retriever lists, by their ids; it has indexed the corpus."""
        places: dict[ChunkId, list[CharacterSpan]] = defaultdict(list)
        for chunk in listed_chunks(self.retriever) or ():
            places[canonical_chunk_id(chunk.id)].append(CharacterSpan(chunk.doc_id, chunk.start, chunk.end))
        return dict(places)

    def text(self, hit: Hit) -> str:
        """Return what the reader of a hit reads: its text, or that of its place if it brings less than that.

        Of a hit that names a document and neither place nor text, the reader reads the whole document.
        """
        if hit.text is None and hit.span is None:
            return "" if hit.doc_id is None or hit.doc_id not in self.corpus else self.corpus[hit.doc_id].content
        there = self._there(hit)
        return there if hit.text is None or len(hit.text) < len(there) else hit.text

    def original(self, hit: Hit) -> str:
        """Return the text of the corpus where a hit stands; without a place, what it brings."""
        return self._there(hit) if hit.span is not None else hit.text or ""

    def has_text(self, hit: Hit) -> bool:
        """Return whether it is known what the reader of a hit reads."""
        return hit.text is not None or hit.span is not None or hit.doc_id in self.corpus

    def contradicts(self, hit: Hit) -> bool:
        """Return whether a placed hit names a place that reads other than its text, white space aside."""
        there = self._there(hit)
        return hit.span is not None and hit.text not in (None, there) and str(hit.text).split() != there.split()

    def _there(self, hit: Hit) -> str:
        if hit.doc_id is None or hit.start is None or hit.end is None:
            return ""
        return self.corpus[hit.doc_id].content[hit.start : hit.end]


class Purse:
    """Spends a context budget on a ranking."""

    def __init__(self, cutoff: Cutoff, tokenizer: Tokenizer | None, placer: HitPlacer) -> None:
        self.cutoff = cutoff
        self.tokenizer = tokenizer if cutoff.unit == "tok" else None
        self.placer = placer
        self.costs: dict[str, int] = {}

    def cost(self, hit: Hit) -> int:
        """Return what a hit costs, in the unit of the budget."""
        text = self.placer.text(hit)
        if self.tokenizer is None:
            return len(text)
        if text not in self.costs:
            self.costs[text] = self.tokenizer.count(text)
        return self.costs[text]

    def spend(self, ranking: Ranking) -> Ranking:
        """Return the beginning of the ranking that the budget buys, the last hit cut or, if `whole`, left out."""
        left = self.cutoff.size
        bought: list[Hit] = []
        for hit in ranking:
            if left == 0:
                break
            cost = self.cost(hit)
            if cost > left:
                if not self.cutoff.whole:
                    bought.append(self._cut(hit, left))
                break
            bought.append(hit)
            left -= cost
        return tuple(bought)

    def depth(self, ranking: Ranking) -> int | None:
        """Return how many hits the budget reaches, or None if the ranking ends before it is spent."""
        total = 0
        for number, hit in enumerate(ranking, start=1):
            total += self.cost(hit)
            if total >= self.cutoff.size:
                return number
        return None

    def _cut(self, hit: Hit, left: int) -> Hit:
        text = self.placer.text(hit)
        if hit.text is None and hit.span is None:
            return hit
        length = left if self.tokenizer is None else self.tokenizer.cut(text, left)
        if hit.start is None or hit.end is None:
            return replace(hit, text=text[:length])
        return replace(hit, text=text[:length], end=min(hit.end, hit.start + length))


@dataclass(frozen=True)
class Ranked:
    """The rankings of one question.

    Attributes:
        hits: The deepest ranking, as far as any cutoff reaches.
        at: The ranking of each k on its own, of a retriever that is not prefix-stable; else empty.
        stages: How long each step of the (last) retrieval took.
    """

    hits: Ranking
    at: dict[Cutoff, Ranking]
    stages: tuple[Stage, ...]


class RankingSource:
    """Asks a retriever for rankings that are deep enough for all cutoffs.

    Attributes:
        depth: The most results that were asked for.
        unstable: How many rankings changed at the top when more results were asked for.
        unspent: How many rankings ended before every budget was spent that the corpus has enough text for.
    """

    def __init__(self, retriever: Retriever, cutoffs: Sequence[Cutoff], placer: HitPlacer, purses: list[Purse]) -> None:
        self.retriever, self.placer, self.purses = retriever, placer, purses
        self.ks = [cutoff for cutoff in cutoffs if not cutoff.is_budget]
        self.largest = max(self.ks, key=lambda cutoff: cutoff.size, default=Cutoff(_FIRST_DEPTH))
        self.depth = self.largest.size
        self.unstable = self.unspent = 0
        self.characters = sum(len(document.content) for document in placer.corpus)

    def rank(self, query: str) -> Ranked:
        """Return the rankings of one question; whatever the retriever raises is passed on."""
        first = self._retrieve(query, self.largest.size)
        deepest = self._deep_enough(query, first)
        at: dict[Cutoff, Ranking] = {}
        if not self.retriever.prefix_stable:
            at = {cutoff: self._retrieve(query, cutoff.size).hits for cutoff in self.ks if cutoff != self.largest}
            at[self.largest] = first.hits
        elif deepest.hits[: len(first.hits)] != first.hits:
            self.unstable += 1
            at = dict.fromkeys(self.ks, first.hits)
        reached = [purse.depth(deepest.hits) for purse in self.purses]
        self.unspent += any(
            depth is None and purse.cutoff.size <= self.characters
            for depth, purse in zip(reached, self.purses, strict=True)
        )
        reach = max([self.largest.size, *(len(deepest.hits) if depth is None else depth for depth in reached)])
        return Ranked(deepest.hits[:reach], at, deepest.stages)

    def _deep_enough(self, query: str, found: Retrieval) -> Retrieval:
        """Ask for more results until every budget can be spent, or no more come."""
        asked = self.largest.size
        while (wanted := max(self._wanted(found.hits), default=0)) > asked:
            before, asked = len(found.hits), wanted
            found = self._retrieve(query, asked)
            if len(found.hits) <= before:
                break
        self.depth = max(self.depth, asked)
        return found

    def _wanted(self, hits: Ranking) -> Iterator[int]:
        """Yield, for each budget that is not spent, a depth at which it should be; none if nobody knows the texts."""
        if not any(map(self.placer.has_text, hits)):
            return
        for purse in self.purses:
            spent = sum(map(purse.cost, hits))
            if spent < purse.cutoff.size and len(hits) < _DEEPEST:
                estimate = ceil(1.2 * len(hits) * purse.cutoff.size / max(spent, 1))
                yield min(max(2 * len(hits), estimate), _STEEPEST * len(hits), _DEEPEST)

    def _retrieve(self, query: str, k: int) -> Retrieval:
        start = perf_counter()
        results: Any = resolved(self.retriever.retrieve(query, k))
        seconds = perf_counter() - start
        stages = results.stages if isinstance(results, Retrieval) else ()
        hits = self.placer.place(as_hits(results, self.retriever.name)[:k])
        return Retrieval(hits, stages or (Stage("retrieve", seconds),))
