"""Judging rankings of identities: at which ranks the relevant units stand.

Only relevant units are kept, as flat arrays, so that scoring grows with what is relevant and not with the number of
questions times the depth.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Relevant:
    """Relevant units as columns, sorted by question and then by rank.

    Attributes:
        query: Number of the question, 0-based.
        rank: Position in the ranking, 0-based.
        gain: How relevant the unit is, above 0.
    """

    query: Integers
    rank: Integers
    gain: Numbers

    @classmethod
    def sorted_by_rank(cls, query: Integers, rank: Integers, gain: Numbers) -> "Relevant":
        """Return the columns in order; those of one question have different ranks."""
        width = int(rank.max()) + 1 if len(rank) else 1
        order = np.argsort(query * width + rank)
        return cls(query[order], rank[order], gain[order])

    def at(self, depth: int) -> "Relevant":
        """Return the units at the first `depth` ranks."""
        rows = np.flatnonzero(self.rank < depth)
        return self if len(rows) == len(self.rank) else Relevant(self.query[rows], self.rank[rows], self.gain[rows])

    @cached_property
    def ordinal(self) -> Integers:
        """How many units of the same question stand before each, shape of `query`."""
        places = np.arange(len(self.query))
        return places - np.maximum.accumulate(np.where(self.leads, places, 0))

    @cached_property
    def leads(self) -> NDArray[np.bool_]:
        """Which units are the first of their question."""
        leads = np.ones(len(self.query), dtype=bool)
        leads[1:] = self.query[1:] != self.query[:-1]
        return leads

    def discounted_gain(self, queries: int) -> Numbers:
        """Return Σ gain / log2(rank + 2) of each question, ranks being 0-based; shape (queries,)."""
        depth = int(self.rank.max()) + 1 if len(self.rank) else 0
        discounts = 1 / np.log2(np.arange(depth) + 2.0)
        return totals(self.query, self.gain * discounts[self.rank], queries)


@dataclass(frozen=True, eq=False)
class RankJudgements:
    """Where the relevant units of all questions stand, and where they would stand at best.

    Attributes:
        found: The relevant units that were retrieved, by their rank.
        ideal: All relevant units in the best order: by falling gain.
        relevant: The number of relevant units of each question; shape (questions,).
        retrieved: The number of units that were retrieved for each question; shape (questions,).
        depth: Where the rankings are cut, or None if they are whole.
    """

    found: Relevant
    ideal: Relevant
    relevant: Integers
    retrieved: Integers
    depth: int | None = None

    def at(self, depth: int) -> "RankJudgements":
        """Return the judgements of the first `depth` ranks only."""
        return RankJudgements(
            self.found.at(depth),
            self.ideal.at(depth),
            self.relevant,
            np.minimum(self.retrieved, depth),
            depth,
        )

    @property
    def places(self) -> Integers:
        """What precision divides by: the depth, or without one the number of units retrieved; shape (questions,)."""
        return self.retrieved if self.depth is None else np.full(len(self.relevant), self.depth)

    @cached_property
    def hits(self) -> Integers:
        """How many relevant units were retrieved for each question; shape (questions,)."""
        return np.bincount(self.found.query, minlength=len(self.relevant))


def judge_ranks(query: Integers, rank: Integers, gain: Numbers, retrieved: Integers) -> RankJudgements:
    """Judge the units that are relevant or might be.

    Args:
        query: Number of the question of each judged unit, ascending.
        rank: Its position in the ranking, 0-based, or -1 if it was not retrieved.
        gain: How relevant it is; units with a gain of 0 or below are not relevant.
        retrieved: The number of units that were retrieved for each question.

    Returns:
        The judgements of whole rankings.
    """
    queries = len(retrieved)
    if not (gain > 0).all():
        rows = gain > 0
        query, rank, gain = query[rows], rank[rows], gain[rows]
    relevant = np.bincount(query, minlength=queries)
    found = np.flatnonzero(rank >= 0)
    return RankJudgements(
        Relevant.sorted_by_rank(query[found], rank[found], gain[found]), _ideal(query, gain), relevant, retrieved
    )


def totals(query: Integers, numbers: Numbers, queries: int) -> Numbers:
    """Return the sum of the numbers of each question, shape (queries,)."""
    # NumPy's stubs promise whole numbers even where weights are given.
    return np.asarray(np.bincount(query, weights=numbers, minlength=queries), dtype=np.float64)


def _ideal(query: Integers, gain: Numbers) -> Relevant:
    if len(gain) and (gain != gain[0]).any():
        order = np.lexsort((-gain, query))
        query, gain = query[order], gain[order]
    ideal = Relevant(query, np.zeros(len(query), dtype=np.int64), gain)
    return Relevant(query, ideal.ordinal, gain)
