"""How early the first relevant unit stands."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric


@dataclass(frozen=True)
class MRR(RankMetric):
    """1 / rank of the first relevant unit, 0.0 if none is among the first k; 0.0 where nothing is relevant.

    Ranks begin at 1. The mean over questions is the mean reciprocal rank. Range [0, 1]. Voorhees 1999, "The TREC-8
    Question Answering Track Report".
    """

    @property
    def name(self) -> str:
        """`mrr`."""
        return "mrr"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the reciprocal rank of each question."""
        scores = np.zeros(len(judged.relevant))
        first = judged.found.leads
        scores[judged.found.query[first]] = 1 / (judged.found.rank[first] + 1)
        return scores
