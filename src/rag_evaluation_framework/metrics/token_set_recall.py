"""Recall of sets of tokens."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.token_set_metric import TokenCounts, TokenSetMetric


@dataclass(frozen=True)
class TokenSetRecall(TokenSetMetric):
    """Token set recall: the share of the distinct relevant tokens that also occur in the retrieved texts.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / |t_e|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, counts: TokenCounts) -> float:
        """Return the recall."""
        return counts.credit / counts.truth
