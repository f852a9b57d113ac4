"""How much of what is relevant was retrieved."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class Recall(RankMetric):
    """Relevant units among the first k, over all relevant units: |G ∩ R| / |G|.

    All relevant units count below the line, also where they are more than k. Range [0, 1]; 0.0 where nothing is
    relevant. Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `recall`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the recall of each question."""
        return ratio(judged.hits, judged.relevant)
