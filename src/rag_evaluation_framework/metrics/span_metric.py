"""The base class of metrics over spans of characters."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rag_evaluation_framework.contracts.metric import TokenLevelMetric
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.given_units import given_spans


class SpanMetric(TokenLevelMetric):
    """A metric over spans of characters, computed from span judgements for all queries at once.

    `calculate` runs the same code with one query, so there is one implementation.
    """

    needs_chunks: ClassVar[bool] = False
    """Whether `score` reads `SpanJudgements.oracle`, for which all chunks of the corpus are needed."""
    needs_budget: ClassVar[bool] = False
    """Whether `score` reads `SpanJudgements.trail`, so that rankings are scored at budgets only."""

    @abstractmethod
    def score(self, judged: SpanJudgements) -> Numbers:
        """Return one score per query, shape (queries,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; the class says what is returned where the score is undefined.

        Raises:
            ConfigError: Something is not a list of spans.
        """
        found, right = given_spans(self.name, retrieved, ground_truth)
        return float(self.score(SpanJudgements.from_lists([found], [right]))[0])


def ratio(numerator: Integers | Numbers, denominator: Integers | Numbers) -> Numbers:
    """Return numerator / denominator, and 0.0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)
