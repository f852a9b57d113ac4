"""Recall and precision in one number."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanF1(SpanMetric):
    """Span recall and span precision in one number: their harmonic mean, the Dice coefficient.

    T is the set of relevant characters, R that of retrieved ones. It orders the rankings of one question as `SpanIoU`
    does.

    Formula: 2 |T ∩ R| / (|T| + |R|)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the F1 of each question."""
        return ratio(2 * judged.found, judged.truth + judged.extent)
