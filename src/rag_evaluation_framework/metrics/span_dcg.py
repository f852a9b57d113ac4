"""Whether the relevant text comes first."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio


@dataclass(frozen=True)
class SpanDCG(SpanMetric):
    """Whether the relevant text comes first: newly covered shares of it, discounted by rank.

    T is the set of relevant characters, new_r what rank r is the first to retrieve: each character is worth something
    once. Comparable across chunkings, as nothing in it counts chunks.

    Formula: Σ over ranks r of (|T ∩ new_r| / |T|) / log2(r + 1), r from 1
    Range: [0, 1]; 1 if the first result covers all.
    Undefined: 0.0 where nothing is relevant.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques" (discount); Clarke et al.
        2008, "Novelty and Diversity in Information Retrieval Evaluation" (novelty, as in α-nDCG).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the discounted recall of each question."""
        depth: int = judged.covered.shape[1]
        discounts = np.log2(np.arange(2, depth + 2))
        return ratio((judged.covered / discounts).sum(axis=1), judged.truth)
