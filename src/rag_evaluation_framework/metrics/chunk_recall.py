"""Recall of the set of retrieved chunks."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.contracts.metric import ChunkLevelMetric
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id


@dataclass(frozen=True)
class ChunkRecall(ChunkLevelMetric):
    """Chunk recall: the share of the relevant chunks that were retrieved.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk.

    Formula: |R ∩ G| / |G|, R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (recall); agrees with trec_eval's `set_recall`.
    """

    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        """Score one ranking; its order does not matter."""
        found, relevant = set(map(canonical_chunk_id, retrieved)), set(map(canonical_chunk_id, ground_truth))
        return len(found & relevant) / len(relevant) if relevant else 0.0
