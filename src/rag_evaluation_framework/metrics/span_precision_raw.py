"""Precision in which retrieving the same text twice costs."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanPrecisionRaw(SpanMetric):
    """How much of the retrieved text is relevant, where retrieving the same text twice costs.

    T is the set of relevant characters, R that of retrieved ones, Σ |r| the summed lengths of the results. A
    character that two results share is one character above and two below the line, as the reader of the context pays
    for it twice.

    Formula: |T ∩ R| / Σ |r|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision, as their code
        computes it).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the raw precision of each question."""
        return ratio(judged.found, judged.expense)
