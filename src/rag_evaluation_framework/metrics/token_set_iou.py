"""Intersection over union of sets of tokens (Jaccard index)."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.metrics.given_units import given_spans
from rag_evaluation_framework.metrics.token_set_metric import TokenCounts, TokenSetMetric


@dataclass(frozen=True)
class TokenSetIoU(TokenSetMetric):
    """Token set IoU (Jaccard index): how well the distinct tokens of the retrieved and the relevant texts match.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / (|t_e| + |t_r| - |t_e ∩ t_r|)
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the texts hold no token.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU).
    """

    @property
    def name(self) -> str:
        """`token_set_iou`."""
        return "token_set_iou"

    def score(self, counts: TokenCounts) -> float:
        """Return the intersection over union."""
        return counts.credit / (counts.truth + counts.surplus)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; 1.0 where both are empty."""
        found, right = given_spans(self.name, retrieved, ground_truth)
        return super().calculate(found, right) if found or right else 1.0
