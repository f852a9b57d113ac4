"""How much of what is relevant was retrieved."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class Recall(RankMetric):
    """How many of the relevant units are among the first k.

    G are the relevant units, R the first k. All relevant units count below the line, also where they are more than k.

    Formula: |G ∩ R| / |G|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `recall`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the recall of each question."""
        return ratio(judged.hits, judged.relevant)
