"""How much of what is relevant was retrieved."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanRecall(SpanMetric):
    """Relevant characters that were retrieved, over all relevant characters: |T ∩ R| / |T|.

    T and R are the sets of relevant and of retrieved characters, so overlaps count once. Range [0, 1]; 0.0 where
    nothing is relevant. Smith & Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the recall of each question."""
        return ratio(judged.found, judged.truth)
