"""Rank judgements: the ranks and gains of the relevant units, for metrics over ids."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from ...data.columns import Integers, Numbers
from .stretches import leads

# Relevant units of many queries as columns, and the other places of their answers.


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

    def before(self, depths: Integers | int) -> "Relevant":
        """Return the units at the first ranks: `depths` of them, one number for all queries or one per query."""
        limits = depths if isinstance(depths, int) else depths[self.query]
        rows = np.flatnonzero(self.rank < limits)
        return self if len(rows) == len(self.rank) else Relevant(self.query[rows], self.rank[rows], self.gain[rows])

    @cached_property
    def first(self) -> Integers:
        """The row of the first unit of each query that has any: for `query` (0, 0, 2), these are (0, 2)."""
        return np.flatnonzero(np.diff(self.query, prepend=-1))

    def discounted_gain(self, queries: int) -> Numbers:
        """Return the DCG of each query, Σ gain / log2(rank + 2), ranks being 0-based; shape (queries,)."""
        discounts = 1 / np.log2(np.arange(int(self.rank.max(initial=-1)) + 1) + 2.0)
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


# Judging ids where answers have several places: which relevant units are accounted for, and at which rank.
#
# A place of an answer is complete with the last of its units. A relevant unit is accounted for when it is retrieved or,
# if that is earlier, when another place of every answer that needs it is complete.

_NEVER = np.iinfo(np.int64).max


def _looked_up(keys: Integers, values: Integers, sought: Integers) -> Integers:
    """Return the value of each sought key; -1 for one that is not among the keys, which ascend."""
    found = np.searchsorted(keys, sought)
    return np.where(np.append(keys, -1)[found] == sought, np.append(values, -1)[found], -1)


def _found(labels: LabelColumns, own: Integers, places: UnitPlaces, rank: Integers) -> Relevant:
    """Return the units that are in a place, each once; of questions with alternatives nobody reads the gains."""
    alone = np.flatnonzero((own >= 0) & ~np.isin(labels.query, places.query))
    several = np.flatnonzero(rank >= 0)
    query = np.concatenate([labels.query[alone], places.query[several]])
    ranks = np.concatenate([own[alone], rank[several]])
    gain = np.concatenate([labels.gain[alone], np.ones(len(several))])
    order = np.lexsort((ranks, query))
    order = order[leads(query[order]) | leads(ranks[order])]
    return Relevant(query[order], ranks[order], gain[order])


def _credited(labels: LabelColumns, own: Integers, places: UnitPlaces, rank: Integers, row: Integers) -> Relevant:
    """Return the relevant units at the rank that accounts for them."""
    heads = np.flatnonzero(leads(places.answer) | leads(places.place))
    complete = np.maximum.reduceat(np.where(rank < 0, _NEVER, rank), heads)
    is_other = places.place[heads] > 0
    elsewhere = np.minimum.reduceat(np.where(is_other, complete, _NEVER), np.flatnonzero(leads(places.answer[heads])))
    needed = np.flatnonzero(places.place == 0)
    replaced = np.zeros(len(own), dtype=np.int64)
    np.maximum.at(replaced, row[needed], elsewhere[np.cumsum(leads(places.answer)) - 1][needed])
    replaced[~np.isin(labels.query, places.query)] = _NEVER
    ranks = np.minimum(np.where(own < 0, _NEVER, own), replaced)
    rows = np.flatnonzero(ranks < _NEVER)
    rows = rows[np.lexsort((ranks[rows], labels.query[rows]))]
    return Relevant(labels.query[rows], ranks[rows], labels.gain[rows])


# Rank judgements: the ranks and gains of the relevant units, for metrics over ids such as nDCG and MRR.
#
# Only relevant units, and results that repeat a unit, are kept, as flat arrays, so that the time to score grows with
# the number of relevant units and not with the number of queries times the depth.


@dataclass(frozen=True, eq=False)
class Repeats:
    """Results that repeat a unit of their ranking, as columns.

    Attributes:
        query: Number of the query, 0-based.
        position: Position among the results, 0-based.
    """

    query: Integers
    position: Integers

    def before(self, depth: int) -> "Repeats":
        """Return those among the first `depth` results."""
        rows = np.flatnonzero(self.position < depth)
        return Repeats(self.query[rows], self.position[rows])


@dataclass(frozen=True, eq=False)
class RankJudgements:
    """The ranks of the relevant units of all queries, and those they would have in the ideal order.

    Cutoffs count results, of which several can be of one unit; ranks count the different units.

    Attributes:
        found: The retrieved units that are in a place of an answer, by rank.
        credited: The relevant units that are accounted for, by the rank at which they are: retrieved, or replaced by
            another place of each answer that needs them. `found` itself where every answer has one place.
        ideal: All relevant units in the ideal order: by falling gain.
        relevant: The number of relevant units of each query; shape (queries,).
        results: The number of results of each query; shape (queries,).
        repeats: The results whose unit was retrieved at a higher rank already.
        depth: Where the rankings are cut: a number of results, or None if they are whole, or cut at a budget.
    """

    found: Relevant
    credited: Relevant
    ideal: Relevant
    relevant: Integers
    results: Integers
    repeats: Repeats
    depth: int | None = None

    @classmethod
    def from_ranks(
        cls, query: Integers, rank: Integers, gain: Numbers, results: Integers, repeats: Repeats | None = None
    ) -> "RankJudgements":
        """Judge rankings whose relevant units are known by rank.

        Args:
            query: Number of the query of each relevant unit, ascending.
            rank: Its position among the different units of the ranking, 0-based, or -1 if it was not retrieved.
            gain: How relevant it is, above 0.
            results: The number of results of each query.
            repeats: The results whose unit was retrieved at a higher rank already; none by default.

        Returns:
            The judgements of whole rankings.
        """
        relevant = np.bincount(query, minlength=len(results))
        rows = np.flatnonzero(rank >= 0)
        rows = rows[np.argsort(query[rows] * (rank.max(initial=0) + 1) + rank[rows])]  # queries ascend already
        found = Relevant(query[rows], rank[rows], gain[rows])
        none = np.zeros(0, dtype=np.int64)
        return cls(found, found, _ideal(query, gain), relevant, results, repeats or Repeats(none, none))

    @classmethod
    def from_columns(cls, query: Integers, unit: Integers, results: Integers, labels: LabelColumns) -> "RankJudgements":
        """Judge rankings that are given as columns.

        Args:
            query: Number of the query of each result, ascending; the results of one query are in their order.
            unit: Number of its unit, of either sign.
            results: The number of results of each query.
            labels: What is relevant.
        """
        places = labels.places
        columns = [unit, labels.unit, *([] if places is None else [places.unit])]
        least = min(int(units.min(initial=0)) for units in columns)
        width = 1 + max(int(units.max(initial=0)) for units in columns) - least
        keys = query * width + (unit - least)
        order = np.argsort(keys, kind="stable")
        leads = np.diff(keys[order], prepend=-1) > 0
        repeats = np.zeros(len(keys), dtype=np.int64)
        repeats[order[~leads]] = 1
        begins = (np.cumsum(results) - results)[query]
        position = np.arange(len(keys)) - begins
        before = np.cumsum(repeats) - repeats
        rank = position - (before - before[begins])  # of the results before, those that repeat a unit do not count
        known, ranks = keys[order[leads]], rank[order[leads]]
        rows = np.flatnonzero(repeats)
        owned = labels.query * width + (labels.unit - least)
        own = _looked_up(known, ranks, owned)
        judged = cls.from_ranks(labels.query, own, labels.gain, results, Repeats(query[rows], position[rows]))
        if places is None:
            return judged
        placed, order = places.query * width + (places.unit - least), np.argsort(owned)
        rank, row = _looked_up(known, ranks, placed), _looked_up(owned[order], order, placed)
        found, credited = _found(labels, own, places, rank), _credited(labels, own, places, rank, row)
        return replace(judged, found=found, credited=credited)

    @classmethod
    def from_lists(
        cls,
        retrieved: Sequence[Sequence[Hashable]],
        relevant: Sequence[Sequence[Hashable]],
        gains: Sequence[Sequence[float]],
    ) -> "RankJudgements":
        """Judge rankings that are given as lists of ids.

        Args:
            retrieved: The unit of every result, best first; one list per query.
            relevant: The relevant units, each once; one list per query.
            gains: How relevant each of them is, above 0.
        """
        numbers: dict[Hashable, int] = {}

        def columns(lists: Sequence[Sequence[Hashable]]) -> tuple[Integers, Integers, Integers]:
            counts = np.array([*map(len, lists)], dtype=np.int64)
            units = [numbers.setdefault(unit, len(numbers)) for units in lists for unit in units]
            return np.repeat(np.arange(len(lists)), counts), np.array(units, dtype=np.int64), counts

        graded = np.array([*chain.from_iterable(gains)], dtype=np.float64)
        return cls.from_columns(*columns(retrieved), LabelColumns(*columns(relevant)[:2], graded))

    def at(self, depth: int) -> "RankJudgements":
        """Return the judgements of the first `depth` results only; the ideal order is cut there, too."""
        results, repeats = np.minimum(self.results, depth), self.repeats.before(depth)
        reach = results - np.bincount(repeats.query, minlength=len(results)) if len(repeats.query) else depth
        found = self.found.before(reach)
        credited = found if self.credited is self.found else self.credited.before(reach)
        return RankJudgements(found, credited, self.ideal.before(depth), self.relevant, results, repeats, depth)

    @property
    def precision_denominator(self) -> Integers:
        """The denominator of precision: the depth, or without one the number of results; shape (queries,)."""
        return self.results if self.depth is None else np.full_like(self.results, self.depth)

    @property
    def different(self) -> Integers:
        """The number of different units retrieved for each query; shape (queries,)."""
        return self.results - np.bincount(self.repeats.query, minlength=len(self.results))

    @cached_property
    def relevant_retrieved(self) -> Integers:
        """The number of retrieved units that are in a place of an answer, for each query; shape (queries,)."""
        return np.bincount(self.found.query, minlength=len(self.relevant))

    @property
    def first_relevant(self) -> Numbers:
        """The rank of the first result that is relevant, from 1; NaN if none is; shape (queries,).

        Of the results a, a, b the different units are at the positions 0 and 2: the unit of rank 1 is the result of
        rank 2.
        """
        begins = np.cumsum(self.results) - self.results
        leads = np.ones(int(self.results.sum()), dtype=np.bool_)
        leads[begins[self.repeats.query] + self.repeats.position] = False
        before = np.cumsum(self.different) - self.different
        query, rank = self.found.query[self.found.first], self.found.rank[self.found.first]
        ranks = np.full(len(begins), np.nan)
        ranks[query] = 1.0 + np.flatnonzero(leads)[before[query] + rank] - begins[query]
        return ranks

    @cached_property
    def credit(self) -> Integers:
        """The number of relevant units that are accounted for, for each query; shape (queries,)."""
        if self.credited is self.found:
            return self.relevant_retrieved
        return np.bincount(self.credited.query, minlength=len(self.relevant))

    @cached_property
    def found_before(self) -> Integers:
        """For each credited unit, how many of the found ones have a lower rank or the same; shape (credited,)."""
        credited, found = self.credited, self.found
        if credited is found:
            return ordinal_of(found.query) + 1
        width = 1 + max(int(credited.rank.max(initial=0)), int(found.rank.max(initial=0)))
        keys = found.query * width + found.rank
        up_to = np.searchsorted(keys, credited.query * width + credited.rank, side="right")
        return up_to - np.searchsorted(keys, credited.query * width)

    def weighed(self, results: Integers) -> Integers | Numbers:
        """Return numbers of results in units of the truth: where several of them say one unit, each weighs less."""
        if self.credited is self.found:
            return results
        weight = np.ones(len(results))
        np.divide(self.credit, self.relevant_retrieved, out=weight, where=self.relevant_retrieved > 0)
        return results * weight


def _ideal(query: Integers, gain: Numbers) -> Relevant:
    """Return the units of each query by falling gain: for queries (0, 0, 1), gains (1, 3, 2) become (3, 1, 2)."""
    levels = np.unique(gain)
    if len(levels) > 1:
        # One sort of integers that encode both query and gain, as queries are ascending already.
        last = query * len(levels) + (len(levels) - 1)
        keys = last - np.searchsorted(levels, gain)
        keys.sort()
        gain = levels[last - keys]
    return Relevant(query, ordinal_of(query), gain)
