"""What a reader of rankings reads: the text of every hit, and how much of it fits into a context budget."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hit_table import Coded, HitTable, RankedHits
from rag_evaluation_framework.data.hits import Hit, Ranking
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.errors import ConfigError

_STEEPEST = 100  # results that cost next to nothing must not send the retriever down without bound
_DEEPEST = 10_000
_SHALLOW = 10  # so many results cost next to nothing


class HitReader:
    """Reads hits in their corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def text(self, hit: Hit) -> str:
        """Return what the reader of a hit reads: its text, or that of its place if it brings less than that.

        Of a hit that names a document and neither place nor text, the reader reads the whole document.
        """
        if hit.text is None and not hit.placed:
            return "" if hit.doc_id is None or hit.doc_id not in self.corpus else self.corpus[hit.doc_id].content
        there = self._there(hit)
        return there if hit.text is None or len(hit.text) < len(there) else hit.text

    def length(self, hit: Hit) -> int:
        """Return how many characters the reader of a hit reads."""
        if hit.doc_id is None or hit.start is None or hit.end is None:
            return len(self.text(hit))
        return hit.end - hit.start if hit.text is None else max(hit.end - hit.start, len(hit.text))

    def lengths(self, hits: HitTable) -> Integers:
        """Return how many characters the reader of each hit reads; shape (hits,)."""
        documents = hits.doc_id.numbers(lambda doc_id: len(self.corpus[doc_id].content) if doc_id in self.corpus else 0)
        there = np.where(hits.placed, hits.end - hits.start, 0)
        known = hits.placed | hits.text.known
        return np.where(known, np.maximum(there, hits.text.numbers(len)), documents)

    def original(self, hit: Hit) -> str:
        """Return the text of the corpus at the place of a hit; without a place, what the hit brings."""
        return self._there(hit) if hit.placed else hit.text or ""

    def has_text(self, hit: Hit) -> bool:
        """Return whether it is known what the reader of a hit reads."""
        return hit.text is not None or hit.placed or hit.doc_id in self.corpus

    def contradicts(self, hit: Hit) -> bool:
        """Return whether a hit names a place whose text differs from its own in more than white space."""
        if hit.text is None or not hit.placed:
            return False
        there = self._there(hit)
        return hit.text != there and hit.text.split() != there.split()

    def _there(self, hit: Hit) -> str:
        if hit.doc_id is None or hit.start is None or hit.end is None:
            return ""
        return self.corpus[hit.doc_id].content[hit.start : hit.end]


class ContextBudget:
    """A number of characters or tokens, spent from the top of a ranking.

    Text that was retrieved twice is paid for twice: its reader reads it twice.

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
        """Return what a hit costs, in the unit of the budget."""
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

    def truncate(self, rankings: RankedHits) -> RankedHits:
        """Return the beginning of each ranking that fits, the last hit cut or, if `whole`, left out."""
        rankings = rankings.compact()
        costs = self.costs(rankings.table)
        total = np.cumsum(costs)
        spent = total - (total - costs)[rankings.begins[rankings.query]] if len(total) else total
        bought = (spent - costs < self.cutoff.size) & (spent <= self.cutoff.size)
        crossing = np.flatnonzero((spent - costs < self.cutoff.size) & (spent > self.cutoff.size))
        kept = rankings.first(np.bincount(rankings.query[bought], minlength=len(rankings)))
        if self.cutoff.whole:
            return kept
        left = self.cutoff.size - (spent - costs)[crossing]
        table = self._cut(rankings.table, crossing, left)
        ends = kept.ends.copy()
        ends[rankings.query[crossing]] += 1
        return RankedHits(table, kept.begins, ends)

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

    def _cut(self, hits: HitTable, rows: Integers, left: Integers) -> HitTable:
        """Return the hits, of which those in these rows are cut after what is left; each costs more than that.

        A place is cut, and its text follows from it. Of a document that is only named all is left, as it has no place.
        """
        text = hits.text.where(hits.text.known)  # without those of other hits, of which there may be many
        ends, codes, texts = hits.end.copy(), text.codes.copy(), [*text.texts]
        for row, number in zip(rows.tolist(), left.tolist(), strict=True):
            placed = bool(hits.placed[row])
            if not placed and codes[row] < 0:
                continue
            read = "" if placed and self.tokenizer is None else self.reader.text(hits[row])
            length = number if self.tokenizer is None else self.tokenizer.cut(read, number)
            if placed:
                ends[row] = min(ends[row], hits.start[row] + length)
                codes[row] = -1
            else:
                codes[row] = len(texts)
                texts.append(read[:length])
        return replace(hits, end=ends, text=Coded(codes, texts))


class RankingCutter:
    """Cuts rankings at numbers of results and at context budgets, and tells how deep they have to go for the latter.

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

    def cut(self, rankings: Rankings, cutoff: Cutoff) -> RankedHits:
        """Return what each ranking holds at one of the cutoffs."""
        return self.budgets[cutoff].truncate(rankings.hits) if cutoff.is_budget else rankings.first(cutoff)

    def depth_to_fill(self, chunks: Sequence[PositionAwareChunk], shorter: float) -> int:
        """Return how many chunks fill every budget even if they are the shortest.

        One more than there are, if all of them do not: then the ranking ends before, and is known to. In tokens it is
        an estimate, in which the shortest are those of the fewest characters.

        Args:
            chunks: All chunks; at least one.
            shorter: How many times shorter than the mean they may be; not all have to be provided for.
        """
        shortest = sorted(chunks, key=lambda chunk: len(chunk.content))
        return max((self._filling(budget, shortest, shorter) for budget in self.budgets.values()), default=0)

    def _filling(self, budget: ContextBudget, chunks: Sequence[PositionAwareChunk], shorter: float) -> int:
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

        There is nothing to gain if all are filled, if no text is known, or at the greatest depth.
        """
        found = len(ranking)
        if not self.budgets or found >= _DEEPEST or not any(map(self.reader.has_text, ranking)):
            return 0
        depths = [0]
        for cutoff, budget in self.budgets.items():
            filled = sum(map(budget.cost, ranking))
            if filled < cutoff.size:
                estimate = ceil(2 * found * cutoff.size / max(filled, 1))  # the next results may be shorter
                depths.append(min(estimate, _STEEPEST * found, _DEEPEST))
        return max(depths)

    def reach(self, ranking: Ranking) -> tuple[int, bool]:
        """Return how many hits the budgets reach, and whether one that the corpus could fill is left unfilled."""
        reached = [(cutoff.size, budget.depth(ranking)) for cutoff, budget in self.budgets.items()]
        unfilled = any(depth is None and size <= self._characters for size, depth in reached)
        return max((len(ranking) if depth is None else depth for _, depth in reached), default=0), unfilled

    @cached_property
    def _characters(self) -> int:
        return sum(len(document.content) for document in self.reader.corpus)
