"""How much of what is relevant was retrieved."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanRecall(SpanMetric):
    """How much of the relevant text was retrieved.

    T is the set of relevant characters, R that of retrieved ones, so overlaps count once.

    Formula: |T ∩ R| / |T|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the recall of each question."""
        return ratio(judged.found, judged.truth)
