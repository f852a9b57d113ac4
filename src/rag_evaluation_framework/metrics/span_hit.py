"""Hit rate of retrieved text."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric


@dataclass(frozen=True)
class SpanHit(SpanMetric):
    """Span hit rate (success@k): whether at least one relevant character was retrieved.

    T is the set of relevant characters, R that of retrieved ones. The mean over queries is the hit rate (success@k).

    Formula: 1 if |T ∩ R| > 0, else 0
    Range: {0, 1}.
    Undefined: 0.0 where nothing is relevant.
    Source: trec_eval's `success`, for characters.
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the hit of each query."""
        return (judged.relevant_chars > 0).astype(np.float64)
