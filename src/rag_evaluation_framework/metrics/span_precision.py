"""How much of what was retrieved is relevant."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanPrecision(SpanMetric):
    """Retrieved characters that are relevant, over all retrieved characters: |T ∩ R| / |R|.

    T and R are the sets of relevant and of retrieved characters, so text that was retrieved twice counts once;
    `SpanPrecisionRaw` counts it twice. Range [0, 1]; 0.0 where nothing was retrieved. Smith & Troynikov 2024
    (precision), with overlapping results merged.
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the precision of each question."""
        return ratio(judged.found, judged.extent)
