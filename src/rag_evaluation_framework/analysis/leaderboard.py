"""Comparison of any number of results, over the queries that were scored in all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import statistics
from ..base.optional import require
from ..base.outside import shown
from ..contracts.registry.loading import load_installed
from ..data.columns import Numbers
from ..data.cutoffs import ScoreName
from ..data.levels import U
from ..data.score_table import ScoreTable, full_name
from ..errors import ConfigError, ResultError
from ..runs.means import Cluster, Clusters
from ..runs.result import EvaluationResult
from ..runs.shown import Shown, recorded_test
from ..statistics.means import SHARE
from .comparison import Comparison, Result, clusters_of, cutoff_orders, in_all

if TYPE_CHECKING:
    import pandas as pd

    from ..report.pages.leaderboard import Chart, Page


def budget_scores(names: Iterable[str], least: int = 2) -> list[tuple[str, ...]]:
    """Return the names of recalls at budgets of one unit, the smallest first: a curve each, of two budgets or more.

    Args:
        names: The names of scores.
        least: Of how many budgets a curve is at least.
    """
    curves: dict[tuple[str, str, bool], list[tuple[int, str]]] = {}
    for name in names:
        metric, cutoff = (parsed := ScoreName.parse(name)).metric, parsed.cutoff
        if cutoff is not None and cutoff.is_budget and metric.rpartition("_")[2] == "recall":
            curves.setdefault((metric, cutoff.unit, cutoff.whole), []).append((cutoff.size, name))
    return [tuple(name for _, name in sorted(points)) for points in curves.values() if len(points) >= least]


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names; of those that are equal, all but the first get a number."""
    taken: dict[str, None] = {}
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(2))  # goes on where it ended: thousands may be equal
    for name in names:
        unique = name
        while unique in taken:
            unique = f"{name} ({next(numbers[name])})"
        taken[unique] = None
    return tuple(taken)


_PAGE = "rag_evaluation_framework.report.pages.leaderboard"  # a door upwards
_DOUBTS = "rag_evaluation_framework.report.pages.comparison:board_doubts"  # as this one


@overload
def compare(
    baseline: EvaluationResult[U], candidate: EvaluationResult[U], /, *, cluster: Cluster | None = None
) -> Comparison: ...


@overload
def compare(
    baseline: EvaluationResult[U],
    candidate: EvaluationResult[U],
    third: EvaluationResult[U],
    /,
    *more: EvaluationResult[U],
    cluster: Cluster | None = None,
) -> Leaderboard: ...


