"""Recall and precision in one number."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanF1(SpanMetric):
    """The harmonic mean of span recall and span precision: 2 |T ∩ R| / (|T| + |R|), the Dice coefficient.

    T and R are the sets of relevant and of retrieved characters. Range [0, 1]; 0.0 where nothing is relevant or nothing
    was retrieved. Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the F1 of each question."""
        return ratio(2 * judged.found, judged.truth + judged.extent)
