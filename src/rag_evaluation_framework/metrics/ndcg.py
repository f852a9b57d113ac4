"""Whether the most relevant units stand first."""

from dataclasses import dataclass

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class NDCG(RankMetric):
    """Whether the most relevant units stand first: the discounted gain of the first k over that of the best order.

    Ranks begin at 1, gains are linear, and the best order is that of all relevant units, cut at k.

    Formula: DCG@k / IDCG@k, DCG = Σ gain / log2(rank + 1), IDCG being the DCG of the best order
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
        """Return the normalised gain of each question."""
        queries = len(judged.relevant)
        return ratio(judged.found.discounted_gain(queries), judged.ideal.discounted_gain(queries))
