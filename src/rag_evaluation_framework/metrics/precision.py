"""Precision at k: the share of the first k that are relevant."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class Precision(RankMetric):
    """Precision: the share of the first k that are relevant units.

    G are the relevant units, R the first k. The denominator is k even where fewer than k units were retrieved; without
    k (whole rankings, budgets, `calculate`) it is the number of results, each repeat of a unit included, which
    `score_rankings` leaves out before: of a, a, b, if a alone is relevant, 1/3.

    Formula: |G ∩ R| / k
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `P`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the precision of each query."""
        return ratio(judged.relevant_retrieved, judged.precision_denominator)
