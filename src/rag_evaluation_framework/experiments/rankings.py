"""Getting rankings: as deep as the cutoffs need, placed in the corpus, cut at budgets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import perf_counter
from typing import Any

from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.locator import TextLocator
from rag_evaluation_framework.retrievers.function import as_hits
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Hit, Ranking, Retrieval, Stage

_FIRST_DEPTH = 10


class HitPlacer:
    """Gives hits their place in the corpus.

    A hit that names a place keeps it, if the corpus has such a place. A hit that brings text is located; of a text that
    stands in several places, each hit of a ranking takes the next free one. What cannot be placed keeps its rank
    without covering anything.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.locator = TextLocator(corpus)
        self.known: dict[tuple[str, str | None], list[CharacterSpan]] = {}

    def place(self, ranking: Ranking) -> Ranking:
        """Return the ranking with every hit placed as far as possible, in unchanged order."""
        taken: set[CharacterSpan] = set()
        placed: list[Hit] = []
        for hit in ranking:
            found = self._placed(hit, taken)
            if found.span is not None:
                taken.add(found.span)
            placed.append(found)
        return tuple(placed)

    def _placed(self, hit: Hit, taken: set[CharacterSpan]) -> Hit:
        if hit.span is not None:
            inside = hit.span.doc_id in self.corpus and hit.span.end <= len(self.corpus[hit.span.doc_id].content)
            return hit if inside else replace(hit, start=None, end=None)
        if hit.text is None:
            return hit
        key = (hit.text, hit.doc_id)
        if key not in self.known:
            self.known[key] = self.locator.places(hit.text, hit.doc_id)
        places = self.known[key]
        place = next((place for place in places if place not in taken), places[0] if places else None)
        return replace(hit, doc_id=place.doc_id, start=place.start, end=place.end) if place else hit

    def text(self, hit: Hit) -> str:
        """Return what the reader of a hit reads."""
        if hit.text is not None:
            return hit.text
        return self.corpus[hit.span.doc_id].content[hit.span.start : hit.span.end] if hit.span else ""


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
    """Asks a retriever for rankings that are deep enough for all cutoffs."""

    def __init__(self, retriever: Retriever, cutoffs: Sequence[Cutoff], placer: HitPlacer, purses: list[Purse]) -> None:
        self.retriever, self.placer, self.purses = retriever, placer, purses
        self.ks = [cutoff for cutoff in cutoffs if not cutoff.is_budget]
        self.depth = max((cutoff.size for cutoff in self.ks), default=_FIRST_DEPTH)
        self.unstable = 0

    def rank(self, query: str) -> Ranked:
        """Return the rankings of one question; whatever the retriever raises is passed on."""
        stable = self.retriever.prefix_stable
        at = {} if stable else {cutoff: self._retrieve(query, cutoff.size).hits for cutoff in self.ks}
        deepest = self._deep_enough(query)
        reached = [purse.depth(deepest.hits) or len(deepest.hits) for purse in self.purses]
        reach = max([*(cutoff.size for cutoff in self.ks), *reached])
        return Ranked(deepest.hits[:reach], at, deepest.stages)

    def _deep_enough(self, query: str) -> Retrieval:
        """Retrieve, at first as deep as the last question needed, until every budget can be spent."""
        depth = self.depth
        found = self._retrieve(query, depth)
        while len(found.hits) == depth and (wanted := max(self._wanted(found.hits), default=0)) > depth:
            before, depth = found.hits, wanted
            found = self._retrieve(query, depth)
            self.unstable += found.hits[: len(before)] != before
        self.depth = depth
        return found

    def _wanted(self, hits: Ranking) -> Iterator[int]:
        """Yield, for each budget that is not spent, a depth at which it should be."""
        for purse in self.purses:
            if purse.depth(hits) is None:
                spent = sum(map(purse.cost, hits))
                yield max(2 * len(hits), ceil(1.2 * len(hits) * purse.cutoff.size / spent) if spent else 0)

    def _retrieve(self, query: str, k: int) -> Retrieval:
        start = perf_counter()
        results: Any = resolved(self.retriever.retrieve(query, k))
        seconds = perf_counter() - start
        stages = results.stages if isinstance(results, Retrieval) else ()
        hits = self.placer.place(as_hits(results, self.retriever.name)[:k])
        return Retrieval(hits, stages or (Stage("retrieve", seconds),))
