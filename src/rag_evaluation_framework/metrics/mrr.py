"""Reciprocal rank of the first relevant result (MRR)."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric


@dataclass(frozen=True)
class MRR(RankMetric):
    """Reciprocal rank of the first relevant result (MRR): 1 at rank 1, 1/2 at rank 2, 0 beyond rank k.

    Ranks start at 1. The score of one query is its reciprocal rank; the mean over queries is MRR.

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
        """Return the reciprocal rank of each query."""
        scores = np.zeros(len(judged.relevant))
        found = judged.found
        scores[found.query[found.first]] = 1 / (found.rank[found.first] + 1)
        return scores
