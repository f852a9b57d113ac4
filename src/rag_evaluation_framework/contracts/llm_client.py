"""The shape of a language model's client."""

from typing import Any, Protocol


class LLMClient(Protocol):
    """The shape of the OpenAI SDK: `client.chat.completions.create(model=..., messages=...)`.

    The attribute is `Any`: a precise signature would refuse the SDK's own client.
    """

    @property
    def chat(self) -> Any:
        """The chat interface."""
        ...
