"""How much of what was retrieved is relevant."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class Precision(RankMetric):
    """Relevant units among the first k, over k: |G ∩ R| / k, also where fewer than k units were retrieved.

    Without a cutoff, over the number of units retrieved. Range [0, 1]; 0.0 where nothing is relevant or
    nothing was retrieved. Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `P`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the precision of each question."""
        return ratio(judged.hits, judged.places)
