"""The scores of rankings, in columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_evaluation_framework._optional import require
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.metrics.rank_judgements import Numbers
from rag_evaluation_framework.metrics.score_names import parse_score

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RankingScores:
    """One score a question and metric, kept in columns.

    Attributes:
        query_ids: The questions, in the order of the ground truth.
        columns: For each score, one number a question, shape (questions,); NaN where the question has none.
        counts: `queries`, and of these `no_answer` (nothing relevant: no score). From mappings also the questions that
            are `missing` from the rankings (scored as an empty ranking, 0.0); and `unjudged` rankings without ground
            truth (left out). From mappings of ids also `irregular` rankings, which repeat a unit (its first rank
            counts), or whose scores tie or do not fall (they are sorted, ties in the order given).
    """

    query_ids: tuple[str, ...]
    columns: Mapping[str, Numbers]
    counts: Mapping[str, int]

    @cached_property
    def mean(self) -> "Means":
        """The mean of each score over the questions that have one, None if none has."""
        return Means({name: _mean(column) for name, column in self.columns.items()})

    def per_query(self, name: str) -> dict[str, float | None]:
        """Return one score by question id, in order; None where a question has none.

        Args:
            name: The score in either spelling, such as `ndcg@10` or `nDCG@10`.

        Raises:
            ConfigError: There is no such score.
        """
        column = self.columns.get(str(parse_score(name)[1]))
        if column is None:
            raise ConfigError(f"no score {name!r}; there are {', '.join(self.columns)}")
        return {
            query: None if isnan(value) else value for query, value in zip(self.query_ids, column.tolist(), strict=True)
        }

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row a question and one column a score; NaN where a question has none.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        frame: pd.DataFrame = pandas.DataFrame(dict(self.columns), index=pandas.Index(self.query_ids, name="query_id"))
        return frame

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {'–' if value is None else f'{value:.4f}'}" for name, value in self.mean.items())
        counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in self.counts.items() if number)
        return f"RankingScores({means}; {counts})"


class Means(dict[str, float | None]):
    """Means by the name of the score, looked up in either spelling."""

    def __missing__(self, name: str) -> float | None:
        full = _full_name(name)
        if full not in self.keys():
            raise KeyError(f"no score {name!r}; there are {', '.join(self)}")
        return self[full]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.keys() or _full_name(name) in self.keys())

    def get(self, name: str, default: Any = None) -> Any:
        """Return the mean of that score, or the default."""
        return self[name] if name in self else default  # noqa: SIM401  this is `get`


def _full_name(name: str) -> str:
    try:
        return str(parse_score(name)[1])
    except ConfigError:
        return name


def _mean(column: Numbers) -> float | None:
    scored = column[~np.isnan(column)]
    return float(scored.mean()) if len(scored) else None
