"""Precision in which retrieving the same text twice costs."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanPrecisionRaw(SpanMetric):
    """Relevant characters that were retrieved, over the summed lengths of the results: |T ∩ R| / Σ |r|.

    A character that two results share is one character above and two below the line, as the reader of the context pays
    for it twice. Range [0, 1]; 0.0 where nothing was retrieved. Smith & Troynikov 2024 (precision, as their code
    computes it).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the raw precision of each question."""
        return ratio(judged.found, judged.expense)
