"""F1 of retrieved text (Dice coefficient)."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanF1(SpanMetric):
    """Span F1 (Dice coefficient): the harmonic mean of span recall and span precision.

    T is the set of relevant characters, R that of retrieved ones. It orders the rankings of one query as `SpanIoU`
    does.

    Formula: 2 |T ∩ R| / (|T| + |R|)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the F1 of each query."""
        return ratio(2 * judged.credit_chars, judged.truth + judged.credit_chars + judged.surplus)
