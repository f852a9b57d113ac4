"""Aggregates of a result beside scores: means, latency, ranks, effects of a reranker, and slices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil, inf, isclose, sqrt
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from ..base.files import is_list
from ..base.outside import grouped
from ..data.columns import Integers, Numbering, Numbers, mean_of
from ..data.ids import EvaluationType
from ..data.queries import SCOPE_PREFIX
from ..data.score_table import ScoreTable
from ..data.spans import CharacterSpan, merge_overlapping_spans, total_length
from ..statistics.means import QUANTILES, SHARE, MeanScore
from ..statistics.paired import LEVEL, PairedDifference, paired_differences
from ..statistics.power import POWER, pairs_needed, power
from .query_result import QueryResult, QueryResults, Returned, total_seconds
from .shown import finite, recorded_test

if TYPE_CHECKING:
    from .result import EvaluationResult


# Which questions are no independent evidence: those that are answered by the same document.

Cluster = Literal["question", "document"]
"""What is taken as independent."""

FEWEST = 6
"""Of fewer clusters no change is more than chance: 2 of the 2^5 patterns of five signs are as far from 0."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which questions count together: those whose first label is in the same document.

    Attributes:
        numbers: The cluster of each question, from 0, shape (questions,); None if each question counts by itself.
        few: Number of documents of the labels, where these are too few to count by document, so that what is found is
            about these documents only; else 0.
        fewest: Of fewer documents, each question counts by itself.
    """

    numbers: Integers | None = None
    few: int = 0
    fewest: int = FEWEST

    @classmethod
    def of(
        cls, relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType, cluster: Cluster | None = None
    ) -> "Clusters":
        """Return the clusters of questions; one without a label is a cluster of its own.

        Args:
            relevant: The relevant units of each question.
            evaluation_type: The level of these; chunks do not tell their documents.
            cluster: What is taken as independent; by default documents where there are at least six, else questions.
        """
        found = None if cluster == "question" else documents(relevant, evaluation_type)
        fewest = 1 if cluster == "document" else FEWEST
        count = 0 if found is None else int(found.max(initial=-1)) + 1
        if found is None or count < fewest:
            return cls(None, count, fewest)
        alone = found < 0
        found[alone] = count + np.arange(int(alone.sum()))
        return cls(found, 0, fewest)

    def among(self, rows: Integers) -> "Clusters":
        """Return those of some of the questions."""
        if self.numbers is None:
            return self
        found, numbers = np.unique(self.numbers[rows], return_inverse=True)
        few = len(found) < self.fewest
        return replace(self, numbers=None if few else numbers, few=len(found) if few else 0)

    def record(self) -> dict[str, Any]:
        """Return how intervals are made, for JSON: their level, the seed, and what is taken as independent."""
        return {"level": LEVEL, "seed": SEED, "independent": "questions" if self.numbers is None else "documents"}


def documents(relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType) -> Integers | None:
    """Return the number of the document of the first label of each question, from 0; -1 where there is none.

    None of chunks, whose documents are not known.

    Args:
        relevant: As in `Clusters.of`.
        evaluation_type: As in `Clusters.of`.
    """
    if evaluation_type == "chunk-level":
        return None
    numbers = Numbering()
    return np.array([numbers[document_of(units[0])] if units else -1 for units in relevant], dtype=np.int64)


def document_of(unit: Any) -> str:
    """Return the document of a span, or the id that a document is."""
    return str(unit.doc_id if isinstance(unit, CharacterSpan) else unit)


# What is known of the means of a result: over what they are taken, and what chance makes of them.

DROP = 0.05
"""The drop of which is told how often it would be found."""

CORRELATION = 0.5
"""What is assumed of the scores of a run and of those that it is compared with."""

SEED = 0
"""Of the random weights of intervals."""


def drop_found(mean: MeanScore) -> tuple[float, int | None] | None:
    """Return how often a drop of `DROP` would be found in a comparison with this run, and of how many questions mostly.

    The second is None where it is found 4 times in 5 already.

    Of the other run is assumed that its scores are correlated with those of this one, as where half of them are drawn
    anew, and have the same spread; scores of 0 or 1, what spread their rate after the drop has. None for scores that
    are not from 0 to 1, such as seconds, as such a drop means nothing there, and for a mean that cannot drop so far.
    """
    if not mean.standard_error > 0 or mean.low < 0 or mean.high > 1 or mean.mean < DROP:
        return None
    variance, questions = mean.deviation**2, mean.questions
    is_hit = isclose(variance * (questions - 1), mean.mean * (1 - mean.mean) * questions)
    after = (mean.mean - DROP) * (1 - mean.mean + DROP) if is_hit else variance
    spread = variance + after - 2 * CORRELATION * sqrt(variance * after)
    error = mean.standard_error * sqrt(spread / variance)
    step = 1 / questions if is_hit else 0.0  # of each change
    found = power(DROP, error, mean.clusters, changed=1 - CORRELATION, step=step)
    clusters = pairs_needed(DROP, error * sqrt(mean.clusters), changed=1 - CORRELATION, size=step * mean.clusters)
    needed = ceil(clusters * questions / mean.clusters)
    return found, None if found >= POWER or needed <= questions else needed


def score_ranges(config: Mapping[str, Any], metric_names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the range of each metric by name, from the record of a run."""
    found: dict[str, tuple[float, float]] = {}
    for name, recorded in zip(metric_names, config.get("metrics", ()), strict=False):
        least, greatest = recorded.get("score_range", SHARE)
        found[name] = (-inf if least is None else float(least), inf if greatest is None else float(greatest))
    return found


