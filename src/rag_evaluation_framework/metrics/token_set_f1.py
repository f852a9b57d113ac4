"""F1 of sets of tokens."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.token_set_metric import TokenCounts, TokenSetMetric


@dataclass(frozen=True)
class TokenSetF1(TokenSetMetric):
    """Token set F1: the harmonic mean of token set recall R and token set precision P.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: 2 P R / (P + R) = 2 |t_e ∩ t_r| / (|t_e| + |t_r|)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1), of the recall and precision of Smith and
        Troynikov 2024, "Evaluating Chunking Strategies for Retrieval".
    """

    def score(self, counts: TokenCounts) -> float:
        """Return the F1."""
        return 2 * counts.credit / (counts.truth + counts.credit + counts.surplus)
