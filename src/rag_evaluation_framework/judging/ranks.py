"""Rank judgements: the ranks and gains of the relevant units, for metrics over ids such as nDCG and MRR.

Only relevant units, and results that repeat a unit, are kept, as flat arrays, so that the time to score grows with the
number of relevant units and not with the number of queries times the depth.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.judging.rank_answers import accounted_for
from rag_evaluation_framework.judging.relevant_units import LabelColumns, Relevant, ordinal_of


@dataclass(frozen=True, eq=False)
class Repeats:
    """Results that repeat a unit of their ranking, as columns.

    Attributes:
        query: Number of the query, 0-based.
        position: Position among the results, 0-based.
    """

    query: Integers
    position: Integers

    @classmethod
    def none(cls) -> "Repeats":
        """Return no repeats."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

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
        """Judge rankings whose judged units are known by rank.

        Args:
            query: Number of the query of each judged unit, ascending.
            rank: Its position among the different units of the ranking, 0-based, or -1 if it was not retrieved.
            gain: How relevant it is; units with a gain of 0 or below are not relevant.
            results: The number of results of each query.
            repeats: The results whose unit was retrieved at a higher rank already; none by default.

        Returns:
            The judgements of whole rankings.
        """
        queries = len(results)
        if not (gain > 0).all():
            rows = gain > 0
            query, rank, gain = query[rows], rank[rows], gain[rows]
        relevant = np.bincount(query, minlength=queries)
        retrieved = np.flatnonzero(rank >= 0)
        found = Relevant.sorted_by_rank(query[retrieved], rank[retrieved], gain[retrieved])
        return cls(
            found,
            found,
            _ideal(query, gain),
            relevant,
            results,
            Repeats.none() if repeats is None else repeats,
        )

    @classmethod
    def from_columns(cls, query: Integers, unit: Integers, results: Integers, labels: LabelColumns) -> "RankJudgements":
        """Judge rankings that are given as columns.

        Args:
            query: Number of the query of each result, ascending; the results of one query are in their order.
            unit: Number of its unit, of either sign.
            results: The number of results of each query.
            labels: What is relevant.
        """
        known = [unit, labels.unit, *([] if labels.places is None else [labels.places.unit])]
        least = min(int(units.min(initial=0)) for units in known)
        width = 1 + max(int(units.max(initial=0)) for units in known) - least
        keys = query * width + (unit - least)
        order = np.argsort(keys, kind="stable")
        leads = np.diff(keys[order], prepend=-1) > 0
        repeats = np.zeros(len(keys), dtype=np.int64)
        repeats[order[~leads]] = 1
        begins = (np.cumsum(results) - results)[query]
        position = np.arange(len(keys)) - begins
        before = np.cumsum(repeats) - repeats
        rank = position - (before - before[begins])  # of the results before, those that repeat a unit do not count
        first = order[leads]

        def ranks(owner: Integers, units: Integers) -> Integers:
            sought = owner * width + (units - least)
            found = np.searchsorted(keys[first], sought)
            is_found = np.append(keys[first], -1)[found] == sought
            return np.where(is_found, np.append(rank[first], -1)[found], -1)

        rows = np.flatnonzero(repeats)
        own = ranks(labels.query, labels.unit)
        judged = cls.from_ranks(labels.query, own, labels.gain, results, Repeats(query[rows], position[rows]))
        if labels.places is None:
            return judged
        places = labels.places
        found, credited = accounted_for(labels, own, places, ranks(places.query, places.unit))
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
        counts = np.fromiter(map(len, relevant), dtype=np.int64, count=len(relevant))
        rank = np.full(int(counts.sum()), -1, dtype=np.int64)
        repeats: tuple[list[int], list[int]] = ([], [])
        row = 0
        for query, (results, right) in enumerate(zip(retrieved, relevant, strict=True)):
            ranks: dict[Hashable, int] = {}
            for position, unit in enumerate(results):
                different = len(ranks)
                ranks.setdefault(unit, different)
                if len(ranks) == different:
                    repeats[0].append(query)
                    repeats[1].append(position)
            for unit in right:
                rank[row] = ranks.get(unit, -1)
                row += 1
        return cls.from_ranks(
            np.repeat(np.arange(len(relevant)), counts),
            rank,
            np.fromiter(chain.from_iterable(gains), dtype=np.float64, count=len(rank)),
            np.fromiter(map(len, retrieved), dtype=np.int64, count=len(retrieved)),
            Repeats(np.array(repeats[0], dtype=np.int64), np.array(repeats[1], dtype=np.int64)),
        )

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
            return found.ordinal + 1
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
