"""Recall at k: the share of relevant units that were retrieved."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class Recall(RankMetric):
    """Recall: the share of the relevant units that are among the first k.

    G are the relevant units, R the first k. All relevant units count in the denominator, even where they are more than
    k.

    Formula: |G ∩ R| / |G|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `recall`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the recall of each query."""
        return ratio(judged.credit, judged.relevant)
