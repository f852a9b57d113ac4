"""F1 of the set of retrieved chunks."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.contracts.metric import ChunkLevelMetric
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id


@dataclass(frozen=True)
class ChunkF1(ChunkLevelMetric):
    """Chunk F1: the harmonic mean of chunk recall and chunk precision, high only where both are.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk.

    Formula: 2 |R ∩ G| / (|R| + |G|), R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved and nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1); agrees with trec_eval's `set_F`.
    """

    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        """Score one ranking; its order does not matter."""
        found, relevant = set(map(canonical_chunk_id, retrieved)), set(map(canonical_chunk_id, ground_truth))
        return 2 * len(found & relevant) / (len(found) + len(relevant)) if found or relevant else 0.0
