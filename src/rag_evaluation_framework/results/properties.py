"""Properties of questions, and the first score of a result by them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rag_evaluation_framework.base.files import is_list
from rag_evaluation_framework.data.columns import Integers, mean_of
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.queries import SCOPE_PREFIX
from rag_evaluation_framework.data.spans import merge_overlapping_spans, total_length
from rag_evaluation_framework.results.means import document_of
from rag_evaluation_framework.results.query_result import QueryResults
from rag_evaluation_framework.results.shown import finite
from rag_evaluation_framework.statistics.means import MeanScore

if TYPE_CHECKING:
    from rag_evaluation_framework.results.result import EvaluationResult


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
        labels.setdefault(LENGTH, [_length(queries, row) for row in rows])
    return labels


def rows_by_value(values: Sequence[tuple[str, ...]]) -> dict[str, Integers]:
    """Return the questions that have each value."""
    rows: dict[str, list[int]] = {}
    for row, own in enumerate(values):
        for value in dict.fromkeys(own):
            rows.setdefault(value, []).append(row)
    return {value: np.array(known, dtype=np.int64) for value, known in rows.items()}


def label_values(given: Any) -> tuple[str, ...]:
    """Return the values of a key of metadata by which questions can be told apart."""
    listed = given if is_list(given) else [given]  # in records, tuples are lists
    plain = (str(value) for value in listed if isinstance(value, str | bool | int))
    return tuple(value for value in plain if value and len(value) <= _LONGEST_VALUE)


def _length(queries: QueryResults[Any], row: int) -> tuple[str, ...]:
    """Return how long the answers of a question are, in classes."""
    units = queries.relevant[row]
    if not units:
        return ()
    if row in queries.answers:
        units = tuple(span for answer in queries.answers[row] for span in answer.reference)
    length = units[0].length() if len(units) == 1 else total_length(merge_overlapping_spans(units))
    least = 1
    for most in _LENGTHS:
        if length <= most:
            return (f"{least:,} to {most:,} characters",)
        least = most + 1
    return (f"{least:,} characters or more",)


# The first score of a result by tag and by scope: where its mean comes from.

TAGS = "tags"
_MOST_ROWS = 10
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
        lowest = sorted(scored, key=lambda value: (mean_of(column[scored[value]]) or 0.0, value))[:_MOST_ROWS]
        found = {value: result.means_of([score], scored[value], result.clusters)[score] for value in lowest}
        unscored = tuple(value for value in known if value not in scored)
        yield Breakdown(by, score, len(known), found, unscored)
