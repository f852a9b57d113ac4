"""Recall of the set of retrieved chunks."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.chunk_metric import ChunkMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class ChunkRecall(ChunkMetric):
    """Chunk recall: the share of the relevant chunks that were retrieved.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk.

    Formula: |R ∩ G| / |G|, R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (recall); agrees with trec_eval's `set_recall`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the recall of each query."""
        return ratio(judged.credit, judged.relevant)
