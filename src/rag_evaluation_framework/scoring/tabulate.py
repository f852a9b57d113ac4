"""`tabulate`: the one loop over metrics and cutoffs, from judgements to a table of scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..base.exits import outcome
from ..base.outside import shown
from ..contracts.roles import Metric
from ..data import Answer, CharacterSpan, Cutoff, ScoreName, ScoreTable
from ..data.columns import Numbers
from ..data.rankings import Failure, OnError
from ..data.values import UNREADABLE, is_truth, items, plain_number
from .judging import RankJudgements, SpanJudgements
from .metrics import RankMetric, SpanMetric, TokenSetMetric
from .metrics.rank import ChunkMetric

# What metrics that have nothing but `calculate` are given.


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one query, as `Metric.calculate` takes them.

    Attributes:
        retrieved: What was retrieved, best first.
        relevant: What is relevant; of answers with several places, the first places.
        answers: The answers, if one has several places.
    """

    retrieved: Sequence[Any]
    relevant: Sequence[Any]
    answers: Sequence[Answer[Any]] = ()

    @classmethod
    def of(cls, answers: Sequence[Answer[Any]]) -> "Units":
        """Return what is relevant to a query, of which nothing is retrieved."""
        several = any(len(answer.places) > 1 for answer in answers)
        return cls((), [unit for answer in answers for unit in answer.reference], answers if several else ())

    @property
    def spans(self) -> Iterator[Any]:
        """Relevant spans at all places."""
        return chain(self.relevant, (unit for answer in self.answers for place in answer.places for unit in place))

    def score(self, metric: Metric[Any]) -> Any:
        """Return what a metric calculates: of each answer it gets the place of which the largest part was retrieved."""
        if not self.answers:
            return metric.calculate(self.retrieved, self.relevant)
        if isinstance(metric, TokenSetMetric):
            return metric.calculate_answers(self.retrieved, self.answers)
        found = [unit for answer in self.answers for unit in answer.found(self.retrieved)]
        is_of_spans = any(isinstance(unit, CharacterSpan) for unit in found)
        return metric.calculate(self.retrieved, found if is_of_spans else list(dict.fromkeys(found)))


@dataclass(frozen=True, eq=False)
class Cut:
    """The rankings of all queries, cut at one cutoff and judged.

    Attributes:
        judged: What built-in metrics read.
        units: Returns what other metrics read: one pair for each query that can be scored.
        known: Of which queries it is known where the cutoff is, shape (queries,), or None if of all: a budget is not
            available for results of unknown length.
    """

    judged: SpanJudgements | RankJudgements
    units: Callable[[], Iterable[Units]] = tuple
    known: NDArray[np.bool_] | None = None


_Column: TypeAlias = tuple[Numbers, Mapping[int, BaseException]]  # and why queries have no value, by their rows


def tabulate(
    query_ids: Sequence[str],
    scores: Mapping[ScoreName, Metric[Any]],
    cuts: Mapping[Cutoff | None, Cut],
    answerable: NDArray[np.bool_],
    failures: Mapping[str, tuple[Failure, ...]] | None = None,
    counts: Mapping[str, int] | None = None,
    on_error: OnError = "collect",
) -> ScoreTable:
    """Compute every metric at its cutoffs.

    Args:
        query_ids: All queries, in order.
        scores: The metric of each score.
        cuts: The judgements at every cutoff that a score names, None being the whole rankings. They are those of all
            queries or, if some retrievals failed, of the queries that can be scored: neither failed nor without answer.
        answerable: Whether each query has anything relevant; shape (queries,).
        failures: The retrievals that failed, by query id.
        counts: The counts shown beside the scores.
        on_error: Whether a metric that fails is data, or ends the scoring.

    Returns:
        The table. A metric that raises, or returns something other than a finite number, is a failure of the queries
        concerned.

    Raises:
        QueryFailed: A metric failed, and `on_error` is `"raise"`: for the first query for which this one did.
    """
    failed = dict(failures or {})
    scorable = np.flatnonzero(
        answerable & np.array([query_id not in failed for query_id in query_ids], dtype=bool) if failed else answerable
    )
    columns: dict[str, Numbers] = {}
    for name, metric in scores.items():
        values, errors = _column(metric, cuts[name.cutoff], on_error)
        rows = np.arange(len(query_ids)) if failures is None and reads_judgements(metric) else scorable
        for row in sorted(errors):
            query_id = query_ids[int(rows[row])]
            failure = Failure.collected(query_id, f"score {name}", errors[row], on_error)
            failed[query_id] = (*failed.get(query_id, ()), failure)
        known = cuts[name.cutoff].known
        column = columns[str(name)] = np.full(len(query_ids), np.nan)
        column[rows] = values if known is None else np.where(known, values, np.nan)
        column[~answerable] = np.nan
    return ScoreTable(tuple(query_ids), columns, answerable, failed, counts or {})


def rereadable(given: Iterable[Any], source: str) -> list[Any]:
    """Return collections that can be read again: what is an iterator as a list.

    Args:
        given: Collections and iterators.
        source: What they are, for messages.

    Raises:
        InputError: Reading an iterator raises something.
    """
    return [items(units, source) if hasattr(units, "__next__") else units for units in given]


def reads_judgements(metric: Metric[Any]) -> TypeGuard[SpanMetric | RankMetric | ChunkMetric]:
    """Return whether a metric is computed for all queries at once, from judgements, and not from ids or spans."""
    return isinstance(metric, SpanMetric | RankMetric | ChunkMetric)


def _column(metric: Metric[Any], cut: Cut, on_error: OnError) -> _Column:
    judged: Any = cut.judged
    if not reads_judgements(metric):
        return _calculated(metric, cut.units(), on_error)
    queries = len(judged.truth if isinstance(metric, SpanMetric) else judged.relevant)
    nothing = np.full(queries, np.nan)
    if isinstance(metric, SpanMetric) and metric.needs_chunks and judged.oracle is None:
        return nothing, {}
    return outcome(
        lambda: _finite(_values(metric.score(judged), queries), {}),
        lambda error: (nothing, dict.fromkeys(range(queries), error)),
    )


def _calculated(metric: Metric[Any], units: Iterable[Units], on_error: OnError) -> _Column:
    values: list[float] = []
    errors: dict[int, BaseException] = {}

    def failed(error: BaseException) -> float:
        errors[len(values)] = error
        return np.nan

    for given in units:
        values.append(outcome(partial(_value, metric, given), failed))
        if errors and on_error == "raise":
            break
    return _finite(np.array(values, dtype=np.float64), errors)


def _value(metric: Metric[Any], given: Units) -> float:
    """Return what a metric returns as a number; True and False are 1 and 0."""
    returned: Any = given.score(metric)
    if is_truth(returned):
        return float(returned)
    try:
        return plain_number(returned)
    except UNREADABLE as error:
        raise TypeError(f"returned {shown(returned)}; expected a finite number") from error


def _values(returned: Any, queries: int) -> Numbers:
    """Return what a metric returned for all queries as an array of its own."""
    given = np.asarray(returned)
    if given.dtype.kind not in "biufO":
        raise TypeError(f"returned {shown(returned)}; expected {queries} finite numbers")
    values = np.array(given, dtype=np.float64)
    if values.shape != (queries,):
        raise ValueError(f"returned shape {values.shape} for {queries} questions; expected ({queries},)")
    return values


def _finite(values: Numbers, errors: dict[int, BaseException]) -> _Column:
    """Return a column in which values that are not finite are errors, too."""
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        errors.setdefault(row, ValueError(f"returned {values[row]}; expected a finite number"))
        values[row] = np.nan
    return values, errors
