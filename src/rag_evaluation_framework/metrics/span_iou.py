"""Intersection over union of retrieved and relevant text (IoU, Jaccard index)."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.given_units import given_spans
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanIoU(SpanMetric):
    """Intersection over union (IoU, Jaccard index): how well the retrieved and the relevant text match.

    T is the set of relevant characters, R that of retrieved ones. Missing text and superfluous text
    both lower it.

    Formula: |T ∩ R| / |T ∪ R|
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the spans cover nothing.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU), with overlapping results
        merged.
    """

    @property
    def name(self) -> str:
        """`span_iou`."""
        return "span_iou"

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the intersection over union of each query."""
        return ratio(judged.credit_chars, judged.truth + judged.surplus)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; 1.0 where both are empty."""
        found, right = given_spans(self.name, retrieved, ground_truth)
        return super().calculate(found, right) if found or right else 1.0
