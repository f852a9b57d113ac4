"""F1: the harmonic mean of recall and precision at k."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class F1(RankMetric):
    """F1: the harmonic mean of recall@k and precision@k, high only where both are.

    G are the relevant units, R the first k. Without k (whole rankings, budgets, `calculate`) it is the number of
    results.

    Formula: 2 |G ∩ R| / (|G| + k)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    @property
    def name(self) -> str:
        """`f1`."""
        return "f1"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the F1 of each query."""
        return ratio(2 * judged.credit, judged.relevant + judged.weighed(judged.precision_denominator))
