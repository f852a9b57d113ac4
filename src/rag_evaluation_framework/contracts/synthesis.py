"""Question generation from a corpus: strategies and the language model's client."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.documents import Document


class LLMClient(Protocol):
    """The shape of the OpenAI SDK: `client.chat.completions.create(model=..., messages=...)`.

    The attribute is `Any`: a precise signature would refuse the SDK's own client.
    """

    @property
    def chat(self) -> Any:
        """The chat interface."""
        ...


class QuestionStrategy(Component, ABC):
    """A way of asking: which questions are put to a document."""

    @abstractmethod
    def generate(self, context: Document) -> Sequence[str]:
        """Return questions that the document answers."""