def compare(
    baseline: EvaluationResult[U],
    candidate: EvaluationResult[U],
    /,
    *more: EvaluationResult[U],
    cluster: Cluster | None = None,
) -> Comparison | Leaderboard:
    """Compare results of one evaluation type: two query by query, or more of them in a table.

    Args:
        baseline: The result with which the others are compared.
        candidate: Another one.
        more: Any number of others; with at least one the comparison is a `Leaderboard`.
        cluster: What is taken as independent, `"question"` or `"document"`; by default documents, where the labels are
            in at least 6.

    Raises:
        LevelMismatch: They are of different evaluation types.
        ResultError: One is not a result, or their scores mean different things, or they share no query or no score, or
            documents are wanted and not known.
        ConfigError: `cluster` is something else.
    """
    runs: tuple[Any, ...] = (baseline, candidate, *more)
    for run in runs:
        if not isinstance(run, EvaluationResult):
            raise ResultError(f"compare({shown(run)}): expected an EvaluationResult; load_result(path) reads one")
    return Leaderboard.of(runs, cluster=cluster) if more else Comparison.of(baseline, candidate, cluster=cluster)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands among others by one score.

    Attributes:
        run: Its name.
        mean: Its mean over the queries that all runs have; None if there is none.
        test: How it differs from the baseline on these; None for the baseline, and without a query.
        is_tied: Whether it may be as good as the best, which it is of the best.
        p_value: How often chance makes a difference as unlikely as that to the best (`TiedWithBest.p_values`); None
            without a query.
    """

    run: str
    mean: float | None
    test: statistics.PairedDifference | None
    is_tied: bool
    p_value: float | None


@dataclass(frozen=True, repr=False)
class Leaderboard(Shown):
    """Several runs, compared over the queries that have a score in all of them, and each with the first, the baseline.

    Attributes:
        runs: Their names, the baseline first, in the order given; those of one name are numbered.
        comparisons: The comparison of each other run with the baseline, over the queries that these two share.
        tables: The scores of each run, of the queries that have the same truth in all; NaN where one lacks a score.
        headlines: How many of the answerable questions were scored, in each run.
        notes: All notes on the comparison itself.
        run_notes: All notes of each run, shown below those.
        unfilled: As in `Comparison`, of each run.
        clusters: Which queries count together.
    """

    runs: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    tables: tuple[ScoreTable, ...]
    headlines: tuple[str, ...]
    notes: tuple[str, ...]
    run_notes: tuple[tuple[str, ...], ...]
    unfilled: tuple[Mapping[str, int], ...]
    clusters: Clusters = field(default_factory=Clusters, compare=False)

    @classmethod
    def of(cls, runs: Sequence[Result], *, cluster: Cluster | None = None) -> Leaderboard:
        """Compare results of one evaluation type, and at chunk level of one chunking.

        Args:
            runs: At least two results, of which the first is the baseline.
            cluster: As in `compare`.

        Raises:
            LevelMismatch: Two are of different evaluation types; the message names them, as below.
            ResultError: Their chunkings differ, or they share no query or no score, or documents are wanted and not
                known.
            ConfigError: `cluster` is something else, or there are fewer than two results.
        """
        if len(runs) < 2:
            raise ConfigError(f"Leaderboard.of: {len(runs)} results; expected at least 2")
        names = unique_names([run.name for run in runs])
        comparisons = tuple(Comparison.of(runs[0], run, cluster=cluster) for run in runs[1:])
        first, *others = (comparison.change for comparison in comparisons)
        shared = [name for name in first.columns if all(name in change.columns for change in others)]
        query_ids = [query_id for query_id in first.query_ids if all(query_id in change.rows for change in others)]
        tables = in_all([comparisons[0].before, *(comparison.after for comparison in comparisons)], shared, query_ids)
        if not shared or not query_ids:
            raise ResultError(
                f"{', '.join(map(repr, names))} have no {'score' if query_ids else 'question with the same truth'} in "
                "common: nothing to compare"
            )
        clusters = clusters_of(runs, query_ids, cluster)
        return cls(
            runs=names,
            comparisons=comparisons,
            tables=tables,
            headlines=tuple(run.headline for run in runs),
            run_notes=tuple(run.all_notes for run in runs),
            unfilled=tuple(run.unfilled for run in runs),
            notes=load_installed(_DOUBTS)(names, comparisons, tables, cutoff_orders(tables, clusters.numbers)),
            clusters=clusters,
        )

    @property
    def score_names(self) -> tuple[str, ...]:
        """The scores that all runs have, in the order of the baseline."""
        return tuple(self.tables[0].columns)

    @cached_property
    def means(self) -> Mapping[str, tuple[float | None, ...]]:
        """For each score the mean of each run, in the order of `runs`; None if no query has the score in all."""
        return {name: tuple(table.mean[name] for table in self.tables) for name in self.score_names}

    @cached_property
    def tied(self) -> Mapping[str, statistics.TiedWithBest]:
        """For each score which runs may be as good as the best; scores that no query has in all are left out."""
        clusters = self.clusters.numbers
        found = {name: statistics.tied_with_best(self._scores(name), clusters) for name in self.score_names}
        return {name: tied for name, tied in found.items() if tied is not None}

    @cached_property
    def tests(self) -> Mapping[str, tuple[statistics.PairedDifference | None, ...]]:
        """For each score how each run but the baseline differs from it, over the queries that all have.

        Each is a test of its own: nothing is corrected for how many runs there are.
        """
        found: dict[str, tuple[statistics.PairedDifference | None, ...]] = {}
        for name in self.score_names:
            scores = self._scores(name)
            largest = np.inf if np.any((scores < 0) | (scores > 1)) else 1.0
            change = scores[:, 1:] - scores[:, :1]
            found[name] = (*statistics.paired_differences(change, self.clusters.numbers, largest=largest),)
        return found

    def standings(self, score: str | None = None) -> tuple[Standing, ...]:
        """Return where each run stands by a score, the best first; runs of one mean in the order given.

        Args:
            score: By which score; a metric alone means its first cutoff. By default the first.

        Raises:
            ConfigError: The runs do not all have this score.
        """
        name = self.score(score)
        tied, tests = self.tied.get(name), (None, *self.tests[name])
        standings = [
            Standing(run, mean, test, *((tied.is_tied[number], tied.p_values[number]) if tied else (False, None)))
            for number, (run, mean, test) in enumerate(zip(self.runs, self.means[name], tests, strict=True))
        ]
        return tuple(sorted(standings, key=lambda standing: -np.inf if standing.mean is None else -standing.mean))

    def optimism(self, score: str | None = None) -> float | None:
        """Return by how much the mean of the best is too high because it was chosen, as `optimism_of_best` does.

        Args:
            score: As in `standings`.

        Raises:
            ConfigError: The runs do not all have this score.
        """
        return statistics.optimism_of_best(self._scores(self.score(score)), self.clusters.numbers)

    def intervals(self, score: str) -> tuple[statistics.MeanScore | None, ...]:
        """Return the mean of each run with its interval of 95 %, over the questions that all runs have.

        Args:
            score: The full name of a score.
        """
        scores = self._scores(score)
        scale = (-np.inf, np.inf) if np.any((scores < 0) | (scores > 1)) else SHARE
        return (*statistics.mean_scores(scores, self.clusters.numbers, ranges=[scale] * len(self.runs)),)

    def score(self, name: str | None) -> str:
        """Return the full name of a score; None is the first.

        Raises:
            ConfigError: The runs do not all have this score.
        """
        full = self.score_names[0] if name is None else full_name(name, self.tables[0].columns)
        if full is None:
            raise ConfigError(f"no score {name!r} in all runs; there are {', '.join(self.score_names)}")
        return full

    def record(self, score: str | None = None) -> dict[str, Any]:
        """Return the table for JSON: every score of every run, and how it differs from the baseline and from the best.

        Args:
            score: By which score runs are ordered, as in `standings`.

        Raises:
            ConfigError: The runs do not all have this score.
        """
        by = self.score(score)
        runs = zip(self.runs, self.headlines, self.run_notes, self.unfilled, strict=True)
        return {
            "schema_version": 1,
            "runs": [
                {"name": name, "headline": told, "notes": list(notes), "unfilled": dict(unfilled)}
                for name, told, notes, unfilled in runs
            ],
            "baseline": self.runs[0],
            "intervals": self.clusters.record(),
            "ordered_by": by,
            "order": [standing.run for standing in self.standings(by)],
            "optimism": self.optimism(by),
            "scores": {name: self._score_record(name) for name in self.score_names},
            "questions": list(self.tables[0].query_ids),
            "notes": list(self.notes),
        }

    def _score_record(self, name: str) -> dict[str, Any]:
        tied, standings = self.tied.get(name), self.standings(name)
        return {
            "n": tied.questions if tied else 0,
            "best": standings[0].run if tied else None,
            "runs": {
                standing.run: {
                    "mean": standing.mean,
                    "delta": standing.test and standing.test.mean,
                    "test": standing.test and recorded_test(standing.test),
                    "tied_with_best": standing.is_tied if tied else None,
                    "tied_p_value": standing.p_value,
                }
                for standing in standings
            },
        }

    def _scores(self, name: str) -> Numbers:
        """Return the scores of each run, shape (queries, runs)."""
        return np.stack([table.columns[name] for table in self.tables], axis=1)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per score and run, the best run of each score first.

        Its columns are the score, the run, its mean over the questions that all runs have, how it differs from the
        baseline (`delta`, `low`, `high`, `p_value`; empty for the baseline), and whether it is tied with the best.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        rows: list[dict[str, Any]] = []
        for name in self.score_names:
            for one in self.standings(name):
                test = one.test and {key: getattr(one.test, key) for key in ("low", "high", "p_value")}
                row = {"score": name, "run": one.run, "mean": one.mean, "delta": one.test and one.test.mean}
                rows.append({**row, **(test or {}), "tied_with_best": one.is_tied})
        frame: pd.DataFrame = pandas.DataFrame(rows)
        return frame

    def plot(self, score: str | None = None) -> Chart:
        """Return a chart: recall by budget, or of one score the mean of each run with its interval, the best first.

        A notebook draws it, and `save("x.svg")` writes it.

        Args:
            score: The score; by default recall by budget where all runs have several budgets, else the first score.

        Raises:
            ConfigError: The runs do not all have this score.
        """
        chart: Chart = load_installed(f"{_PAGE}:leaderboard_chart")(self, score)
        return chart

    def summary(self, score: str | None = None, worst: int = 5) -> Page:
        """Return the table as people read it: by one score, and of all scores if there are several.

        Args:
            score: By which score runs are ordered, as in `standings`.
            worst: How many of the questions to name on which the best run is worse than the baseline.

        Raises:
            ConfigError: The runs do not all have this score.
        """
        page: Page = load_installed(f"{_PAGE}:leaderboard_page")(self, score, worst)
        return page
