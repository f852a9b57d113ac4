"""Relevant units of many queries as columns, and the other places of their answers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers


@dataclass(frozen=True, eq=False)
class Relevant:
    """Relevant units as columns, sorted by query and then by rank.

    Attributes:
        query: Number of the query, 0-based.
        rank: Position among the different units of the ranking, 0-based; that of the unit or, if the unit is accounted
            for by another place of its answers, that at which this is complete.
        gain: How relevant the unit is, above 0.
    """

    query: Integers
    rank: Integers
    gain: Numbers

    @classmethod
    def sorted_by_rank(cls, query: Integers, rank: Integers, gain: Numbers) -> "Relevant":
        """Return the columns sorted by rank; queries are ascending, and the units of one have different ranks."""
        width = int(rank.max()) + 1 if len(rank) else 1
        order = np.argsort(query * width + rank)
        return cls(query, rank[order], gain[order])

    def before(self, depths: Integers | int) -> "Relevant":
        """Return the units at the first ranks: `depths` of them, one number for all queries or one per query."""
        limits = depths if isinstance(depths, int) else depths[self.query]
        rows = np.flatnonzero(self.rank < limits)
        return self if len(rows) == len(self.rank) else Relevant(self.query[rows], self.rank[rows], self.gain[rows])

    @cached_property
    def first(self) -> Integers:
        """The row of the first unit of each query that has any: for `query` (0, 0, 2), these are (0, 2)."""
        return np.flatnonzero(np.diff(self.query, prepend=-1))

    @cached_property
    def ordinal(self) -> Integers:
        """How many units of the same query precede each; for `query` (0, 0, 2), these are (0, 1, 0)."""
        return ordinal_of(self.query)

    def discounted_gain(self, queries: int) -> Numbers:
        """Return the DCG of each query, Σ gain / log2(rank + 2), ranks being 0-based; shape (queries,)."""
        depth = int(self.rank.max()) + 1 if len(self.rank) else 0
        discounts = 1 / np.log2(np.arange(depth) + 2.0)
        return totals(self.query, self.gain * discounts[self.rank], queries)


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """The relevant units of all queries, as columns.

    Attributes:
        query: Number of the query of each unit, ascending.
        unit: Number of the unit, each once per query; retrieved and relevant units use the same numbers.
        gain: How relevant it is, above 0.
        places: What else accounts for them, of the queries with answers that have several places; None if there are
            none.
    """

    query: Integers
    unit: Integers
    gain: Numbers
    places: "UnitPlaces | None" = None


@dataclass(frozen=True, eq=False)
class UnitPlaces:
    """All places of all answers of the queries of which an answer has several, one row per unit.

    Attributes:
        query: Number of the query, ascending.
        answer: Number of the answer, over all queries, ascending.
        place: Number of the place in its answer; 0 is the reference.
        unit: Number of the unit, as in the labels.
    """

    query: Integers
    answer: Integers
    place: Integers
    unit: Integers


def totals(query: Integers, numbers: Numbers, queries: int) -> Numbers:
    """Return the sum of the numbers of each query, shape (queries,)."""
    # NumPy's stubs promise integers even where weights are given.
    return np.asarray(np.bincount(query, weights=numbers, minlength=queries), dtype=np.float64)


def ordinal_of(query: Integers) -> Integers:
    """Return how many rows of the same query precede each; queries are ascending."""
    counts = np.bincount(query)
    return np.arange(len(query)) - (np.cumsum(counts) - counts)[query]
