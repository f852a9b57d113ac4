"""Metrics over sets of chunks."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.contracts.roles import ChunkLevelMetric
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.given_units import given_ids
from rag_evaluation_framework.metrics.span import ratio

# The base class of metrics over sets of chunks.


class ChunkMetric(ChunkLevelMetric):
    """A metric over the set of retrieved chunks, computed from rank judgements for all queries at once.

    `calculate` runs the same code with one query, so there is one implementation. Repeated chunks count once, and
    position-aware and plain ids of one text are one chunk.
    """

    @abstractmethod
    def score(self, judged: RankJudgements) -> Numbers:
        """Return one score per query, shape (queries,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        """Score one ranking; its order does not matter.

        Raises:
            ConfigError: Something is not a list of ids.
        """
        given = given_ids(self.name, retrieved, ground_truth)
        found, right = (list(dict.fromkeys(map(canonical_chunk_id, ids))) for ids in given)
        return float(self.score(RankJudgements.from_lists([found], [right], [[1.0] * len(right)]))[0])


# Recall of the set of retrieved chunks.


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


# Precision of the set of retrieved chunks.


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


# F1 of the set of retrieved chunks.


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
