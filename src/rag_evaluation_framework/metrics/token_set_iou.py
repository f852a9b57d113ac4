"""How alike the retrieved and the relevant tokens are."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.metrics.token_set_metric import TokenSet, TokenSetMetric
from rag_evaluation_framework.spans import CharacterSpan


@dataclass(frozen=True)
class TokenSetIoU(TokenSetMetric):
    """How alike the retrieved and the relevant texts are, by their different tokens: the Jaccard index.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    plays no part. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / (|t_e| + |t_r| - |t_e ∩ t_r|)
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the texts hold no token.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU).
    """

    @property
    def name(self) -> str:
        """`token_set_iou`."""
        return "token_set_iou"

    def score(self, relevant: TokenSet, retrieved: TokenSet) -> float:
        """Return the intersection over union."""
        return len(relevant & retrieved) / len(relevant | retrieved)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; 1.0 where both are empty."""
        return super().calculate(retrieved, ground_truth) if retrieved or ground_truth else 1.0
