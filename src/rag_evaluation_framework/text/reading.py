"""Text that a reader of rankings reads: every hit's text, cut at a context budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ..contracts.roles import Tokenizer
from ..data import AnyChunk, CharacterSpan, Corpus, Cutoff, Rankings
from ..data.columns import Integers, Numbers
from ..data.hits import Coded, Hit, HitTable, RankedHits, Ranking
from ..errors import ConfigError

_STEEPEST = 100  # results that cost next to nothing must not send the retriever down without bound
_DEEPEST = 10_000
_SHALLOW = 10  # so many results cost next to nothing
_TELLING = 5  # so many results of unknown length tell that others have none either


class HitReader:
    """Reads hits in their corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def text(self, hit: Hit) -> str:
        """Return what the reader of a hit reads: its text, or that of its place if it brings less than that."""
        there = self._there(hit)
        return there if hit.text is None or len(hit.text) < len(there) else hit.text

    def length(self, hit: Hit) -> int:
        """Return how many characters the reader of a hit reads."""
        if hit.doc_id is None or hit.start is None or hit.end is None:
            return len(self.text(hit))
        return hit.end - hit.start if hit.text is None else max(hit.end - hit.start, len(hit.text))

    def lengths(self, hits: HitTable) -> Integers:
        """Return how many characters the reader of each hit reads, 0 where that is not known; shape (hits,)."""
        return np.maximum(np.where(hits.placed, hits.end - hits.start, 0), hits.text.numbers(len))

    def before(self, hit: Hit) -> int:
        """Return how many characters the reader of a hit reads before the text of its place.

        Of a text that does not hold that of its place, that is all it has more.
        """
        there, text = self._there(hit), self.text(hit)
        found = text.find(there)
        return found if found >= 0 else len(text) - len(there)

    def original(self, hit: Hit) -> str:
        """Return the text of the corpus at the place of a hit; without a place, what the hit brings."""
        return self._there(hit) if hit.placed else hit.text or ""

    def span(self, span: CharacterSpan) -> CharacterSpan:
        """Return a span with the text of the corpus; as it is, if it is empty or its document is not there."""
        if span.doc_id not in self.corpus or span.start == span.end:
            return span
        return replace(span, text=self.corpus[span.doc_id].content[span.start : span.end])

    def has_text(self, hit: Hit) -> bool:
        """Return whether it is known what the reader of a hit reads."""
        return hit.text is not None or hit.placed

    def with_documents(self, hits: HitTable) -> HitTable:
        """Return the hits, those that have nothing but a document placed: they are the whole document."""
        lengths = hits.doc_id.numbers(lambda doc_id: len(self.corpus[doc_id].content) if doc_id in self.corpus else -1)
        known = hits.text.known | hits.chunk_id.known | (hits.start >= 0) | (hits.end >= 0)
        whole = hits.doc_id.known & (lengths >= 0) & ~known
        return replace(hits, start=np.where(whole, 0, hits.start), end=np.where(whole, lengths, hits.end))

    def contradicts(self, hit: Hit) -> bool:
        """Return whether a hit names a place whose text differs from its own in more than white space."""
        if hit.text is None or not hit.placed:
            return False
        there = self._there(hit)
        return hit.text != there and "".join(hit.text.split()) != "".join(there.split())

    def _there(self, hit: Hit) -> str:
        if hit.doc_id is None or hit.start is None or hit.end is None:
            return ""
        return self.corpus[hit.doc_id].content[hit.start : hit.end]


@dataclass(frozen=True, eq=False)
class Context:
    """Text of rankings within a budget.

    Attributes:
        hits: The beginning of each ranking that fits, without the hits of which nothing was bought.
        begins: What was spent before the first character of each hit's place was read (of its text, if it has no
            place), in the unit of the budget; shape (hits,).
        rates: What a character of each hit costs, in the same unit: 1 in characters; shape (hits,).
    """

    hits: RankedHits
    begins: Numbers
    rates: Numbers


