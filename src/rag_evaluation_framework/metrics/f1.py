"""Recall and precision in one number."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class F1(RankMetric):
    """The harmonic mean of recall@k and precision@k: 2 |G ∩ R| / (|G| + k).

    Range [0, 1]; 0.0 where nothing is relevant. Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    @property
    def name(self) -> str:
        """`f1`."""
        return "f1"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the F1 of each question."""
        return ratio(2 * judged.hits, judged.relevant + judged.places)
