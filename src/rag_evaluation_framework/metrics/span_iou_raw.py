"""Intersection over union in which retrieving the same text twice costs."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanIoURaw(SpanMetric):
    """Relevant characters that were retrieved, over the summed lengths of the results and what they miss.

    |T ∩ R| / (Σ |r| + |T \\ R|). Range [0, 1]; 1.0 where both are empty, 0.0 where one is. Smith & Troynikov 2024 (IoU,
    as their code computes it).
    """

    @property
    def name(self) -> str:
        """`span_iou_raw`."""
        return "span_iou_raw"

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the raw intersection over union of each question."""
        covered = judged.covered.sum(axis=1)
        return ratio(covered, judged.length.sum(axis=1) + judged.truth - covered, undefined=1.0)
