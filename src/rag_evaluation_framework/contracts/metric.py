"""Metrics: scores of what was retrieved against what is relevant."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data import CharacterSpan, ChunkId, Cutoff, DocumentId, EvaluationType

U_contra = TypeVar("U_contra", bound=DocumentId | ChunkId | CharacterSpan, contravariant=True)


class Metric(Component, ABC, Generic[U_contra]):
    """One number for one question: how good is what was retrieved?

    `calculate` is all that your own metric needs. It is called once per question and cutoff.
    """

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset()
    """The levels it can score: the run-time witness of the type parameter."""

    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The least and the greatest score there can be, infinite where there is no limit; intervals of means need it."""

    needs_budget: ClassVar[bool] = False
    """Whether it scores rankings at context budgets only, such as `@4000ch`."""

    @property
    def name(self) -> str:
        """The class name in snake case; `span_recall` for `SpanRecall`."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(self).__name__).lower()

    def takes(self, cutoff: Cutoff | None) -> bool:
        """Return whether it scores rankings that are cut there; None is the whole ranking."""
        return not self.needs_budget or (cutoff is not None and cutoff.is_budget)

    @abstractmethod
    def calculate(self, retrieved: Sequence[U_contra], ground_truth: Sequence[U_contra]) -> float:
        """Score one ranking.

        Args:
            retrieved: The retrieved units, best first, already cut at the cutoff. A text that has no place in the
                corpus is a span of a document that does not exist, so that it keeps its rank and its length.
            ground_truth: The relevant units, in no particular order. Of an answer with several places, any of which is
                enough, those of the place of which the largest part was retrieved, of equals the first: it may be
                another one at another cutoff.

        Returns:
            The score, a finite number. In an evaluation, questions without relevant units are not asked.
        """


class DocumentLevelMetric(Metric[DocumentId]):
    """A metric over document ids."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level"})


class ChunkLevelMetric(Metric[ChunkId]):
    """A metric over chunk ids."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"chunk-level"})


class TokenLevelMetric(Metric[CharacterSpan]):
    """A metric over character spans."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"token-level"})