def statistics_record(
    statistics: Mapping[str, MeanScore], micro: Mapping[str, float | None], per_document: Mapping[str, float | None]
) -> dict[str, Any]:
    """Return what is known of every mean for JSON."""
    return {"level": LEVEL, "seed": SEED} | {
        name: finite(asdict(mean))
        | {"quantiles": dict(zip(map(str, QUANTILES), mean.quantiles, strict=True))}
        | {"micro": dict(micro).get(name), "per_document": dict(per_document).get(name)}
        for name, mean in statistics.items()
    }


def truth_size(queries: QueryResults[Any], row: int, evaluation_type: EvaluationType) -> int:
    """Return how much is relevant to a question: the characters of its answers, each once, else the answers."""
    if evaluation_type == "token-level":
        return total_length(merge_overlapping_spans(queries.relevant[row]))
    return len(queries.answers.get(row) or queries.relevant[row])


# How long one question takes: by stage, and in total.

TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Duration:
    """The durations of one stage, or of all together, over the questions that were timed.

    Attributes:
        p50: The median, in seconds.
        p95: The duration that 95 of 100 questions do not exceed, in seconds.
        questions: How many questions it is of.
    """

    p50: float
    p95: float
    questions: int

    @classmethod
    def of(cls, seconds: Numbers) -> "Duration":
        """Return the percentiles of at least one duration, by linear interpolation between the two nearest ranks.

        Of n ordered durations, p95 is at the position 0.95 · (n - 1), counted from 0: of 1 s and 2 s it is 1.95 s.
        Source: Hyndman and Fan, The American Statistician 50 (1996), 361, definition 7; NumPy's default.
        """
        p50, p95 = np.percentile(seconds, (50, 95)).tolist()
        return cls(p50, p95, len(seconds))


@dataclass(frozen=True)
class Latency:
    """Seconds per question, asked alone.

    The first question that was timed pays for connections and caches that the others find made. It is kept apart,
    unless it is the only one.

    Attributes:
        stages: Each stage by name, in order.
        total: All stages of a question together, reranking included.
        warm_up: What the first question took in total, in seconds; None if it is the only one, and so counts.
    """

    stages: Mapping[str, Duration]
    total: Duration
    warm_up: float | None

    @classmethod
    def of(cls, stages: Mapping[str, Numbers]) -> Self | None:
        """Return the latency of questions; None if none was timed.

        Args:
            stages: The seconds of each stage, NaN where a question was not timed or has no such stage; shape
                (queries,) each, in the order in which questions are asked.
        """
        totals = total_seconds(stages, len(next(iter(stages.values()), ())))
        timed = np.flatnonzero(~np.isnan(totals))
        if not len(timed):
            return None
        counted = timed[1:] if len(timed) > 1 else timed
        known = {name: column[counted][~np.isnan(column[counted])] for name, column in stages.items()}
        return cls(
            {name: Duration.of(column) for name, column in known.items() if len(column)},
            Duration.of(totals[counted]),
            float(totals[timed[0]]) if len(timed) > 1 else None,
        )


