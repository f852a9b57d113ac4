"""The base of all built-in span metrics."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.metric import TokenLevelMetric
from rag_evaluation_framework.metrics.judgements import Integers, SpanJudgements, judge
from rag_evaluation_framework.spans import CharacterSpan

Scores = NDArray[np.float64]


class SpanMetric(TokenLevelMetric):
    """A metric that is read off span judgements, for all questions at once.

    `calculate` is the same code with one question, so there is one implementation.
    """

    needs_chunks: ClassVar[bool] = False
    """Whether `score` reads `SpanJudgements.attainable`, for which all chunks of the corpus are needed."""

    @abstractmethod
    def score(self, judged: SpanJudgements) -> Scores:
        """Return one score a question, shape (questions,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; the class says what is returned where the score is undefined."""
        return float(self.score(judge([retrieved], [ground_truth]))[0])


def ratio(numerator: Integers | Scores, denominator: Integers | Scores) -> Scores:
    """Return numerator / denominator, and 0.0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)
