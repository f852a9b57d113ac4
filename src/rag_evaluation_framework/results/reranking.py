"""What a reranker changed: every score before and after, and what no order of its candidates exceeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rag_evaluation_framework.data.columns import Numbers, mean_of
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.results.means import Clusters
from rag_evaluation_framework.results.shown import recorded_test
from rag_evaluation_framework.statistics.paired import PairedDifference, paired_differences

_SEED = 0


@dataclass(frozen=True, eq=False, repr=False)
class Reranking:
    """The scores of a run with a reranker, before and after reranking.

    Before is the ranking without the reranker: its candidates in their first order, cut where those of the run are cut.

    Attributes:
        before: Every score of every query before.
        after: The same after: the scores of the run.
        ceiling: The recall that no order of the candidates exceeds; of recalls only.
        clusters: Which queries count together.
    """

    before: ScoreTable
    after: ScoreTable
    ceiling: ScoreTable
    clusters: Clusters = field(default_factory=Clusters)

    @classmethod
    def of(
        cls,
        after: ScoreTable,
        before: Mapping[str, Numbers],
        ceilings: Mapping[str, Numbers],
        clusters: Clusters,
    ) -> "Reranking":
        """Return what was changed, by the columns of the queries of a run.

        Args:
            after: The scores of the run.
            before: The scores before, NaN where a query has none; shape (queries,) each.
            ceilings: The ceilings, likewise.
            clusters: As above.
        """
        return cls(replace(after, columns=before), after, replace(after, columns=ceilings), clusters)

    @cached_property
    def change(self) -> Mapping[str, Numbers]:
        """After minus before by score, NaN where a query lacks one of them; shape (queries,) each."""
        return {name: self.after.column(name) - self.before.column(name) for name in self.before.columns}

    @cached_property
    def tests(self) -> Mapping[str, PairedDifference]:
        """The mean change of every score with its interval of 95 % and its p-value; of scores that a query has."""
        names = [*self.change]
        both = [np.stack([table.column(name) for name in names], axis=1) for table in (self.before, self.after)]
        beyond = np.any([(scores < 0) | (scores > 1) for scores in both], axis=(0, 1))
        changes = np.stack([self.change[name] for name in names], axis=1)
        found = paired_differences(changes, self.clusters.numbers, seed=_SEED, largest=np.where(beyond, np.inf, 1.0))
        return {name: test for name, test in zip(names, found, strict=True) if test is not None}

    def means(self, name: str) -> tuple[float | None, float | None]:
        """Return the means before and after of the queries that have the score in both; None if none has.

        Args:
            name: The full name of the score, such as `span_recall@5`.
        """
        paired = ~np.isnan(self.change[name])
        before, after = (mean_of(table.column(name)[paired]) for table in (self.before, self.after))
        return before, after

    def record(self) -> dict[str, Any]:
        """Return the change of every score for JSON."""
        scores = {name: self._record(name) for name in self.change}
        intervals = self.clusters.record(_SEED)
        return {"intervals": intervals, "scores": scores}

    def _record(self, name: str) -> dict[str, Any]:
        (before, after), changes, test = self.means(name), self.change[name], self.tests.get(name)
        known = changes[~np.isnan(changes)]
        return {
            "n": len(known),
            "before": before,
            "after": after,
            "delta": None if test is None else test.mean,
            "test": None if test is None else recorded_test(test),
            "ceiling": self.ceiling.mean.get(name),
            "improved": int((known > 0).sum()),
            "regressed": int((known < 0).sum()),
            "unchanged": int((known == 0).sum()),
        }
