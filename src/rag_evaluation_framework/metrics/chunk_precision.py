"""Precision of the set of retrieved chunks."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.contracts.metric import ChunkLevelMetric
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id


@dataclass(frozen=True)
class ChunkPrecision(ChunkLevelMetric):
    """Chunk precision: the share of the retrieved chunks that are relevant.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk. Unlike `precision`,
    it divides by what was retrieved and not by k.

    Formula: |R ∩ G| / |R|, R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (precision); agrees with trec_eval's `set_P`.
    """

    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        """Score one ranking; its order does not matter."""
        found, relevant = set(map(canonical_chunk_id, retrieved)), set(map(canonical_chunk_id, ground_truth))
        return len(found & relevant) / len(found) if found else 0.0
