"""How much of what was retrieved is relevant."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanPrecision(SpanMetric):
    """How much of the retrieved text is relevant.

    T is the set of relevant characters, R that of retrieved ones, so text that was retrieved twice counts once;
    `SpanPrecisionRaw` counts it twice.

    Formula: |T ∩ R| / |R|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision), with overlapping
        results merged.
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the precision of each question."""
        return ratio(judged.found, judged.extent)
