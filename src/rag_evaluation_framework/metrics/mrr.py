"""How early the first relevant unit stands."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric


@dataclass(frozen=True)
class MRR(RankMetric):
    """How early the first relevant unit stands.

    Ranks begin at 1. The mean over questions is the mean reciprocal rank.

    Formula: 1 / rank of the first relevant unit; 0 if none is among the first k
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report".
    """

    @property
    def name(self) -> str:
        """`mrr`."""
        return "mrr"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the reciprocal rank of each question."""
        scores = np.zeros(len(judged.relevant))
        found = judged.found
        scores[found.query[found.first]] = 1 / (found.rank[found.first] + 1)
        return scores
