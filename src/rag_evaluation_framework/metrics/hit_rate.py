"""Whether anything relevant was retrieved."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric


@dataclass(frozen=True)
class HitRate(RankMetric):
    """Whether at least one relevant unit is among the first k.

    G are the relevant units, R the first k. The mean over questions is the hit rate, also called success@k.

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
        """Return the hit of each question."""
        return (judged.hits > 0).astype(np.float64)
