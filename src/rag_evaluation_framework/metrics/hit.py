"""Hit rate, also called success@k."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric


@dataclass(frozen=True)
class HitRate(RankMetric):
    """Hit rate (success@k): whether at least one relevant unit is among the first k.

    G are the relevant units, R the first k. The mean over queries is the hit rate, also called success@k.

    Formula: 1 if |G ∩ R| > 0, else 0
    Range: {0, 1}.
    Undefined: 0.0 where nothing is relevant.
    Source: agrees with trec_eval's `success`.
    """

    @property
    def name(self) -> str:
        """`hit`."""
        return "hit"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the hit of each query."""
        return (judged.relevant_retrieved > 0).astype(np.float64)
