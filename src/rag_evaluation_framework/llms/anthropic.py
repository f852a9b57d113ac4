"""Anthropic's models behind the OpenAI SDK's shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.base.files import is_list
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.component import Component, check_seconds
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.providers.sdks import ANTHROPIC, address_of, sdk_client

_MOST_TOKENS = 4096  # of an answer, where no other number is asked for: Anthropic insists on one
_ENDED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
}


@dataclass(frozen=True)
class AnthropicClient(Component):
    """A client with `chat.completions.create(model=, messages=, ...)`, as the OpenAI SDK has it.

    `messages`, `max_tokens` or `max_completion_tokens`, and a `response_format` of `json_schema` are passed on. The API
    has no `temperature`, `top_p` or `seed`, and no `json_object`: these are refused, as they would not be heeded.

    Attributes:
        base_url: The address of the server; None for the environment variable `ANTHROPIC_BASE_URL`, or else Anthropic.
        api_key: The key; None for the environment variable `ANTHROPIC_API_KEY`. It is never shown.
        client: An `Anthropic` or `AsyncAnthropic` client of your own, instead of one with `api_key` and `base_url`.
        timeout: Seconds until a request has failed.

    Raises:
        ConfigError: `timeout` is out of range; at the first request, there is no key.
    """

    requires: ClassVar[Mapping[str, str]] = {"anthropic": "anthropic"}

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False, compare=False)
    client: Any = field(default=None, repr=False, compare=False)
    timeout: float = field(default=120.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_seconds("AnthropicClient", "timeout", self.timeout)

    @property
    def address(self) -> str:
        """The address of the server: of the client, as given, of the environment, or Anthropic's own."""
        return address_of(self.client) or ANTHROPIC.base_url(self.base_url)

    @cached_property
    def chat(self) -> Any:
        """The chat interface, `chat.completions.create`."""
        return SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int | None = None,
        max_completion_tokens: int | None = None,
        response_format: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> Any:
        if others:
            raise InputError(f"AnthropicClient takes no {', '.join(sorted(others))}: its API has no such parameter")
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        asked: dict[str, Any] = {
            "model": model,
            "max_tokens": max_completion_tokens or max_tokens or _MOST_TOKENS,
            "messages": [dict(message) for message in messages if message["role"] != "system"],
        }
        if system:
            asked["system"] = system
        form = response_format or {"type": "text"}
        if form["type"] == "json_schema":
            schema = form["json_schema"]["schema"]
            asked["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        elif form["type"] != "text":
            raise InputError(f"AnthropicClient takes no response_format of {shown(form['type'])}; expected json_schema")
        return _as_openai(resolved(self._sdk.messages.create(**asked)))

    @cached_property
    def _sdk(self) -> Any:
        return sdk_client(ANTHROPIC, self.client, self.api_key, self.base_url, self.timeout, "AnthropicClient")


def _as_openai(answer: Any) -> Any:
    """Return an answer in the OpenAI SDK's shape.

    Raises:
        ValueError: It is nothing of the kind.
    """
    given: Any = getattr(answer, "content", None)
    if not is_list(given):
        raise ValueError("an answer without content")
    blocks: list[Any] = given
    text = "".join(str(block.text) for block in blocks if getattr(block, "type", None) == "text")
    usage = getattr(answer, "usage", None)
    message = SimpleNamespace(role="assistant", content=text, refusal=None)
    reason = str(getattr(answer, "stop_reason", None))  # what OpenAI has no word for stays as it is, and is no "stop"
    return SimpleNamespace(
        id=getattr(answer, "id", None),
        model=getattr(answer, "model", None),
        choices=[SimpleNamespace(index=0, message=message, finish_reason=_ENDED.get(reason, reason))],
        usage=SimpleNamespace(
            prompt_tokens=getattr(usage, "input_tokens", 0), completion_tokens=getattr(usage, "output_tokens", 0)
        ),
    )
