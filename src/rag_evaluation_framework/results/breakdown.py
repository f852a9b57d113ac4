"""The first score of a result by tag and by scope: where its mean comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_evaluation_framework.data.columns import mean_of
from rag_evaluation_framework.data.scopes import SCOPE_PREFIX
from rag_evaluation_framework.results.properties import label_values, rows_by_value
from rag_evaluation_framework.results.written import finite
from rag_evaluation_framework.statistics.means import MeanScore

if TYPE_CHECKING:
    from rag_evaluation_framework.results.result import EvaluationResult

TAGS = "tags"
_MOST_VALUES = 10
_MOST_NAMED = 3


@dataclass(frozen=True)
class Breakdown:
    """The mean of one score by the values of a property of the questions.

    Attributes:
        by: The property: `tags`, of which a question may have several, or `scopePrefix`.
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
    """Yield a score by tags and by scope, where a dataset has several of them."""
    queries, column = result.queries, result.scores.column(score)
    for by in (TAGS, SCOPE_PREFIX) if queries.metadata else ():
        of_rows = [label_values(queries.metadata.get(row, {}).get(by)) for row in range(len(queries))]
        known = {value: rows[~np.isnan(column[rows])] for value, rows in rows_by_value(of_rows).items()}
        scored = {value: rows for value, rows in known.items() if len(rows)}
        if len(known) < 2 or not scored:
            continue
        lowest = sorted(scored, key=lambda value: (mean_of(column[scored[value]]) or 0.0, value))[:_MOST_VALUES]
        found = {value: result.means_of([score], scored[value], result.clusters)[score] for value in lowest}
        unscored = tuple(value for value in known if value not in scored)
        yield Breakdown(by, score, len(known), found, unscored)
