"""How many of the relevant tokens were retrieved."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.token_set_metric import TokenSet, TokenSetMetric


@dataclass(frozen=True)
class TokenSetRecall(TokenSetMetric):
    """How much of the relevant texts was retrieved, by their different tokens.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    plays no part. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / |t_e|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, relevant: TokenSet, retrieved: TokenSet) -> float:
        """Return the recall."""
        return len(relevant & retrieved) / len(relevant)
