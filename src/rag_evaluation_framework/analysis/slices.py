"""Slices: some of the questions that were compared, by what the dataset says of them, or by their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.results.means import FEWEST, Clusters
from rag_evaluation_framework.results.properties import Labels, rows_by_value
from rag_evaluation_framework.results.shown import recorded_test
from rag_evaluation_framework.statistics.paired import LEVEL, PairedDifference, paired_differences
from rag_evaluation_framework.statistics.weights import by_cluster


@dataclass(frozen=True)
class Slice:
    """Some of the questions, and how one score of theirs changed.

    Attributes:
        by: The property by which they were chosen: a key of their metadata, `document` or `answer length`.
        value: Its value.
        score: The score.
        questions: How many have the score in both results.
        before: The mean of the baseline.
        after: The mean of the candidate.
        test: What chance makes of the difference, as if this slice were the only one that was looked at.
    """

    by: str
    value: str
    score: str
    questions: int
    before: float
    after: float
    test: PairedDifference


@dataclass(frozen=True, eq=False)
class ScoreChange:
    """One score of the questions that are compared.

    Attributes:
        name: The name of the score.
        before: That of the baseline, shape (questions,); NaN where a question lacks it.
        after: That of the candidate.
        clusters: Which questions count together.
        seed: Of the random signs.
    """

    name: str
    before: Numbers
    after: Numbers
    clusters: Clusters
    seed: int

    @cached_property
    def change(self) -> Numbers:
        """After minus before; NaN where a question lacks one of them."""
        change: Numbers = self.after - self.before
        return change

    def of(self, by: str, value: str, rows: Integers) -> Slice | None:
        """Return the slice of some questions; None if none of them has the score in both results."""
        rows = rows[~np.isnan(self.change[rows])]
        if not len(rows):
            return None
        before, after = self.before[rows], self.after[rows]
        clusters = self.clusters.among(rows).numbers
        beyond = min(before.min(), after.min()) < 0 or max(before.max(), after.max()) > 1
        largest = inf if beyond else 1.0
        (test,) = paired_differences(self.change[rows][:, np.newaxis], clusters, seed=self.seed, largest=largest)
        means = float(before.mean()), float(after.mean())
        return None if test is None else Slice(by, value, self.name, len(rows), *means, test)

    def regressed(self, by: str, value: str, rows: Integers) -> Slice | None:
        """Return the slice of some questions if its score regressed by more than chance.

        Of random signs, at least a tenth of the patterns are as far from 0 as one standard deviation of theirs
        (Oleszkiewicz, Probab. Math. Statist. 16 (1996), 127), so that what is nearer needs no test.
        """
        rows = rows[~np.isnan(self.change[rows])]
        clusters = self.clusters.among(rows).numbers
        sums = by_cluster(self.change[rows][:, np.newaxis], clusters)[0][:, 0]
        if not sums.any() or sums.sum() > -np.sqrt(sums @ sums):
            return None
        found = self.of(by, value, rows)
        return None if found is None or found.test.p_value > 1 - LEVEL else found


def slices(by: str, values: Sequence[tuple[str, ...]], change: ScoreChange) -> list[Slice]:
    """Return the slices of one property, the largest first; a question with several values is in several.

    Args:
        by: The name of the property.
        values: Its values of each question.
        change: The score.
    """
    found = (change.of(by, value, rows) for value, rows in rows_by_value(values).items())
    return sorted((one for one in found if one is not None), key=lambda one: (-one.questions, one.value))


@dataclass(frozen=True)
class RegressedSlices:
    """The slices in which a score regressed by more than chance, though its mean did not.

    Attributes:
        score: The score.
        worse: The slices, the least likely by chance first.
        tested: How many slices were looked at.
        few: Whether questions are taken as independent in slices of fewer documents than are needed.
    """

    score: str
    worse: Sequence[Slice]
    tested: int
    few: bool


def regressed_slices(labels: Labels, change: ScoreChange, whole: PairedDifference | None) -> RegressedSlices | None:
    """Return the slices in which a score regressed; None without any, or if its mean regressed as well.

    Args:
        labels: The properties, and their values of each question.
        change: The score.
        whole: The test of all questions; None if none has the score in both results.
    """
    if whole is None or (whole.mean < 0 and whole.p_value <= 1 - LEVEL):
        return None
    every = [(by, value, rows) for by, values in labels.items() for value, rows in rows_by_value(values).items()]
    large = [one for one in every if (~np.isnan(change.change[one[2]])).sum() >= FEWEST]
    tested = (change.regressed(*one) for one in large)
    worse = sorted((one for one in tested if one is not None), key=lambda one: (one.test.p_value, one.test.mean))
    few = change.clusters.numbers is not None and change.clusters.fewest == FEWEST
    return RegressedSlices(change.name, worse, len(large), few) if worse else None


def slice_record(one: Slice) -> dict[str, Any]:
    """Return a slice for JSON."""
    told = {"score": one.score, "value": one.value, "n": one.questions, "before": one.before, "after": one.after}
    return {**told, "delta": one.test.mean, "test": recorded_test(one.test)}
