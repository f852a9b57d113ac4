"""Precision of sets of tokens."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.token_set_metric import TokenCounts, TokenSetMetric


@dataclass(frozen=True)
class TokenSetPrecision(TokenSetMetric):
    """Token set precision: the share of the distinct retrieved tokens that also occur in the relevant texts.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / |t_r|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision).
    """

    def score(self, counts: TokenCounts) -> float:
        """Return the precision."""
        return counts.relevant / counts.retrieved
