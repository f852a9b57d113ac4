"""Precision where it could be 1."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class RPrecision(RankMetric):
    """Relevant units among the first |G|, over |G|, G being the relevant units: precision and recall at once.

    Range [0, 1]; 0.0 where nothing is relevant. Buckley & Voorhees 2000; agrees with trec_eval's `Rprec`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the R-precision of each question."""
        found = judged.found
        early = found.rank < judged.relevant[found.query]
        return ratio(np.bincount(found.query[early], minlength=len(judged.relevant)), judged.relevant)
