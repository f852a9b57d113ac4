"""Making questions from a corpus with a language model."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from rag_evaluation_framework.contracts.part import Part
from rag_evaluation_framework.types import Document


class LLMClient(Protocol):
    """The shape of the OpenAI SDK: `client.chat.completions.create(model=..., messages=...)`.

    The attribute is `Any`: a precise signature would refuse the SDK's own client.
    """

    @property
    def chat(self) -> Any:
        """The chat interface."""
        ...


class QuestionStrategy(Part, ABC):
    """A way of asking: which questions are put to a document."""

    @abstractmethod
    def generate(self, context: Document) -> Sequence[str]:
        """Return questions that the document answers."""
