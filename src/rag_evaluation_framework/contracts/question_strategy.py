"""Making questions from a document with a language model."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.documents import Document


class QuestionStrategy(Component, ABC):
    """A way of asking: which questions are put to a document."""

    @abstractmethod
    def generate(self, context: Document) -> Sequence[str]:
        """Return questions that the document answers."""