# At which rank the first relevant result is, over the questions that were scored.


@dataclass(frozen=True, slots=True)
class FirstRelevant:
    """The rank of the first relevant result, counted from 1; results that repeat a document count.

    Attributes:
        questions: How many questions were scored.
        found: Of how many a result is relevant, however deep the cutoffs reach.
        median: The median rank; questions without a relevant result count as later than any. None if the median is
            there, as of one with a relevant result and one without.
    """

    questions: int
    found: int
    median: float | None

    @classmethod
    def of(cls, table: ScoreTable, returned: Returned) -> Self | None:
        """Return at which rank the first relevant result is; None if no question was scored.

        Args:
            table: The scores, which tell what became of each question.
            returned: What was returned.
        """
        scored = table.with_status("scored")
        if not scored.any():
            return None
        ranks = returned.first_relevant[scored]
        found = ~np.isnan(ranks)
        median = float(np.median(np.where(found, ranks, np.inf)))
        return cls(len(ranks), int(found.sum()), median if np.isfinite(median) else None)


# What was returned for questions without an answer: how many got results, and at which scores.

_KEPT = (95, 50)
"""The percentages of good first results that thresholds keep, at least."""


@dataclass(frozen=True, slots=True)
class FalseReturns:
    """Effect of a threshold on the score: answer only if the first result has at least this score.

    Attributes:
        threshold: The score.
        kept: Of the questions whose first result is relevant, the share that has at least this score.
        rate: Of the questions without an answer, the share that has at least this score: the false-return rate.
    """

    threshold: float
    kept: float
    rate: float


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """Results of the questions without an answer.

    These have no score: there is nothing to recall. But a system that should say "I do not know" has to tell them from
    the others, and all that it has is the score of the best result. So the false-return rate is told at two thresholds,
    which come from this run and not from taste: the highest scores that at least 95 %, and half, of the questions have
    whose first result is relevant. The first is the false positive rate at a true positive rate of 95 % (Liang, Li and
    Srikant, ICLR 2018, arXiv:1706.02690). Range [0, 1]; a retriever whose scores tell nothing has about the share kept.

    Attributes:
        asked: How many there are; those whose retrieval failed are left out.
        returned: How many of them got any result.
        good: The questions with an answer whose first result is relevant, and has a score.
        false_returns: At each threshold, of which two may be one; none if that is not defined.
        undefined: Why not; None if it is.
    """

    asked: int
    returned: int
    good: int
    false_returns: tuple[FalseReturns, ...]
    undefined: str | None = None

    @classmethod
    def of(cls, table: ScoreTable, returned: Returned) -> Self | None:
        """Return what was returned for questions without an answer; None if none was asked.

        Args:
            table: The scores, which tell what became of each question.
            returned: What was returned.
        """
        asked = table.with_status("no-answer")
        if not asked.any():
            return None
        best, some = returned.best_score[asked], int((returned.results[asked] > 0).sum())
        good = returned.best_score[returned.first_relevant == 1]
        good = good[~np.isnan(good)]
        unordered = some - int((~np.isnan(best)).sum())
        undefined, found = None, dict[FalseReturns, None]()
        if unordered:
            undefined = f"{unordered} of them got results that no score orders"
        elif not len(good):
            undefined = "of no question with an answer the first result is relevant and has a score"
        else:
            falling = np.sort(good)[::-1]
            for kept in _KEPT:  # a score that was seen, so that no fewer are kept than is said
                threshold = float(falling[(kept * len(good) - 1) // 100])  # of n scores the one at ⌈kept · n⌉, from 1
                shares = (float((scores >= threshold).mean()) for scores in (good, best))
                found[FalseReturns(threshold, *shares)] = None
        return cls(int(asked.sum()), some, len(good), tuple(found), undefined)


# What a reranker changed: every score before and after, and what no order of its candidates exceeds.


def change_tests(
    before: ScoreTable, after: ScoreTable, changes: Mapping[str, Numbers], clusters: Clusters
) -> dict[str, PairedDifference]:
    """Return the mean change of every score with its interval of 95 % and its p-value; of scores that a query has.

    Args:
        before: The scores before.
        after: The scores after.
        changes: After minus before by score, NaN where a query lacks one of them; shape (queries,) each.
        clusters: Which queries count together.
    """
    both = [np.stack([table.column(name) for name in changes], axis=1) for table in (before, after)]
    beyond = np.any([(scores < 0) | (scores > 1) for scores in both], axis=(0, 1))
    every, largest = np.stack([*changes.values()], axis=1), np.where(beyond, np.inf, 1.0)
    found = paired_differences(every, clusters.numbers, largest=largest)
    return {name: test for name, test in zip(changes, found, strict=True) if test is not None}


def change_record(
    means: tuple[float | None, float | None], delta: float | None, test: PairedDifference | None, changes: Numbers
) -> dict[str, Any]:
    """Return how a score changed for JSON; of queries that lack it before or after, the change is NaN."""
    return {
        "n": int((~np.isnan(changes)).sum()),
        "before": means[0],
        "after": means[1],
        "delta": delta,
        "test": None if test is None else recorded_test(test),
        "improved": int((changes > 0).sum()),
        "regressed": int((changes < 0).sum()),
        "unchanged": int((changes == 0).sum()),
    }


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
    clusters: Clusters

    @cached_property
    def change(self) -> Mapping[str, Numbers]:
        """After minus before by score, NaN if a query lacks one of them; shape (queries,) each."""
        return {name: self.after.column(name) - self.before.column(name) for name in self.before.columns}

    @cached_property
    def tests(self) -> Mapping[str, PairedDifference]:
        """The mean change of every score with its interval of 95 % and its p-value; of scores that a query has."""
        return change_tests(self.before, self.after, self.change, self.clusters)

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
        scores: dict[str, Any] = {}
        for name, changes in self.change.items():
            test = self.tests.get(name)
            told = change_record(self.means(name), None if test is None else test.mean, test, changes)
            scores[name] = {**told, "ceiling": self.ceiling.mean.get(name)}
        return {"intervals": self.clusters.record(), "scores": scores}


# Properties of questions, by which some are told from others: what the dataset says of them, and their labels.

Labels: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
"""By the name of a property, its values of each question: none, one or several."""

DOCUMENT, LENGTH = "document", "answer length"
"""The properties that follow from labels: the document of the first one, and the characters of all."""

_MOST_VALUES = 50  # of a property by which questions are told apart; of more, each would be a handful
_LONGEST_VALUE = 60  # in characters: what is longer is prose
_LENGTHS = (100, 300, 1_000)


def labels_of(queries: QueryResults[Any], rows: Sequence[int], evaluation_type: EvaluationType) -> Labels:
    """Return the properties of questions by which they can be told apart.

    These are the keys of their metadata whose values are short texts, whole numbers, truth values or lists of these,
    with 2 to 50 different values; the document of the first label; and at token level the length of all labels.

    Args:
        queries: The results that know them.
        rows: The questions.
        evaluation_type: The level of their labels.
    """
    labels = every_label(queries, rows, evaluation_type)
    return {name: own for name, own in labels.items() if 1 < len(set[str]().union(*own)) <= _MOST_VALUES}


def every_label(queries: QueryResults[Any], rows: Sequence[int], evaluation_type: EvaluationType) -> Labels:
    """Return the properties of questions as `labels_of` does, however many different values they have."""
    labels: dict[str, list[tuple[str, ...]]] = {}
    metadata = [queries.metadata.get(row, {}) for row in rows]
    for key in dict.fromkeys(key for known in metadata for key in known):
        labels[key] = [label_values(known.get(key)) for known in metadata]
    if evaluation_type != "chunk-level":
        relevant = [queries.relevant[row] for row in rows]
        labels.setdefault(DOCUMENT, [(document_of(units[0]),) if units else () for units in relevant])
    if evaluation_type == "token-level":
        labels.setdefault(LENGTH, [_length(queries[row]) for row in rows])
    return labels


def rows_by_value(values: Sequence[tuple[str, ...]]) -> dict[str, Integers]:
    """Return the questions that have each value."""
    rows = grouped((value, row) for row, own in enumerate(values) for value in dict.fromkeys(own))
    return {value: np.array(known, dtype=np.int64) for value, known in rows.items()}


def label_values(given: Any) -> tuple[str, ...]:
    """Return the values of a key of metadata by which questions can be told apart."""
    listed = given if is_list(given) else [given]  # in records, tuples are lists
    plain = (str(value) for value in listed if isinstance(value, str | bool | int))
    return tuple(value for value in plain if value and len(value) <= _LONGEST_VALUE)


def _length(query: QueryResult[Any]) -> tuple[str, ...]:
    """Return how long the answers of a question are, in classes."""
    length, least = truth_size(query.results, query.row, "token-level"), 1
    for most in _LENGTHS if query.relevant else ():
        if length <= most:
            return (f"{least:,} to {most:,} characters",)
        least = most + 1
    return (f"{least:,} characters or more",) if query.relevant else ()


# The first score of a result by tag and by scope: where its mean comes from.

TAGS = "tags"
_MOST_ROWS = 10


@dataclass(frozen=True)
class Breakdown:
    """The mean of one score by the values of a property of the questions.

    Attributes:
        by: The property: `tags`, of which a question may have several, `scopePrefix`, or another key of its metadata.
        score: The score.
        values: How many different values there are.
        means: The mean of each value, the lowest first, of many values the lowest 10; each with its interval as if it
            were the only one.
        unscored: The values of which no question has the score.
    """

    by: str
    score: str
    values: int
    means: Mapping[str, MeanScore]
    unscored: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return it for JSON."""
        means = [
            finite({"value": value, "n": mean.questions, "mean": mean.mean, "low": mean.low, "high": mean.high})
            for value, mean in self.means.items()
        ]
        return {"by": self.by, "score": self.score, "values": self.values, "means": means, "unscored": [*self.unscored]}


def breakdowns(result: "EvaluationResult[Any]", score: str) -> Iterator[Breakdown]:
    """Yield a score by tags and by scope, where a dataset has several, and by other metadata that groups the questions.

    That is a key of which each question has a value, with 2 to 10 different ones, each of at least 2 on average.
    """
    queries, column = result.queries, result.scores.column(score)
    others = dict.fromkeys(key for known in queries.metadata.values() for key in known)
    for by in dict.fromkeys((TAGS, SCOPE_PREFIX, *others)) if queries.metadata else ():
        of_rows = [label_values(queries.metadata.get(row, {}).get(by)) for row in range(len(queries))]
        different = len(set[str]().union(*of_rows))
        if by not in (TAGS, SCOPE_PREFIX) and (not all(of_rows) or different > min(_MOST_ROWS, len(of_rows) // 2)):
            continue
        known = {value: rows[~np.isnan(column[rows])] for value, rows in rows_by_value(of_rows).items()}
        scored = {value: rows for value, rows in known.items() if len(rows)}
        if len(known) < 2 or not scored:
            continue
        lowest = sorted(scored, key=lambda value: (mean_of(column[scored[value]]) or 0.0, value))[:_MOST_ROWS]
        found = {value: result.means_of([score], scored[value], result.clusters)[score] for value in lowest}
        unscored = tuple(value for value in known if value not in scored)
        yield Breakdown(by, score, len(known), found, unscored)
