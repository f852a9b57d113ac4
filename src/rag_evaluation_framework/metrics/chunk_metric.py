"""The base class of metrics over sets of chunks."""

from abc import abstractmethod
from collections.abc import Sequence

from rag_evaluation_framework.contracts.metric import ChunkLevelMetric
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.given_units import given_ids


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
