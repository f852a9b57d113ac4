"""Precision of the set of retrieved chunks."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.chunk_metric import ChunkMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class ChunkPrecision(ChunkMetric):
    """Chunk precision: the share of the retrieved chunks that are relevant.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk. Unlike `precision`,
    it divides by what was retrieved and not by k.

    Formula: |R ∩ G| / |R|, R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (precision); agrees with trec_eval's `set_P`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the precision of each query."""
        return ratio(judged.relevant_retrieved, judged.different)
