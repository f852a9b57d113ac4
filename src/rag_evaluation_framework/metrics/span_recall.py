"""Recall of relevant text."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanRecall(SpanMetric):
    """Span recall: the share of the relevant text that was retrieved.

    T is the set of relevant characters, R that of retrieved ones, so overlaps count once.

    Formula: |T ∩ R| / |T|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the recall of each query."""
        return ratio(judged.credit_chars, judged.truth)
