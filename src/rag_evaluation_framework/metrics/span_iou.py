"""How alike the retrieved and the relevant text are."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio
from rag_evaluation_framework.spans import CharacterSpan


@dataclass(frozen=True)
class SpanIoU(SpanMetric):
    """How alike the retrieved and the relevant text are: intersection over union, the Jaccard index.

    T is the set of relevant characters, R that of retrieved ones. Text that is missing and text that is too much both
    lower it.

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

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the intersection over union of each question."""
        return ratio(judged.found, judged.truth + judged.extent - judged.found)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; 1.0 where both are empty."""
        return super().calculate(retrieved, ground_truth) if retrieved or ground_truth else 1.0
