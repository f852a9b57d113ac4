"""How alike the retrieved and the relevant text are."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


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
        covered = judged.covered.sum(axis=1)
        return ratio(covered, judged.truth + judged.retrieved.sum(axis=1) - covered, undefined=1.0)
