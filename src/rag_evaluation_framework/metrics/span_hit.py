"""Whether anything relevant was retrieved."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric


@dataclass(frozen=True)
class SpanHit(SpanMetric):
    """1.0 if at least one relevant character was retrieved, else 0.0; 0.0 where nothing is relevant.

    The mean over questions is the hit rate (success@k).
    """

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the hit of each question."""
        return (judged.found > 0).astype(np.float64)
