"""`SweepResult`: which cells of a sweep are best, what each axis contributes, and which cell to take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..analysis.comparison import Disagreement, cutoff_orders
from ..analysis.leaderboard import budget_scores
from ..base.optional import require
from ..base.outside import shown
from ..contracts.registry.loading import load_installed
from ..data.columns import Integers, Numbering, Numbers, mean_of
from ..data.cutoffs import ScoreName
from ..data.score_table import ScoreTable, full_name
from ..errors import ConfigError, ResultError
from ..runs.means import Clusters, score_ranges
from ..runs.naming import other_meaning
from ..runs.shown import Shown, recorded_test
from ..scoring.levels.rules import other_chunking
from ..statistics import MeanScore, PairedDifference, mean_scores, paired_differences, tied_with_best
from ..statistics.means import SHARE
from ..statistics.weights import by_cluster
from .cell import CellFacts, CellOutcome, Questions

if TYPE_CHECKING:
    import pandas as pd

    from ..report.pages.sweep import Chart, Page

Cost: TypeAlias = Literal["price", "latency", "index", "sent"]
COSTS: tuple[Cost, ...] = ("price", "latency", "index", "sent")
Plot: TypeAlias = Literal["cutoffs", "heatmap", "pareto"]

_MOST_TESTED = 300  # cells that are tested for being best: the test compares all pairs
_FEWEST_SHARE = 0.9  # of the questions that a cell has scored, to be ranked: else it takes them from all others
_ABOUT = 1.25  # times the least time is as fast: times vary by as much
_SOON = 0.001  # seconds, within which nobody waits: all are as fast
_PAGE = "rag_evaluation_framework.report.pages.sweep"  # a door upwards


def axis_names(axes: Iterable[str]) -> dict[str, str]:
    """Return the names of axes as people read them: the last part of each, or all of it where others end so, too."""
    last = {axis: axis.rpartition(".")[2] for axis in axes}
    return {axis: name if [*last.values()].count(name) == 1 else axis for axis, name in last.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """A cell at one cutoff.

    Attributes:
        outcome: The cell.
        cutoff: A number of results or a budget, such as `5` or `4000ch`.
        means: The mean of each metric there over the questions that have it in this cell, and those of metrics without
            a cutoff; None if no question has it. Empty if the cell failed.
    """

    outcome: CellOutcome
    cutoff: str
    means: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class CellStanding:
    """Where a cell stands among others by one score, and what it costs.

    Attributes:
        outcome: The cell.
        mean: The mean of its score over the questions that all ranked cells have.
        is_tied: Whether it may be as good as the best, which it is of the best.
        p_value: As in `TiedWithBest`; None if the cell was not tested, as hundreds are better.
        price: What it costs alone, in the currency of the prices that were given; None if that is not known.
        latency: The median time for one question, in seconds.
        index: About how many bytes its index has.
        sent: How many characters it sends on per question at the cutoff of the score; None at a budget, which all
            cells spend.
    """

    outcome: CellOutcome
    mean: float
    is_tied: bool
    p_value: float | None
    price: float | None
    latency: float | None
    index: float | None
    sent: float | None


@dataclass(frozen=True, slots=True)
class Best:
    """The ranked cells by one score: the best, and those that may be as good.

    Attributes:
        score: The score.
        standings: Where each cell stands, the best first; cells of one mean in the order of the plan.
        questions: How many questions all ranked cells have.
        clusters: How many independent groups these are in.
        tested: How many cells were tested: the best 300 of more.
    """

    score: str
    standings: tuple[CellStanding, ...]
    questions: int
    clusters: int
    tested: int

    @property
    def standing(self) -> CellStanding:
        """Where the best cell stands."""
        return self.standings[0]

    @property
    def tied(self) -> tuple[CellStanding, ...]:
        """All that are tied with the best, itself included, the best first."""
        return tuple(standing for standing in self.standings if standing.is_tied)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The cheapest cell that is tied with the best.

    Attributes:
        standing: The cell.
        best: The best cell, and those that are tied with it.
        by: By what it is the cheapest of them; None if it is the only one, or nothing is known of all.
    """

    standing: CellStanding
    best: Best
    by: Cost | None


