"""F1 of the set of retrieved chunks."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.chunk_metric import ChunkMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class ChunkF1(ChunkMetric):
    """Chunk F1: the harmonic mean of chunk recall and chunk precision, high only where both are.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk.

    Formula: 2 |R ∩ G| / (|R| + |G|), R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved and nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1); agrees with trec_eval's `set_F`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the F1 of each query."""
        return ratio(2 * judged.credit, judged.weighed(judged.different) + judged.relevant)