class ContextBudget:
    """A number of characters or tokens, spent from the top of a ranking.

    Text that was retrieved twice is paid for twice: its reader reads it twice. What stands before the text of its place
    in a hit is paid for before it. A hit that costs nothing, or of which it is not known what it costs, buys nothing.

    Args:
        cutoff: The budget.
        tokenizer: What counts tokens; needed by budgets in tokens only.
        reader: What the hits say.
        counted: The tokens of texts that have been counted; budgets that share it count each text once.

    Raises:
        ConfigError: The budget counts tokens, and there is no tokenizer.
    """

    def __init__(
        self, cutoff: Cutoff, tokenizer: Tokenizer | None, reader: HitReader, counted: dict[str, int] | None = None
    ) -> None:
        if cutoff.unit == "tok" and tokenizer is None:
            raise ConfigError(
                f"budget {str(cutoff)!r} counts tokens: expected a tokenizer, as in tokenizer='cl100k_base'"
            )
        self.cutoff = cutoff
        self.tokenizer = tokenizer if cutoff.unit == "tok" else None
        self.reader = reader
        self.counted = {} if counted is None else counted

    def cost(self, hit: Hit) -> int:
        """Return what a hit costs, in the unit of the budget; 0 where that is not known."""
        if self.tokenizer is None:
            return self.reader.length(hit)
        text = self.reader.text(hit)
        if text not in self.counted:
            self.counted[text] = self.tokenizer.count(text)
        return self.counted[text]

    def costs(self, hits: HitTable) -> Integers:
        """Return what each hit costs, in the unit of the budget; shape (hits,)."""
        if self.tokenizer is None:
            return self.reader.lengths(hits)
        rows, numbers = hits.distinct()
        costs = np.fromiter(map(self.cost, hits.take(rows)), dtype=np.int64, count=len(rows))
        return costs[numbers]

    def buy(self, rankings: RankedHits) -> Context:
        """Return the beginning of each ranking that fits, the last hit cut or, if `whole`, left out."""
        rankings = rankings.compact()
        hits = rankings.table
        costs, before = self.costs(hits), self._before(hits)
        total = np.cumsum(costs)
        earlier = total - costs
        earlier -= earlier[rankings.begins[rankings.query]] if len(total) else 0
        left = self.cutoff.size - earlier
        bought = (costs > 0) & (costs <= left)
        rates = costs / np.maximum(self.reader.lengths(hits), 1) if self.tokenizer else np.ones(len(hits))
        if not self.cutoff.whole:
            crossing = np.flatnonzero((left > 0) & (left < costs))
            read = self._characters(hits, crossing, left[crossing])
            hits = self._cut(hits, crossing, read - before[crossing])
            bought[crossing[read > before[crossing]]] = True
        rows = np.flatnonzero(bought)
        counts = np.bincount(rankings.query[rows], minlength=len(rankings))
        ends = np.cumsum(counts)
        kept = RankedHits(hits.take(rows), ends - counts, ends)
        return Context(kept, (earlier + before * rates)[rows], rates[rows])

    def fill(self, rankings: RankedHits) -> NDArray[np.bool_]:
        """Return which rankings spend the whole budget; shape (rankings,)."""
        spent = np.bincount(rankings.query, weights=self.costs(rankings.flat), minlength=len(rankings))
        return spent >= self.cutoff.size

    def depth(self, ranking: Ranking) -> int | None:
        """Return how many hits the budget reaches, or None if the ranking ends before it is spent."""
        total = 0
        for number, hit in enumerate(ranking, start=1):
            total += self.cost(hit)
            if total >= self.cutoff.size:
                return number
        return None

    def _before(self, hits: HitTable) -> Integers:
        """Return how many characters are read before the text of each hit's place; shape (hits,)."""
        before = np.zeros(len(hits), dtype=np.int64)
        longer = np.flatnonzero(hits.placed & (hits.text.numbers(len) > hits.end - hits.start))
        if len(longer):
            rows, numbers = hits.take(longer).distinct()
            found = map(self.reader.before, hits.take(longer[rows]))
            before[longer] = np.fromiter(found, dtype=np.int64, count=len(rows))[numbers]
        return before

    def _characters(self, hits: HitTable, rows: Integers, left: Integers) -> Integers:
        """Return how many characters are read of the hits in these rows, each of which costs more than is left."""
        if self.tokenizer is None:
            return left
        cut, text = self.tokenizer.cut, self.reader.text
        lengths = (cut(text(hit), number) for hit, number in zip(hits.take(rows), left.tolist(), strict=True))
        return np.fromiter(lengths, dtype=np.int64, count=len(rows))

    def _cut(self, hits: HitTable, rows: Integers, lengths: Integers) -> HitTable:
        """Return the hits, of which those in these rows are cut after so many characters.

        A place is cut, and its text follows from it.
        """
        text = hits.text.where(hits.text.known)  # without those of other hits, of which there may be many
        ends, codes, texts = hits.end.copy(), text.codes.copy(), [*text.texts]
        placed = hits.placed[rows]
        there = rows[placed]
        ends[there] = np.clip(hits.start[there] + lengths[placed], hits.start[there], hits.end[there])
        codes[there] = -1
        for row, length in zip(rows[~placed].tolist(), lengths[~placed].tolist(), strict=True):
            texts.append(texts[codes[row]][:length])
            codes[row] = len(texts) - 1
        return replace(hits, end=ends, text=Coded(codes, texts))


