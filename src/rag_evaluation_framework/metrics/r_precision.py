"""R-precision: precision at the number of relevant units."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class RPrecision(RankMetric):
    """R-precision: the share of the first |G| that are relevant, G being the relevant units.

    At this depth, precision and recall are equal. With a cutoff k below |G|, only the first k are read, and the
    denominator stays |G|.

    Formula: relevant units among the first |G|, / |G|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Buckley and Voorhees 2000, "Evaluating Evaluation Measure Stability"; agrees with trec_eval's `Rprec`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the R-precision of each query."""
        credited = judged.credited
        early = credited.rank < judged.relevant[credited.query]
        return ratio(np.bincount(credited.query[early], minlength=len(judged.relevant)), judged.relevant)
