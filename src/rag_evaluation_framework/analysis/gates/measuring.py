"""Measuring the subject of a gate in a result and, for a change, against a baseline."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil, fsum, inf, isfinite, sqrt
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np

from ...base.outside import first_of, name_line, one_line
from ...data.columns import Integers, Numbers
from ...data.dataset import Skipped
from ...data.score_table import ScoreTable, full_name
from ...errors import LevelMismatch, ResultError
from ...runs.means import DOCUMENT, FEWEST, LENGTH, Cluster, Clusters, every_label, label_values
from ...runs.result import EvaluationResult
from ...statistics.means import MeanScore, ends_of
from ...statistics.paired import LEVEL
from ...statistics.power import POWER, detectable_change
from ..comparison import Comparison, clusters_of
from ..comparison import Slice as ChangedSlice
from .gate import Gate, Slice

# The power of population gates: which true value would make one fail 4 times in 5.

_OF_INTERVAL, _OF_POWER = (NormalDist().inv_cdf(share) for share in ((1 + LEVEL) / 2, POWER))
_STEPS = 20  # halvings


@dataclass(frozen=True)
class Power:
    """Which true value would make a gate fail 4 times in 5.

    Attributes:
        what: What the gate is about.
        least: The value, the nearest to its limit; None if none would, or it is not known.
        unknown: Why it is not known; "" if it is.
    """

    what: Literal["mean", "drop"]
    least: float | None = None
    unknown: Literal["", "unchanged", "no_share"] = ""


def power_of_drop(gate: Gate, change: ChangedSlice) -> Power:
    """Return the true drop that would make a gate fail.

    Args:
        gate: The gate.
        change: What was measured for it.
    """
    test = change.test
    if not test.changed:
        return Power("drop", unknown="unchanged")
    least = gate.limit + detectable_change(test)
    return Power("drop", least if least <= test.largest and isfinite(least) else None)


def power_of_mean(gate: Gate, mean: MeanScore, scores: Numbers) -> Power:
    """Return the true mean that would make a gate fail.

    Scores from 0 to 1 with the mean m have a variance of at most m (1 - m), which those of 0 or 1 have; others are
    taken to keep the share of it that they have now. So the true mean b is that from which the limit L is as far as the
    bound of an interval around L, and the quantile of 4 in 5 around b, for n questions:
    |L - b| = z sqrt(L (1 - L) r / n) + z' sqrt(b (1 - b) r / n) + 1 / 2n.
    """
    if not np.all((scores >= 0) & (scores <= 1)):
        return Power("mean", unknown="no_share")
    limit = gate.limit if gate.is_at_least else 1 - gate.limit
    share = 1.0  # of the largest variance there can be: that of scores that are all equal is not known
    if mean.standard_error > 0:
        share = mean.standard_error**2 * mean.clusters / (mean.mean * (1 - mean.mean))
    bound = _OF_INTERVAL * sqrt(max(limit * (1 - limit), 0) * share / mean.clusters)
    room = limit - bound - 0.5 / mean.clusters
    low, high = 0.0, min(max(limit, 0.0), 1.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        fails = middle + _OF_POWER * sqrt(middle * (1 - middle) * share / mean.clusters) <= room
        low, high = (middle, high) if fails else (low, middle)
    return Power("mean", (low if gate.is_at_least else 1 - low) if low > 0 else None)


# Which questions cannot be compared, or were not scored, and why.

_WIDEST_FAILURE = 160  # characters


WITHOUT_BASELINE = "failed or skipped in the baseline"
"""Why a question of both datasets cannot be lost."""


def not_compared_by_reason(compared: Comparison, baseline: ScoreTable) -> dict[str, tuple[str, ...]]:
    """Return the ids of the questions of baseline and run that cannot be compared, by the reason.

    Those that fail or are skipped now are not among them: they are lost. Those that failed in the baseline are, also
    where they count as 0: they cannot be lost, nor fall.
    """
    rows, statuses = baseline.rows, baseline.statuses
    failed = [query_id for query_id in compared.change.query_ids if statuses[rows[query_id]] == "failed"]
    return {
        "gone": compared.removed,
        "new": compared.added,
        "with other wording or labels": compared.changed,
        WITHOUT_BASELINE: (*compared.placed, *failed),
    }


def why_no_score(result: EvaluationResult[Any], query_id: str) -> str:
    """Return why a question was not scored: it was skipped, or how it failed; "" if it was."""
    row = result.scores.rows.get(query_id)
    if row is None:
        return "skipped"
    if result.scores.statuses[row] != "failed":
        return ""
    failure = result.failures[query_id][0]
    return f"failed: {one_line(f'{failure.kind}: {failure.message}', _WIDEST_FAILURE)}"


def unfilled_budgets(name: str, runs: Mapping[str, EvaluationResult[Any]]) -> str:
    """Return how many rankings ran out of results before the budget of a score was filled, in each of some runs."""
    counts = [f"{run.unfilled[name]}{when}" for when, run in runs.items() if name in run.unfilled]
    return f", rankings that ran out of results before the budget was filled: {', '.join(counts)}" if counts else ""


# What a gate bounds, measured in a result and, where it is about a change, against a baseline.

FOUND = tuple(f"{level}{metric}" for metric in ("recall", "hit", "precision") for level in ("", "chunk_", "span_"))
"""The metrics of which a score above 0 says that something relevant was found, by name."""

Compared: TypeAlias = Comparison | LevelMismatch | ResultError | None
"""How a run differs from a baseline, or why they cannot be compared; None without a baseline."""

_MOST_NAMED = 3
_WIDEST = 80  # characters of a question
_MOST_LISTED = 20


class NotMeasured(Exception):
    """The reason why a gate is not measured; raised within `Runs.measure`, it makes the verdict of the gate."""


@dataclass(frozen=True)
class Measurement:
    """Measured value of a gate.

    Attributes:
        value: What the gate bounds.
        told: The same as people read it, with how many questions it is of.
        low: The least that it may be for all questions like these; the value itself if it is about these alone.
        high: The most.
        power: What a claim about all questions like these would find, if it is one.
        worst: The worst value that these questions could have; a gate that allows it cannot fail.
        queries: The ids of the queries that were lost or are not compared.
    """

    value: float
    told: str
    low: float
    high: float
    worst: float
    power: Power | None = None
    queries: tuple[str, ...] = ()

    @classmethod
    def pinned(cls, value: float, told: str, worst: float, queries: tuple[str, ...] = ()) -> "Measurement":
        """Return what is about these questions alone."""
        return cls(value, told, value, value, worst, queries=queries)


@dataclass(frozen=True)
class Runs:
    """A result, and what it is compared with.

    Attributes:
        result: The result.
        baseline: The result before; None if there is none.
        cluster: What counts as independent in population gates; by default documents where there are at least six.
    """

    result: EvaluationResult[Any]
    baseline: EvaluationResult[Any] | None
    cluster: Cluster | None = None

    @cached_property
    def compared(self) -> Compared:
        """The comparison, or why they cannot be compared; None without a baseline."""
        if self.baseline is None:
            return None
        try:
            return Comparison.of(self.baseline, self.result, cluster=self.cluster)
        except (LevelMismatch, ResultError) as refused:
            return refused

    def regressed(self, gate: Gate) -> tuple[str, ...]:
        """Return the ids of the queries for which the score of a gate fell since the baseline, the worst first.

        Of a gate on a mean also those whose score is below the limit and cannot be compared, as the baseline does not
        have them, has them otherwise or failed at them. Nothing without a baseline, of a gate about something else, or
        of one that bounds a score from above.
        """
        compared = self.compared
        if not isinstance(compared, Comparison) or not (gate.kind == "drop" or gate.is_at_least):
            return ()
        if (name := full_name(gate.name, compared.change.columns)) is None:
            return ()
        some = None if gate.where is None else self._ids(gate.where)
        scores = self.result.scores.per_query(name) if gate.kind == "score" else {}
        others = ((one, score) for one, score in scores.items() if one not in compared.deltas[name])
        low = {one: score for one, score in others if score is not None and score < gate.limit}
        listed = (*compared.regressions(name), *sorted(low, key=low.__getitem__))
        return tuple(query_id for query_id in listed if some is None or query_id in some)

    def measure(self, gate: Gate) -> Measurement:
        """Return what a gate bounds.

        Raises:
            NotMeasured: It cannot be measured in these results, or the gate allows all that can be measured in them.
        """
        against_baseline = {"drop": self._drop, "lost": self._lost, "compared": self._compared}
        measures = {"score": self._score, "latency": self._latency, **against_baseline}
        found = measures[gate.kind](gate)
        if not isfinite(found.value):
            raise NotMeasured(f"it is {found.value}")
        if gate.allows(found.worst):
            raise NotMeasured(f"{cannot_fail(gate, found.worst)}; found {found.told}")
        return found

    def _score(self, gate: Gate) -> Measurement:
        name = self._full(gate.name, self.result.scores.columns)
        rows, column = self._rows(gate.where), self.result.scores.column(name)
        rows = rows[~np.isnan(column[rows])]
        if not len(rows):
            raise NotMeasured(f"no question{_of(gate.where)} has a score {name}")
        value = fsum(column[rows].tolist()) / len(rows)
        of = f"{self._of_all(len(rows), gate.where)}{unfilled_budgets(name, {'': self.result})}"
        least, greatest = ends_of(column, self.result.score_range(name))
        worst = least if gate.is_at_least else greatest
        if not gate.population:
            return Measurement.pinned(value, f"{gate.written(value)}, {of}", worst)
        try:
            clusters = clusters_of((self.result,), self.result.scores.query_ids, self.cluster)
        except ResultError as unknown:
            raise NotMeasured(str(unknown)) from None
        mean = self.result.means_of([name], rows, clusters)[name]
        check_clusters(clusters.among(rows), mean.clusters)
        told = f"{gate.written(value)}, {_interval(mean.low, mean.high)}, {of}"
        return Measurement(value, told, mean.low, mean.high, worst, power_of_mean(gate, mean, column[rows]))

    def _drop(self, gate: Gate) -> Measurement:
        before, compared = self._comparison()
        name = self._full(gate.name, compared.change.columns, " in both runs", compared.incomparable)
        change = self._change(compared, name, gate.where)
        if change is None:
            raise NotMeasured(f"no question{_of(gate.where)} has a score {name} in both runs")
        drop = 0.0 - change.test.mean
        some = None if gate.where is None else self._ids(gate.where)
        means = f"{change.before:.3f} to {change.after:.3f}, {self._of_all(change.questions, gate.where)}"
        means += unfilled_budgets(name, {" before": before, " now": self.result})
        columns = compared.before.columns[name], compared.after.columns[name]
        worst = change.before - ends_of(np.concatenate(columns), self.result.score_range(name))[0]
        if not gate.population:
            return Measurement.pinned(drop, f"{gate.written(drop)}, from {means}", worst)
        scored = ~np.isnan(compared.change.columns[name])
        if some is not None:
            scored &= [query_id in some for query_id in compared.change.query_ids]
        rows = np.flatnonzero(scored)
        check_clusters(compared.clusters.among(rows), change.test.clusters)
        low, high = -change.test.high, -change.test.low
        told = f"{gate.written(drop)}, {_interval(low, high)}, from {means}"
        return Measurement(drop, told, low, high, worst, power_of_drop(gate, change))

    def _change(self, compared: Comparison, name: str, where: Slice | None) -> ChangedSlice | None:
        """Return how a score changed: by the test that the comparison shows, if it is about all questions."""
        if where is not None:
            return compared.part(self._ids(where), name, where.by, where.value)
        test, (before, after) = compared.tests.get(name), compared.means[name]
        if test is None or before is None or after is None:
            return None
        return ChangedSlice("", "", name, test.pairs, before, after, test)

    def _lost(self, gate: Gate) -> Measurement:
        baseline, compared = self._comparison()
        name = found_score(gate.name or self.result.cutoffs[0], compared.change.columns)
        if name is None:
            other = found_score(gate.name or self.result.cutoffs[0], compared.incomparable)
            why = f" ({other} is not comparable: {compared.incomparable[other]})" if other else ""
            raise NotMeasured(f"no score tells what was found at {gate.name}{why}; there are {listed(compared.deltas)}")
        before, after = baseline.scores, self.result.scores
        some = None if gate.where is None else self._ids(gate.where) | self._skipped(gate.where)
        asked = (each for each in (*compared.change.query_ids, *compared.skipped) if some is None or each in some)
        found = [query_id for query_id in asked if before.columns[name][before.rows[query_id]] > 0]
        now = {query_id for query_id, row in after.rows.items() if after.columns[name][row] > 0}
        lost = tuple(query_id for query_id in found if query_id not in now)
        told = f"{len(lost)} of {_questions(len(found))} found before, by {name}"
        told += unfilled_budgets(name, {" before": baseline, " now": self.result})
        wordings = dict(compared.questions) | {str(label.query.id): label.query.text for label in self.result.skipped}
        reasons = {query_id: why_no_score(self.result, query_id) for query_id in lost[:_MOST_NAMED]}
        named = (
            f"{one_line(wordings[query_id], _WIDEST)} ({name_line(query_id)}{reason and f', {reason}'})".strip()
            for query_id, reason in reasons.items()
        )
        more = "; …" if len(lost) > _MOST_NAMED else ""
        return Measurement.pinned(len(lost), f"{told}{': ' if lost else ''}{'; '.join(named)}{more}", len(found), lost)

    def _compared(self, gate: Gate) -> Measurement:
        """Return the share of the questions that can be compared: of the baseline's or today's, whichever are more."""
        baseline, compared = self._comparison()
        others = not_compared_by_reason(compared, baseline.scores)
        in_both = (compared.change.query_ids, compared.skipped, compared.placed, compared.changed)
        every = sum(map(len, in_both)) + (alone := max(len(compared.added), len(compared.removed)))
        same = every - alone - len(compared.changed) - len(others[WITHOUT_BASELINE])
        told = f"{gate.written(same / every)}, {same:,} of {_questions(every)}"
        told += "".join(f"; {reason}: {listed(ids)}" for reason, ids in others.items() if ids)
        if not gate.allows(same / every):
            told += "; if that is meant, keep a new baseline in the same pull request: rag-eval baseline last"
        return Measurement.pinned(same / every, told, 0.0, tuple(chain.from_iterable(others.values())))

    def _latency(self, gate: Gate) -> Measurement:
        stages, rows = self.result.queries.stages, self._rows(gate.where)
        if gate.name and gate.name not in stages:
            raise NotMeasured(f"no stage {gate.name!r} was timed; stages are {', '.join(stages) or 'none'}")
        chosen = [stages[gate.name]] if gate.name else [*stages.values()]
        columns = [seconds[rows] for seconds in chosen]
        timed = np.any([~np.isnan(seconds) for seconds in columns], axis=0) if columns else np.zeros(0, np.bool_)
        if not timed.any():
            raise NotMeasured(
                f"no question{_of(gate.where)} was timed on its own; questions that are asked together, or whose "
                "stored rankings tell no seconds, have no times"
            )
        totals = np.nansum(columns, axis=0)[timed]
        answered = ~self.result.scores.with_status("failed")[rows]
        least = ceil(100 / (100 - gate.percentile))  # one of them is beyond the percentile
        if len(totals) < min(least, int(answered.sum())):
            raise NotMeasured(
                f"{len(totals)} of {_questions(int(answered.sum()))} were timed on their own, too few for "
                f"p{gate.percentile}; ask them one at a time (max_concurrency 1, batch_queries false)"
            )
        told = ""
        if len(totals) > 1 and rows[timed][0] == self._warm_up:
            totals, told = totals[1:], ", the first question apart"
        late = self._out_of_time(rows)
        if late:  # they took as long at least; in which stage is not known
            totals = np.append(totals, np.full(late, float(self.result.config["timeout"])))
            told += f", {late} of them out of time"
        if failed := len(rows) - int(answered.sum()) - late:
            told += f", {failed} failed and not timed"
        value = float(np.quantile(totals, gate.percentile / 100))
        return Measurement.pinned(value, f"{gate.written(value)}, {_questions(len(totals))} timed{told}", inf)

    @cached_property
    def _warm_up(self) -> int:
        """The row of the first question that was timed, which also pays for connections and caches; -1 for none."""
        timed = [~np.isnan(seconds) for seconds in self.result.queries.stages.values()]
        rows = np.flatnonzero(np.any(timed, axis=0)) if timed else np.zeros(0, dtype=np.int64)
        return int(rows[0]) if len(rows) else -1

    def _out_of_time(self, rows: Integers) -> int:
        """Return how many questions were given up as they took too long."""
        limit: Any = self.result.config.get("timeout")
        if not isinstance(limit, int | float):
            return 0
        ids, failures = self.result.scores.query_ids, self.result.failures
        of_each = (failures.get(ids[row], ()) for row in map(int, rows))
        return sum(any(failure.kind == "TimeoutError" for failure in some) for some in of_each)

    def _of_all(self, count: int, where: Slice | None) -> str:
        """Return how many questions of how many that have an answer, in words."""
        every = int(self.result.scores.answerable[self._rows(where)].sum())
        every += len({label.query.id for label in self.result.skipped}) if where is None else len(self._skipped(where))
        return f"{count:,} of {_questions(every)}" if count < every else _questions(count)

    def _comparison(self) -> tuple[EvaluationResult[Any], Comparison]:
        """Return the baseline, and the comparison with it."""
        if self.baseline is None or self.compared is None:
            raise NotMeasured("there is no baseline")
        if not isinstance(self.compared, Comparison):
            raise NotMeasured(str(self.compared))
        return self.baseline, self.compared

    def _rows(self, where: Slice | None) -> Integers:
        """Return the rows of the questions of a slice."""
        if where is None:
            return np.arange(len(self.result.queries))
        values = self._labels.get(where.by)
        if values is None:
            raise NotMeasured(f"the questions have no {name_line(where.by)}; there are {listed(self._labels)}")
        rows = np.array([row for row, own in enumerate(values) if where.value in own], dtype=np.int64)
        if not len(rows):
            known = dict.fromkeys(value for own in values for value in own)
            raise NotMeasured(f"no question is of {name_line(str(where))}; there are {listed(known)}")
        return rows

    def _ids(self, where: Slice) -> set[str]:
        return {self.result.scores.query_ids[row] for row in self._rows(where).tolist()}

    def _skipped(self, where: Slice) -> set[str]:
        """Return the ids of the skipped questions of a slice."""
        known = self._labels_before(where.by)
        return {
            label.query.id
            for label in self.result.skipped
            if where.value in (known.get(label.query.id) or _values(label, where.by))
        }

    def _labels_before(self, by: str) -> Mapping[str, tuple[str, ...]]:
        """Return the values of a property that the baseline knows of questions that are skipped now."""
        if self.baseline is None or by not in (DOCUMENT, LENGTH):
            return {}
        known, skipped = self.baseline.scores.rows, (label.query.id for label in self.result.skipped)
        rows = {query_id: known[query_id] for query_id in skipped if query_id in known}
        values = every_label(self.baseline.queries, [*rows.values()], self.baseline.evaluation_type).get(by, ())
        return dict(zip(rows, values, strict=False))

    @cached_property
    def _labels(self) -> Mapping[str, Sequence[tuple[str, ...]]]:
        queries = self.result.queries
        return every_label(queries, range(len(queries)), self.result.evaluation_type)

    def _full(
        self, name: str, columns: Mapping[str, Any], where: str = "", incomparable: Mapping[str, str] | None = None
    ) -> str:
        full = full_name(name, columns)
        if full is None:
            other = full_name(name, incomparable or {})
            if incomparable and other:
                raise NotMeasured(f"{other} is not comparable: {incomparable[other]}")
            raise NotMeasured(f"there is no score {name}{where}; there are {listed(columns)}")
        return full


def cannot_fail(gate: Gate, worst: float) -> str:
    """Return why a gate that allows the worst value cannot fail, and what to do."""
    other = ", or keep another baseline" if gate.needs_baseline else ""
    return f"cannot fail, as {gate.written(worst)} is the worst that is possible; set another limit{other}"


def check_clusters(clusters: Clusters, count: int) -> None:
    """Raise NotMeasured if questions or documents are too few for a claim about all such questions."""
    if (few := clusters.few or count) >= FEWEST:
        return
    if not clusters.few and clusters.numbers is None:
        raise NotMeasured(
            f"a claim about all questions like these needs at least {FEWEST} questions, and there are {few}; add some, "
            "or pin the gate to these questions: leave population() out"
        )
    raise NotMeasured(
        f"a claim about all questions like these needs labels in at least {FEWEST} documents, and they are in {few}; "
        "add some, make the gate about the questions on these documents alone (cluster: question), or pin the gate to "
        "these questions: leave population() out"
    )


def found_score(cutoff: str, names: Collection[str]) -> str | None:
    """Return the score that tells at a cutoff whether anything relevant was found; None if there is none."""
    at = {name.partition("@")[0]: name for name in names if name.partition("@")[2] == cutoff}
    return next((at[metric] for metric in FOUND if metric in at), None)


def _values(label: Skipped, by: str) -> tuple[str, ...]:
    """Return the values of a property that a skipped question tells itself."""
    own = label_values(label.query.metadata.get(by))
    return own or ((label.document,) if by == DOCUMENT and label.document else ())


def _interval(*bounds: float) -> str:
    """Return an interval for people, "?" for a bound that is not known."""
    return f"interval {' to '.join(f'{bound:.3f}' if isfinite(bound) else '?' for bound in bounds)}"


def _of(where: Slice | None) -> str:
    return "" if where is None else f" of {name_line(str(where))}"


def _questions(count: int) -> str:
    return f"{count:,} question{'s' * (count != 1)}"


def listed(names: Collection[str]) -> str:
    """Return names on one line; of many the first ones."""
    return first_of([*map(name_line, names)], _MOST_LISTED) or "none"