@dataclass(frozen=True, slots=True)
class Effect:
    """Main effect of an axis: what one of its levels changes against the first.

    Attributes:
        axis: The axis.
        level: The level, as it is named.
        baseline: The first level of which a cell is compared.
        combinations: For how many combinations of the other axes both levels have a cell: the difference of a question
            is its mean over these.
        test: Whether the mean of these differences is 0; None without a combination or a question.
    """

    axis: str
    level: str
    baseline: str
    combinations: int
    test: PairedDifference | None


@dataclass(frozen=True, repr=False)
class SweepResult(Shown):
    """Conclusions of a sweep. Printing shows them as a page.

    Cells are compared over the questions that all of them have. A cell that scored fewer than 9 in 10 of the questions
    that another one scored is listed and not ranked, as are cells of different chunkings at chunk level.

    Attributes:
        cells: What became of every cell, in the order of the plan.
        decide_by: By which score cells are ordered; by default the first recall at the largest budget, else the first
            score.
        plan: What the sweep was expected to take, by name; empty if that is not known.
        bill: What it took, by the same names.
        prices: What each cell would cost alone, by its number, in the currency of the prices that were given; those
            that are not known are left out.
        notes: What makes its numbers doubtful, beside what the cells themselves tell.
    """

    cells: tuple[CellOutcome, ...]
    decide_by: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict[str, Any])
    bill: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prices: Mapping[int, float] = field(default_factory=dict[int, float])
    notes: tuple[str, ...] = ()

    @cached_property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the levels of each axis that differs between cells, in the order of the plan."""
        levels: dict[str, dict[str, None]] = {}
        for one in self.cells:
            for axis, name in one.cell.levels.items():
                levels.setdefault(axis, {})[name] = None
        return {axis: tuple(names) for axis, names in levels.items() if len(names) > 1}

    @cached_property
    def failed(self) -> tuple[CellOutcome, ...]:
        """The cells without a result, each with its `failure`."""
        return tuple(outcome for outcome in self.cells if outcome.facts is None)

    @cached_property
    def left_out(self) -> tuple[CellOutcome, ...]:
        """The cells that have scored too few questions, or none, to be compared with the others."""
        compared = {outcome.cell.number for outcome, _ in self._compared}
        return tuple(one for one in self.cells if one.facts is not None and one.cell.number not in compared)

    @cached_property
    def _compared(self) -> list[tuple[CellOutcome, CellFacts]]:
        known = [(outcome, outcome.facts) for outcome in self.cells if outcome.facts is not None]
        scored = [int((~np.isnan([*facts.scores.values()])).any(axis=0).sum()) for _, facts in known]
        fewest = max(_FEWEST_SHARE * max(scored, default=0), 1)
        return [pair for pair, count in zip(known, scored, strict=True) if count >= fewest]

    @cached_property
    def incomparable(self) -> tuple[str, ...]:
        """The scores that mean something else in some cells, such as budgets of other tokens."""
        settings = {
            json.dumps([facts.metric_names, facts.settings], sort_keys=True): facts for _, facts in self._compared
        }  # mostly one
        meant = [((facts.metric_names, facts.settings), facts.scores) for facts in settings.values()]
        return tuple(
            name
            for name in (meant[0][1] if meant else ())
            if any(name in scores and other_meaning(name, meant[0][0], one) for one, scores in meant[1:])
        )

    @cached_property
    def score_names(self) -> tuple[str, ...]:
        """The scores that all compared cells have, and that mean the same in all."""
        names = [facts.scores.keys() for _, facts in self._compared]
        shared = names[0] if names else ()
        return tuple(name for name in shared if name not in self.incomparable and all(name in own for own in names))

    @cached_property
    def why_unranked(self) -> str:
        """Why cells are listed and not ranked; empty if they are ranked."""
        if not self._compared:
            return "no cell has a score"
        first = self._compared[0][1]
        for settings in {id(facts.settings): facts.settings for _, facts in self._compared}.values():  # mostly one
            if (reason := other_chunking(first.settings, settings)) is not None:
                return f"{reason}, where span_u also looks at the order of results"
        if not self.score_names:
            return "the cells have no score in common"
        return "" if self._asked else "no question was asked in all cells with the same truth"

    @cached_property
    def _asked(self) -> list[tuple[str, str]]:
        """The questions that all compared cells were asked."""
        all_asked = [*dict.fromkeys(facts.questions for _, facts in self._compared)]
        shared = {*all_asked[0]}.intersection(*all_asked[1:])
        return [question for question in all_asked[0] if question in shared]

    @cached_property
    def _rows(self) -> Mapping[Questions, Integers]:
        """The rows of the questions that all compared cells were asked, in each of the sets that were asked."""
        found: dict[Questions, Integers] = {}
        for questions in dict.fromkeys(facts.questions for _, facts in self._compared):
            row = {question: at for at, question in enumerate(questions)}
            found[questions] = np.array([row[question] for question in self._asked], dtype=np.int64)
        return found

    @cached_property
    def clusters(self) -> Clusters:
        """Which of the questions that all compared cells have count together."""
        facts = self._compared[0][1]
        return facts.clusters.among(self._rows[facts.questions])

    @cached_property
    def _scores(self) -> Callable[[str], Numbers]:
        return cache(self._matrix)  # which all that follows asks for

    def _matrix(self, name: str) -> Numbers:
        """Return a score of all compared cells; shape (questions, cells)."""
        return np.stack([facts.scores[name][self._rows[facts.questions]] for _, facts in self._compared], axis=1)

    def score(self, name: str | None = None) -> str:
        """Return the full name of a score; None is the one that decides.

        Raises:
            ConfigError: The cells do not all have this score.
            ResultError: No score is in all cells.
        """
        if not self.score_names:
            raise ResultError(f"{self.why_unranked or 'no cell has a score'}: there is nothing to order by")
        wanted = self.decide_by if name is None else name
        if wanted is None:
            recalls = budget_scores(self.score_names, least=1)
            return recalls[0][-1] if recalls else self.score_names[0]
        if (full := full_name(wanted, dict.fromkeys(self.score_names))) is None:
            raise ConfigError(f"no score {shown(wanted)} in all cells; there are {', '.join(self.score_names)}")
        return full

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every cell at every cutoff, also those that failed: as many as the product of all that varies."""
        means = [None if one.facts is None else one.facts.means for one in self.cells]
        cutoffs = [dict.fromkeys(name.partition("@")[2] for name in own or ()) for own in means]
        every = dict.fromkeys(chain(*cutoffs)) or {"–": None}  # of a cell that failed
        return tuple(
            Row(one, cutoff, _means_at(own or {}, cutoff))
            for one, own, known in zip(self.cells, means, cutoffs, strict=True)
            for cutoff in filter(None, every if own is None else known)
        )

    def _rankable(self, score: str | None) -> str:
        if self.why_unranked:
            raise ResultError(f"cells are not ranked: {self.why_unranked}")
        return self.score(score)

    def best(self, score: str | None = None) -> Best:
        """Return the best cell with the cells tied with it, jointly at 95 %, by max-T.

        Args:
            score: By which score; a metric alone means its first cutoff. By default the one that decides.

        Raises:
            ConfigError: The cells do not all have this score.
            ResultError: Cells cannot be ranked (`why_unranked`), or no question has the score in all of them.
        """
        return self._ranked(self._rankable(score))

    def standings(self, score: str | None = None) -> tuple[CellStanding, ...]:
        """Return where each ranked cell stands, the best first; argument and errors as of `best`."""
        return self.best(score).standings

    @cached_property
    def _ranked(self) -> Callable[[str], Best]:
        return cache(self._rank)

    def _rank(self, name: str) -> Best:
        scores = self._scores(name)
        means = _means(scores)
        order = sorted(range(len(means)), key=lambda at: -means[at])
        tested = sorted(order[:_MOST_TESTED])  # in the order of the plan, so that the first of equal ones is the best
        tied = tied_with_best(scores[:, tested], self.clusters.numbers)
        if tied is None:
            raise ResultError(f"no question has {name} in all cells: there is nothing to order by")
        tests = dict(zip(tested, zip(tied.is_tied, tied.p_values, strict=True), strict=True))
        found: list[CellStanding] = []
        for at in order:
            outcome, facts = self._compared[at]
            is_tied, p_value = tests.get(at, (False, None))
            costs = _costs(facts, "" if is_budget(name) else name.partition("@")[2])
            price = self.prices.get(outcome.cell.number)
            found.append(CellStanding(outcome, means[at], is_tied, p_value, price, **costs))
        return Best(name, tuple(found), tied.questions, tied.clusters, len(tested))

    def means_of(self, standings: Sequence[CellStanding], score: str | None = None) -> list[MeanScore | None]:
        """Return the means of some cells with their intervals of 95 %, over the questions that all ranked cells have.

        Args:
            standings: The cells.
            score: As in `best`; errors, too.
        """
        name = self._rankable(score)
        at = {outcome.cell.number: number for number, (outcome, _) in enumerate(self._compared)}
        scores = self._scores(name)
        complete = np.where(np.isnan(scores).any(axis=1, keepdims=True), np.nan, scores)
        chosen = complete[:, [at[standing.outcome.cell.number] for standing in standings]]
        facts = self._compared[0][1]
        scale = score_ranges(facts.settings, facts.metric_names).get(ScoreName.parse(name).metric, SHARE)
        return [*mean_scores(chosen, self.clusters.numbers, ranges=[scale] * len(standings))]

    @cached_property
    def disagreements(self) -> tuple[tuple[str, ...], list[Disagreement]]:
        """Names of cells, and which of these is best at a number of results and which at a budget, beyond chance.

        Of the metric that decides; of more than 300 cells, those that are best at each cutoff are looked at.
        """
        metric = ScoreName.parse(self._rankable(None)).metric
        names = [name for name in self.score_names if ScoreName.parse(name).metric == metric]
        orders = [np.argsort(-np.array(_means(self._scores(name))), kind="stable") for name in names]
        chosen: list[int] = np.unique([order[: _MOST_TESTED // len(names)] for order in orders]).tolist()
        ids = tuple(query_id for query_id, _ in self._asked)
        answerable = np.ones(len(ids), dtype=np.bool_)
        tables = [ScoreTable(ids, {name: self._scores(name)[:, at] for name in names}, answerable) for at in chosen]
        return tuple(self._compared[at][0].cell.name for at in chosen), cutoff_orders(tables, self.clusters.numbers)

    def effects(self, score: str | None = None) -> tuple[Effect, ...]:
        """Return what each level of each axis changes against the first level of the axis.

        Two cells are compared over the questions that both have with the same truth. Of a question, the difference is
        its mean over those combinations of the other axes for which both levels have a cell, so that a level that was
        tried with the best embedder only is compared with others of that embedder. At chunk level, cells of different
        chunkings are never compared. Each interval is a test of its own.

        Args:
            score: As in `best`.

        Raises:
            ConfigError: The cells do not all have this score.
            ResultError: No score is in all cells.
        """
        name, ids = self.score(score), Numbering()
        sets = {facts.questions: facts.clusters for _, facts in self._compared}
        truths = {truth: row for row, truth in enumerate(dict.fromkeys(chain.from_iterable(sets)))}
        rows = {questions: [truths[truth] for truth in questions] for questions in sets}
        queries = None if len(sets) == 1 else np.array([ids[query_id] for query_id, _ in truths])
        scores = np.full((len(truths), len(self._compared)), np.nan)
        for at, (_, facts) in enumerate(self._compared):
            scores[rows[facts.questions], at] = facts.scores[name]
        found: list[Effect] = []
        changes: list[Numbers] = []
        for axis in self.axes:
            cells: dict[str, dict[Any, int]] = {level: {} for level in self.axes[axis]}
            for at, (outcome, facts) in enumerate(self._compared):
                levels = outcome.cell.levels
                others = tuple(name for key, name in levels.items() if key != axis)
                cells[levels[axis]][others, json.dumps(facts.settings["chunking"], sort_keys=True)] = at
            (first, baseline), *tried = [(level, own) for level, own in cells.items() if own]
            for level, own in tried:
                both = [combination for combination in own if combination in baseline]
                now, then = (scores[:, [those[combination] for combination in both]] for those in (own, baseline))
                both_have = int((~np.isnan(now - then)).any(axis=0).sum())
                sums, counts = (part.sum(axis=1) for part in by_cluster(now - then, queries))
                changes.append(np.where(counts, sums / np.maximum(counts, 1), np.nan))
                found.append(Effect(axis, level, first, both_have, None))
        if not changes:
            return ()
        clusters = self.clusters.numbers if queries is None else _joint(sets, ids)
        largest = inf if np.any((scores < 0) | (scores > 1)) else 1.0
        tests = paired_differences(np.stack(changes, axis=1), clusters, largest=largest)
        return tuple(replace(effect, test=test) for effect, test in zip(found, tests, strict=True))

    def pareto(self, costs: Sequence[Cost] | None = None, score: str | None = None) -> tuple[CellStanding, ...]:
        """Return the cells that no other one beats: in the score or in a cost better, and in none worse.

        Args:
            costs: Of `price`, `latency` (median), `index` (bytes) and `sent` (characters per question at the cutoff of
                the score); by default those that are known for all ranked cells, and differ.
            score: As in `best`; errors, too.

        Returns:
            The front, the best first.

        Raises:
            ConfigError: A cost is not one of these, or is not known for all cells.
        """
        standings = self.standings(score)
        known = known_costs(standings)
        for cost in costs or ():
            if cost not in known:
                a_cost = f"a cost: {', '.join(COSTS)}"
                raise ConfigError(f"pareto: {shown(cost)} is not {'known for all cells' if cost in COSTS else a_cost}")
        chosen = known if costs is None else costs
        values = np.array([[-one.mean, *(getattr(one, cost) for cost in chosen)] for one in standings])
        return tuple(
            one
            for one, own in zip(standings, values, strict=True)
            if not ((values <= own).all(axis=1) & (values < own).any(axis=1)).any()
        )

    @cached_property
    def recommendation(self) -> Recommendation:
        """The cheapest cell that is tied with the best: by price, else by median latency, else by the index size.

        The first of these counts that is known for all tied cells and differs between them. Of cells of one cost, it is
        the one with the highest mean. Times vary: a median of at most a quarter more than the least is as fast, and so
        are all up to a millisecond.

        Raises:
            ResultError: As `best`.
        """
        best = self.best()
        costs: tuple[Cost, ...] = ("price", "latency", "index")
        known: dict[Cost, set[Any]] = {cost: {getattr(one, cost) for one in best.tied} for cost in costs}
        known["latency"] = {known and max(known, _SOON) for known in known["latency"]}
        by: Cost | None = next((cost for cost in costs if None not in known[cost] and len(known[cost]) > 1), None)
        if by is None:
            return Recommendation(best.standing, best, None)
        most = min(known[by]) * (_ABOUT if by == "latency" else 1)
        return Recommendation(next(one for one in best.tied if getattr(one, by) <= most), best, by)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per cell and cutoff: its number, a column per axis, the cutoff, and one column per metric.

        Then median latency in seconds, bytes of the index, characters sent on, its folder, and why it failed.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        rows: list[dict[str, Any]] = []
        for row in self.rows:
            one, cell = row.outcome, row.outcome.cell
            named = {
                name: value if isinstance(value := cell.values[axis], int | float) else cell.levels[axis]
                for axis, name in axis_names(self.axes).items()
            }
            ended = {**_costs(one.facts, row.cutoff), "folder": one.folder and str(one.folder), "failure": one.failure}
            rows.append({"cell": cell.number, **named, "cutoff": row.cutoff, **row.means, **ended})
        frame: pd.DataFrame = pandas.DataFrame(rows)
        return frame

    def record(self) -> dict[str, Any]:
        """Return the conclusion for JSON: the recommended cell, ranked cells in order, main effects, and every cell."""
        chosen = None if self.why_unranked else self.recommendation
        standings = () if self.why_unranked else self.standings()
        effects = self.effects() if self.score_names else ()
        cells: list[dict[str, Any]] = []
        for one in self.cells:
            told = {"cell": one.cell.number, "name": one.cell.name, "values": dict(one.cell.values)}
            known = {"means": dict(one.facts.means), "notes": list(one.facts.notes)} if one.facts else {}
            cells.append({**told, "folder": one.folder and str(one.folder), "failure": one.failure, **known})
        return {
            "schema_version": 1,
            "notes": list(self.notes),
            "ordered_by": chosen and chosen.best.score,
            "why_unranked": self.why_unranked,
            "questions": chosen and chosen.best.questions,
            "recommended": chosen and chosen.standing.outcome.cell.number,
            "recommended_by": chosen and chosen.by,
            "standings": [
                {"cell": one.outcome.cell.number, **{key: getattr(one, key) for key in ("mean", "is_tied", *COSTS)}}
                for one in standings
            ],
            "effects": [{**asdict(one), "test": one.test and recorded_test(one.test)} for one in effects],
            "cells": cells,
        }

    def summary(self) -> Page:
        """Return the sweep as people read it: what to take and why, all cells, axes, pictures, failures and notes."""
        page: Page = load_installed(f"{_PAGE}:sweep_page")(self)
        return page

    def table(self, metric: str | None = None) -> Page:
        """Return a page of one table: every cell that has a result, and the means of a metric at all cutoffs.

        Args:
            metric: Its name; by default that of the score that decides.

        Raises:
            ConfigError: The cells do not all have this metric.
        """
        page: Page = load_installed(f"{_PAGE}:table_page")(self, metric)
        return page

    def plot(self, kind: Plot = "cutoffs", score: str | None = None) -> Chart:
        """Return a chart, which a notebook draws, and `save("x.svg")` writes.

        Args:
            kind: `"cutoffs"` for the best cells at every budget, or number of results; `"heatmap"` for the two axes
                that matter most; `"pareto"` for quality against cost.
            score: As in `best`.

        Raises:
            ConfigError: There is no such kind, the cells do not all have the score, or there is nothing to draw, as a
                heat map of one axis.
            ResultError: Cells cannot be ranked.
        """
        chart: Chart = load_installed(f"{_PAGE}:sweep_chart")(self, kind, score)
        return chart


def _joint(sets: Mapping[Questions, Clusters], ids: Mapping[str, int]) -> Integers | None:
    """Return the clusters of questions that are together in one of several sets; None if each counts by itself."""
    found = np.arange(len(ids))
    for questions, clusters in sets.items():
        rows = np.array([ids[query_id] for query_id, _ in questions])
        numbers: list[int] = [] if clusters.numbers is None else np.unique(clusters.numbers).tolist()
        for number in numbers:
            joined = found[rows[clusters.numbers == number]]
            found[np.isin(found, joined)] = joined[0]
    return np.unique(found, return_inverse=True)[1] if any(one.numbers is not None for one in sets.values()) else None


def known_costs(standings: Sequence[CellStanding]) -> tuple[Cost, ...]:
    """Return the costs that are known for all cells."""
    return tuple(cost for cost in COSTS if all(getattr(one, cost) is not None for one in standings))


def is_budget(name: str) -> bool:
    """Return whether a score is at a budget."""
    cutoff = ScoreName.parse(name).cutoff
    return cutoff is not None and cutoff.is_budget


def _means_at(means: Mapping[str, float | None], cutoff: str) -> dict[str, float | None]:
    parted = ((name.partition("@"), mean) for name, mean in means.items())
    return {metric: mean for (metric, _, own), mean in parted if own in ("", cutoff)}


def _means(scores: Numbers) -> list[float]:
    """Return the mean of each cell over the questions that all have; 0 without any."""
    complete = scores[~np.isnan(scores).any(axis=1)]
    return [mean_of(column) or 0.0 for column in complete.T]


def _costs(facts: CellFacts | None, cutoff: str) -> dict[str, float | None]:
    return {
        "latency": facts.latency.total.p50 if facts and facts.latency else None,
        "index": facts.index if facts else None,
        "sent": facts.sent.get(cutoff) if facts else None,
    }