class RankingCutter:
    """Cuts rankings at numbers of results and at context budgets, and gives the depth that a budget needs.

    The tokens of a text are counted once, however many budgets there are, in retrieving and in scoring together.

    Args:
        cutoffs: Where rankings are cut.
        tokenizer: What counts tokens; needed by budgets in tokens only.
        corpus: The documents that hits have their places in.

    Attributes:
        cutoffs: All cutoffs, in order.
        tokenizer: What counts tokens, or None.
        ks: Those that are numbers of results.
        budgets: Those that are budgets.
        reader: What the hits say.

    Raises:
        ConfigError: A budget counts tokens, and there is no tokenizer.
    """

    def __init__(self, cutoffs: Iterable[Cutoff], tokenizer: Tokenizer | None, corpus: Corpus) -> None:
        self.cutoffs = tuple(cutoffs)
        self.tokenizer = tokenizer
        self.ks = tuple(cutoff for cutoff in self.cutoffs if not cutoff.is_budget)
        self.reader = HitReader(corpus)
        counted: dict[str, int] = {}
        self.budgets = {
            cutoff: ContextBudget(cutoff, tokenizer, self.reader, counted)
            for cutoff in self.cutoffs
            if cutoff.is_budget
        }

    def known(self, rankings: Rankings) -> NDArray[np.bool_]:
        """Return which rankings have a result whose length is known, or are empty; shape (rankings,)."""
        hits, table = rankings.hits, rankings.hits.flat
        known: NDArray[np.bool_] = hits.counts == 0
        known[hits.query[table.placed | table.text.known]] = True
        return known

    def depth_to_fill(self, chunks: Sequence[AnyChunk], shorter: float) -> int:
        """Return how many chunks fill every budget even if they are the shortest.

        One more than there are, if all of them do not: then the ranking ends before, and is known to. In tokens it is
        an estimate, in which the shortest are those of the fewest characters.

        Args:
            chunks: All chunks; at least one.
            shorter: How many times shorter than the mean they may be; not all have to be provided for.
        """
        shortest = sorted(chunks, key=lambda chunk: len(chunk.content))
        return max((self._filling(budget, shortest, shorter) for budget in self.budgets.values()), default=0)

    def _filling(self, budget: ContextBudget, chunks: Sequence[AnyChunk], shorter: float) -> int:
        sample = chunks[:: max(1, len(chunks) // 100)]  # of all lengths, as they are sorted
        mean = sum(budget.cost(Hit.of(chunk)) for chunk in sample) / len(sample)
        most = min(_DEEPEST, max(_SHALLOW, ceil(shorter * budget.cutoff.size / max(mean, 1))))
        filled = 0
        for number, chunk in enumerate(chunks[:most], start=1):
            filled += budget.cost(Hit.of(chunk))
            if filled >= budget.cutoff.size:
                return number
        return min(len(chunks) + 1, most)

    def next_depth(self, ranking: Ranking) -> int:
        """Return a depth that should fill every budget, from what the first hits fill; 0 if there is nothing to gain.

        There is nothing to gain if all are filled, at the greatest depth, or if of five hits or more it is not known
        what the reader of any of them reads.
        """
        found = len(ranking)
        if not self.budgets or not found or found >= _DEEPEST:
            return 0
        if not any(map(self.reader.has_text, ranking)):
            return _SHALLOW if found < _TELLING else 0
        depths = [0]
        for cutoff, budget in self.budgets.items():
            filled = sum(map(budget.cost, ranking))
            if filled < cutoff.size:
                estimate = ceil(2 * found * cutoff.size / max(filled, 1))  # the next results may be shorter
                depths.append(min(estimate, _STEEPEST * found, _DEEPEST))
        return max(depths)

    def reach(self, ranking: Ranking) -> int:
        """Return how many hits the budgets reach."""
        reached = [budget.depth(ranking) for budget in self.budgets.values()]
        return max((len(ranking) if depth is None else depth for depth in reached), default=0)

    def unfilled(self, rankings: RankedHits) -> dict[Cutoff, NDArray[np.bool_]]:
        """Return which rankings end before a budget is filled, for each budget that the corpus could fill.

        Whether a budget is filled is not known, and so not said, where a hit has an unknown length.
        """
        table = rankings.flat
        known = np.ones(len(rankings), dtype=np.bool_)
        known[rankings.query[~(table.placed | table.text.known)]] = False
        characters = sum(len(document.content) for document in self.reader.corpus) if self.budgets else 0
        return {
            cutoff: known & ~budget.fill(rankings)
            for cutoff, budget in self.budgets.items()
            if cutoff.size <= characters
        }
