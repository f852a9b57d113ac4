"""Precision of retrieved text, repeated text counted again."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanPrecisionRaw(SpanMetric):
    """Span precision where text that is retrieved again counts again: the relevant share of the whole context.

    T is the set of relevant characters, R that of retrieved ones, Σ |r| the summed lengths of the results. A
    character that two results share counts once in the numerator and twice in the denominator, as it takes up context
    twice.

    Formula: |T ∩ R| / Σ |r|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision, as their code
        computes it).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the raw precision of each query."""
        return ratio(judged.once_chars, judged.retrieved_chars_raw)
