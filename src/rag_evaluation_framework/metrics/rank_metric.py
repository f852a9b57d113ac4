"""The base class of metrics over rankings of ids."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from typing import Any, ClassVar

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.ids import EvaluationType, RelevanceId, canonical_chunk_id
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.given_units import given_ids


class RankMetric(Metric[RelevanceId]):
    """A metric over ranked ids, of documents or chunks, computed from rank judgements for all queries at once.

    `calculate` runs the same code with one query and gains of 1, so there is one implementation. What is retrieved more
    than once counts at its first rank.
    """

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level", "chunk-level"})

    @abstractmethod
    def score(self, judged: RankJudgements) -> Numbers:
        """Return one score per query, shape (queries,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[RelevanceId], ground_truth: Sequence[RelevanceId]) -> float:
        """Score one ranking as it is; 0.0 where nothing is relevant or nothing was retrieved.

        No k is known here: precision and F1 divide by the results that are given, those that repeat a unit included,
        also where they are fewer than the k that they were cut at; and the ideal order of nDCG is that of all relevant
        units. `score_rankings` takes a k, and leaves repeats out. Both ids of a chunk are that chunk.

        Raises:
            ConfigError: Something is not a list of ids, or what was retrieved has no order.
        """
        if isinstance(retrieved, str | bytes | Mapping | Set):
            raise ConfigError(f"{self.name}: retrieved is {shown(retrieved)}; expected a list of ids, best first")
        found, relevant = map(_units, given_ids(self.name, retrieved, ground_truth))
        right = list(dict.fromkeys(relevant))
        judged = RankJudgements.from_lists([found], [right], [[1.0] * len(right)])
        return float(self.score(judged)[0])


def _units(ids: list[Any]) -> list[Any]:
    """Return both ids of a chunk as one; ids may be numbers, too."""
    return [canonical_chunk_id(unit) if isinstance(unit, str) else unit for unit in ids]
