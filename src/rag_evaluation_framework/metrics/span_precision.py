"""Precision of retrieved text."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanPrecision(SpanMetric):
    """Span precision: the share of the retrieved text that is relevant.

    T is the set of relevant characters, R that of retrieved ones, so text that was retrieved twice counts once;
    in `SpanPrecisionRaw` it counts twice.

    Formula: |T ∩ R| / |R|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision), with overlapping
        results merged.
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the precision of each query."""
        return ratio(judged.relevant_chars, judged.retrieved_chars)
