"""Whether the relevant text comes first."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanDCG(SpanMetric):
    """Newly covered shares of the truth, discounted by rank: Σ_r (|T ∩ new_r| / |T|) / log2(r + 1), r from 1.

    T is the set of relevant characters, new_r what rank r is the first to retrieve: each character is worth something
    once. Comparable across chunkings, as nothing in it counts chunks. Range [0, 1]; 1 if the first result covers all;
    0.0 where nothing is relevant. Discount after Järvelin & Kekäläinen 2002; novelty as in α-nDCG, Clarke et al. 2008.
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the discounted recall of each question."""
        depth: int = judged.covered.shape[1]
        discounts = np.log2(np.arange(2, depth + 2))
        return ratio((judged.covered / discounts).sum(axis=1), judged.truth)
