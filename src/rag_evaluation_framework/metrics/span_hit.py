"""Whether anything relevant was retrieved."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric


@dataclass(frozen=True)
class SpanHit(SpanMetric):
    """Whether at least one relevant character was retrieved.

    T is the set of relevant characters, R that of retrieved ones. The mean over questions is the hit rate (success@k).

    Formula: 1 if |T ∩ R| > 0, else 0
    Range: {0, 1}.
    Undefined: 0.0 where nothing is relevant.
    Source: trec_eval's `success`, for characters.
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the hit of each question."""
        return (judged.found > 0).astype(np.float64)
