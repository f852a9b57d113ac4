"""Discounted cumulative gain of relevant text."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.relevant_units import totals
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanDCG(SpanMetric):
    """Discounted cumulative gain of text: how early the relevant text comes, each new share discounted by its rank.

    T is the set of relevant characters, new_r the characters that rank r is the first to retrieve, so each character
    counts once. Scores are comparable within one chunking only, as smaller chunks put the same text at later ranks;
    `SpanU` compares chunkings.

    Formula: Σ over ranks r of (|T ∩ new_r| / |T|) / log2(r + 1), r from 1
    Range: [0, 1]; 1 if the first result covers all.
    Undefined: 0.0 where nothing is relevant.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques" (discount); Clarke et al.
        2008, "Novelty and Diversity in Information Retrieval Evaluation" (novelty, as in α-nDCG).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the discounted recall of each query."""
        # Rank after rank, as `sum` adds in an order that depends on the depth, which is that of the longest ranking.
        added = np.diff(judged.credit, axis=1, prepend=0)
        query, rank = np.nonzero(added)
        gains = added[query, rank] / np.log2(rank + 2)
        return ratio(totals(query, gains, len(judged.truth)), judged.truth)
