"""How alike the retrieved and the relevant text are."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio
from rag_evaluation_framework.spans import CharacterSpan


@dataclass(frozen=True)
class SpanIoU(SpanMetric):
    """Intersection over union, the Jaccard index of the two character sets: |T ∩ R| / |T ∪ R|.

    T and R are the sets of relevant and of retrieved characters. Range [0, 1]; 1.0 where both are empty, 0.0 where one
    is. Smith & Troynikov 2024 (IoU), with overlapping results merged.
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
