"""What is known of the means of a result: over which independent questions, and what chance leaves of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, inf, isclose, isnan, sqrt
from typing import Any, Literal

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbering, Numbers
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.score_table import Means
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans, total_length
from rag_evaluation_framework.results.query_result import QueryResult, QueryResults
from rag_evaluation_framework.results.shown import finite
from rag_evaluation_framework.statistics.means import QUANTILES, SHARE, MeanScore, group_means
from rag_evaluation_framework.statistics.paired import LEVEL
from rag_evaluation_framework.statistics.power import POWER, pairs_needed, power

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

    def record(self, seed: int) -> dict[str, Any]:
        """Return how intervals are made, for JSON: their level, the seed, and what is taken as independent."""
        return {"level": LEVEL, "seed": seed, "independent": "questions" if self.numbers is None else "documents"}


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

_RECALLS = ("recall", "chunk_recall", "span_recall")


def micro_means(queries: QueryResults[Any], evaluation_type: EvaluationType) -> Means:
    """Return the mean of every recall over all that is relevant: Σ recall · size / Σ size, by the size of the truth.

    That is the number of characters of the answers, each once and in their first places; of ids, that of the answers.
    None where no query has the score.
    """
    sizes = np.array([_size(query, evaluation_type) for query in queries], dtype=np.float64)
    table = queries.table
    recalls = [name for name in table.columns if name.partition("@")[0] in _RECALLS]
    return Means({name: _weighed(table.column(name), sizes) for name in recalls})


def document_means(queries: QueryResults[Any], evaluation_type: EvaluationType) -> Means:
    """Return the mean of every score over the means of documents; empty if these are not known."""
    numbers = documents(queries.relevant, evaluation_type)
    if numbers is None or (numbers < 0).all():
        return Means()
    labelled = numbers >= 0
    names = [*queries.table.columns]
    columns = np.stack([queries.table.column(name) for name in names], axis=1)
    means: list[float] = group_means(columns[labelled], numbers[labelled]).tolist()
    return Means({name: None if isnan(mean) else mean for name, mean in zip(names, means, strict=True)})


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


def _size(query: QueryResult[Any], evaluation_type: EvaluationType) -> int:
    if evaluation_type != "token-level":
        return len(query.answers)
    spans: list[CharacterSpan] = [span for answer in query.answers for span in answer.reference]
    return total_length(merge_overlapping_spans(spans))


def _weighed(scores: Numbers, sizes: Numbers) -> float | None:
    known = ~np.isnan(scores)
    total = float(sizes[known].sum())
    return float(scores[known] @ sizes[known]) / total if total else None
