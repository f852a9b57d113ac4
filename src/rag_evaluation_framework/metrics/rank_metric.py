"""The base of all rank metrics."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.ids import EvaluationType, RelevanceId
from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements, judge_ranks


class RankMetric(Metric[RelevanceId]):
    """A metric over ranked identities, documents or chunks, read off rank judgements for all questions at once.

    `calculate` is the same code with one question and gains of 1, so there is one implementation. What is retrieved
    more than once counts where it stands first.
    """

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level", "chunk-level"})

    @abstractmethod
    def score(self, judged: RankJudgements) -> Numbers:
        """Return one score a question, shape (questions,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[RelevanceId], ground_truth: Sequence[RelevanceId]) -> float:
        """Score one ranking, cut at its own length; 0.0 where nothing is relevant or nothing was retrieved."""
        unique = list(dict.fromkeys(retrieved))
        ranks = dict(zip(unique, range(len(unique)), strict=True))
        right = list(dict.fromkeys(ground_truth))
        judged = judge_ranks(
            np.zeros(len(right), dtype=np.int64),
            np.array([ranks.get(unit, -1) for unit in right], dtype=np.int64),
            np.ones(len(right)),
            np.array([len(unique)], dtype=np.int64),
        )
        return float(self.score(judged.at(len(retrieved)))[0])
