"""Normalised discounted cumulative gain (nDCG)."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class NDCG(RankMetric):
    """Normalised discounted cumulative gain (nDCG): how close the first k are to the ideal order.

    Ranks start at 1, gains are linear, and the ideal order is that of all relevant units, cut at k where there is a k:
    at a budget, and in `calculate`, it is not cut, as nobody can say how many units would fit.

    Formula: DCG@k / IDCG@k, DCG = Σ gain / log2(rank + 1), IDCG being the DCG of the ideal order
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques"; agrees with trec_eval on
        rankings without ties, not with tools whose gain is 2^g - 1.
    """

    @property
    def name(self) -> str:
        """`ndcg`."""
        return "ndcg"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the normalised gain of each query."""
        queries = len(judged.relevant)
        gained = ratio(judged.credited.discounted_gain(queries), judged.ideal.discounted_gain(queries))
        return np.minimum(gained, 1.0)
