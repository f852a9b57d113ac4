"""ScoreTable: every score of every query, in columns. The only place where scores are kept, and averaged."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..base.optional import require
from ..base.outside import name_line, shown
from ..errors import ConfigError
from .columns import Numbers, mean_of
from .cutoffs import ScoreName
from .rankings import Failure

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["scored", "no-answer", "failed"]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Query ids × score names, and the status of every query.

    Attributes:
        query_ids: The queries, in order.
        columns: For each score one number per query, shape (queries,); NaN where the query has none.
        answerable: Of which queries anything is relevant; shape (queries,).
        failures: What went wrong, by query id; only queries for which something did.
        counts: The counts behind the scores; `score_rankings` says which counts there are.
        count_as_zero: Which queries that were not scored count as 0.0: `"no-answer"`, `"failed"`. A zero stands for the
            query: a score that a metric could not give for a scored query stays unknown, and one that no query has,
            as its metric is unavailable or raises everywhere, has no zeros either.
    """

    query_ids: tuple[str, ...]
    columns: Mapping[str, Numbers]
    answerable: NDArray[np.bool_]
    failures: Mapping[str, tuple[Failure, ...]] = field(default_factory=dict[str, tuple[Failure, ...]])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    count_as_zero: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for column in (*self.columns.values(), self.answerable):
            column.setflags(write=False)  # means are kept, and would not follow

    @classmethod
    def joined(cls, tables: Sequence["ScoreTable"]) -> "ScoreTable":
        """Return the scores of several tables, at least one, of the same scores and different queries."""
        first = tables[0]
        return cls(
            tuple(query_id for table in tables for query_id in table.query_ids),
            {name: np.concatenate([table.columns[name] for table in tables]) for name in first.columns},
            np.concatenate([table.answerable for table in tables]),
            {query_id: failures for table in tables for query_id, failures in table.failures.items()},
            first.counts,
            first.count_as_zero,
        )

    @cached_property
    def mean(self) -> "Means":
        """The mean of each score over the queries that have one and, if any has, those that count as zero; else None.

        A scored query that lacks the score is left out of its mean.
        """
        return Means({name: mean_of(self.column(name)) for name in self.columns})

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each query."""
        return {query_id: row for row, query_id in enumerate(self.query_ids)}

    @cached_property
    def statuses(self) -> tuple[Status, ...]:
        """`failed` where the retrieval raised, `no-answer` where nothing is relevant, else `scored`; one per query."""
        failed = {query for query, found in self.failures.items() if any(f.stage == "retrieve" for f in found)}
        return tuple(
            "failed" if query in failed else "scored" if answerable else "no-answer"
            for query, answerable in zip(self.query_ids, self.answerable.tolist(), strict=True)
        )

    def with_status(self, status: Status) -> NDArray[np.bool_]:
        """Return which queries have this status; shape (queries,)."""
        return np.array([own == status for own in self.statuses], dtype=np.bool_)

    def column(self, name: str) -> Numbers:
        """Return one score of every query, shape (queries,); NaN where a query has none and does not count as zero.

        If no query has it, none counts as zero.

        Args:
            name: The score in either spelling, such as `ndcg@10` or `nDCG@10`; a metric alone means its first
                cutoff.

        Raises:
            ConfigError: There is no such score.
        """
        full = full_name(name, self.columns)
        if full is None:
            raise ConfigError(f"no score {shown(name)}; there are {', '.join(self.columns)}")
        return self._counted[full]

    def per_query(self, name: str) -> dict[str, float | None]:
        """Return one score by query id, in order; None where a query has none.

        Args:
            name: As in `column`.

        Raises:
            ConfigError: There is no such score.
        """
        values = self.column(name).tolist()
        return {query: None if isnan(value) else value for query, value in zip(self.query_ids, values, strict=True)}

    def row(self, query_id: str, columns: Mapping[str, Numbers] | None = None) -> dict[str, float | None]:
        """Return the scores of one query by name, None where a metric failed; empty if the query was not scored.

        Args:
            query_id: The query.
            columns: Other scores of the queries; by default those of the table.
        """
        row = self.rows[query_id]
        if self.statuses[row] != "scored":
            return {}
        scores = self.columns if columns is None else columns
        values: dict[str, float] = {name: column.item(row) for name, column in scores.items()}
        return {name: None if isnan(value) else value for name, value in values.items()}

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row per query and one column per score; NaN where a query has none.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        columns = {name: self.column(name) for name in self.columns}
        frame: pd.DataFrame = pandas.DataFrame(columns, index=pandas.Index(self.query_ids, name="query_id"))
        return frame

    @cached_property
    def _counted(self) -> Mapping[str, Numbers]:
        """The columns, with zeros for the queries that count as zero."""
        if not self.count_as_zero:
            return self.columns
        # A query counts as zero whether or not its retrieval failed before it could have no answer.
        zero = np.isin(np.where(self.answerable, self.statuses, "no-answer"), sorted(self.count_as_zero))
        counted: dict[str, Numbers] = {}
        for name, column in self.columns.items():
            # Where no query has the score, nothing says that the metric could give one: zeros alone would be made up.
            counted[name] = column if np.isnan(column).all() else np.where(zero, 0.0, column)
            counted[name].setflags(write=False)
        return counted

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable) or self.columns.keys() != other.columns.keys():
            return False
        plain = attrgetter("query_ids", "failures", "counts", "count_as_zero")
        columns = ((column, other.columns[name]) for name, column in self.columns.items())
        are_equal = all(np.array_equal(one, another, equal_nan=True) for one, another in columns)
        return are_equal and np.array_equal(self.answerable, other.answerable) and plain(self) == plain(other)

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __repr__(self) -> str:
        written = ((name_line(name), value) for name, value in self.mean.items())
        means = ", ".join(f"{name} {'–' if value is None else f'{value:.4f}'}" for name, value in written)
        failed_metric = sum(self.statuses[self.rows[query]] != "failed" for query in self.failures)
        counts: dict[str, int] = {**(self.counts or Counter[str](self.statuses)), "failed metric": failed_metric}
        listed = ", ".join(f"{name.replace('_', ' ')}: {number}" for name, number in counts.items() if number)
        return f"ScoreTable({means}; {listed or 'no questions'})"


class Means(dict[str, float | None]):
    """Means by the name of the score, in either spelling; a metric alone means its first cutoff."""

    def __missing__(self, name: str) -> float | None:
        full = full_name(name, self)
        if full is None:
            raise KeyError(f"no score {name!r}; there are {', '.join(self)}")
        return self[full]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and full_name(name, self) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the mean of that score, or the default."""
        return self[name] if name in self else default  # noqa: SIM401  this is `get`


def full_name(name: Any, names: Mapping[str, Any]) -> str | None:
    """Return the one of these names that a name means, or None.

    That is the name itself, else the first score of the metric of exactly that name, else the same of the name in our
    spelling, if ir_measures spells it otherwise.
    """
    if not isinstance(name, str):
        return None
    if name in names.keys():  # noqa: SIM118  a mapping may know more names than it has keys
        return name
    try:
        parsed = ScoreName.parse(name)
    except ConfigError:
        return None
    for meant in (parsed, parsed.canonical):
        if str(meant) in names.keys():  # noqa: SIM118
            return str(meant)
        if meant.cutoff is None:
            first = next((known for known in names if known.partition("@")[0] == meant.metric), None)
            if first is not None:
                return first
    return None
