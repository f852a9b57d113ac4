"""Intersection over union of text, repeated text counted again."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.given_units import given_spans
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanIoURaw(SpanMetric):
    r"""Intersection over union of retrieved and relevant text, where text that is retrieved again counts again.

    T is the set of relevant characters, R that of retrieved ones, Σ |r| the summed lengths of the results.

    Formula: |T ∩ R| / (Σ |r| + |T \ R|)
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the spans cover nothing.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU, as their code computes it).
    """

    @property
    def name(self) -> str:
        """`span_iou_raw`."""
        return "span_iou_raw"

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the raw intersection over union of each query."""
        return ratio(judged.credit_chars, judged.truth + judged.surplus_raw)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; 1.0 where both are empty."""
        found, right = given_spans(self.name, retrieved, ground_truth)
        return super().calculate(found, right) if found or right else 1.0
