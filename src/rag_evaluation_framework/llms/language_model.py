"""`LanguageModel`: asks a model, and checks what it answers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from pydantic import BaseModel

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework.contracts.component import Component, check_choice, check_count
from rag_evaluation_framework.contracts.llm_client import LLMClient
from rag_evaluation_framework.data.plain import encodable
from rag_evaluation_framework.errors import ConfigError, InputError, ProviderRefused
from rag_evaluation_framework.llms.anthropic import AnthropicClient
from rag_evaluation_framework.llms.json_answers import form_in, strict_schema
from rag_evaluation_framework.providers.calls import ProviderCalls, SameAgain
from rag_evaluation_framework.providers.prices import Consumed, Prices, check_prices
from rag_evaluation_framework.providers.provider import ANTHROPIC, OPENAI
from rag_evaluation_framework.providers.sdks import address_of, given_client

F = TypeVar("F", bound=BaseModel)
T = TypeVar("T")

Structure = Literal["json_schema", "json_object", "none"]
_COMPLETE = ("stop", "eos", "eos_token", None)  # the others are said by servers that are not OpenAI's

Messages: TypeAlias = str | Sequence[Mapping[str, str]]
"""What a model is asked: one question, or `{"role": "system" | "user" | "assistant", "content": …}` each."""


@dataclass(frozen=True)
class Completion(Generic[T]):
    """What a model answered.

    Attributes:
        value: The text, or what it was read as.
        input_tokens: What the provider counted as read; 0 where it tells nothing.
        output_tokens: What it counted as written.
    """

    value: T
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class LanguageModel(Component):
    """A chat model behind any client of the OpenAI SDK's shape.

    The client may be `OpenAI()`, one with the `base_url` of a local server, `AsyncOpenAI()`, or `AnthropicClient()`. A
    request that fails is made again where that may help; so is one whose answer is empty, cut off, or not of the form
    that was asked for. All are counted (`track_usage`).

    Attributes:
        client: The client.
        model: The name of the model.
        max_tokens: The most tokens of an answer; None for the client's own limit.
        structure: How a form is asked for: by its schema, as any JSON object, or by the words of the prompt alone. Not
            every local server knows schemas.
        max_retries: How many more requests are made where one fails.
        price_in: What a million tokens cost that are read, in any currency; for an estimate of the costs.
        price_out: What a million tokens cost that are written.

    Raises:
        ConfigError: A parameter is out of range, the client has no `chat`, or its API does not have the structure.
    """

    client: LLMClient = field(repr=False, compare=False)
    model: str
    max_tokens: int | None = None
    structure: Structure = "json_schema"
    max_retries: int = field(default=5, repr=False, compare=False)
    price_in: float | None = field(default=None, repr=False, compare=False)
    price_out: float | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.client, type) or not hasattr(self.client, "chat"):
            raise ConfigError(
                f"LanguageModel: client={shown(self.client)}; expected a client with chat.completions.create, such as "
                "OpenAI() or AnthropicClient()"
            )
        name: Any = self.model
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"LanguageModel: model={shown(name)}; expected the name of a model")
        check_choice("LanguageModel", "structure", self.structure, get_args(Structure))
        if self.structure == "json_object" and isinstance(self.client, AnthropicClient):
            raise ConfigError(
                "LanguageModel: structure='json_object'; expected 'json_schema' or 'none' with AnthropicClient, whose "
                "API has no other way to ask for JSON"
            )
        check_count("LanguageModel", "max_retries", self.max_retries, 0)
        check_prices("LanguageModel", {"price_in": self.price_in, "price_out": self.price_out})
        if self.max_tokens is not None:
            check_count("LanguageModel", "max_tokens", self.max_tokens)

    def text(self, messages: Messages) -> Completion[str]:
        """Return the answer as a text of at least one character.

        Args:
            messages: One question, or `{"role": "system" | "user" | "assistant", "content": …}` each.

        Raises:
            InputError: The messages are nothing of the kind.
            ProviderRefused: The provider, or the model, refused.
            ProviderUnavailable: The provider was not available, in each attempt.
            InvalidAnswer: The answer was empty or cut off, in each attempt.
        """
        return self._asked(messages, {}, str)

    def form(self, messages: Messages, form: type[F]) -> Completion[F]:
        """Return the answer as a form, which the model is asked to fill in.

        Args:
            messages: As of `text`.
            form: A pydantic model.

        Raises:
            ProviderError: As of `text`; the answer has to hold JSON of this form, too.
        """
        wanted: dict[str, Any] = {}
        if self.structure == "json_schema":
            described = {"name": form.__name__, "schema": strict_schema(form), "strict": True}
            wanted = {"response_format": {"type": "json_schema", "json_schema": described}}
        elif self.structure == "json_object":
            wanted = {"response_format": {"type": "json_object"}}
        return self._asked(messages, wanted, partial(form_in, form=form))

    def _asked(self, messages: Messages, wanted: Mapping[str, Any], read: Callable[[str], T]) -> Completion[T]:
        limit = {} if self.max_tokens is None else {"max_completion_tokens": self.max_tokens}
        sent = _checked_messages(messages)

        def send() -> Any:
            return self._connected.chat.completions.create(model=self.model, messages=sent, **limit, **wanted)

        def checked(answer: Any) -> Completion[T]:
            used = Consumed()
            with suppress(Exception):
                used = _consumed(answer)
            return Completion(read(_answered(answer, self._calls)), used.input_tokens, used.output_tokens)

        return self._calls.call(send, checked, _consumed)

    @cached_property
    def _connected(self) -> Any:
        return given_client(self.client)

    @cached_property
    def _calls(self) -> ProviderCalls:
        client, prices = self.client, Prices(self.price_in, self.price_out)
        if isinstance(client, AnthropicClient):
            return ProviderCalls(ANTHROPIC, self.model, client.address, self.max_retries, prices)
        return ProviderCalls(OPENAI, self.model, address_of(client) or OPENAI.url, self.max_retries, prices)


def _checked_messages(given: Any) -> list[dict[str, str]]:
    """Return messages as they are sent.

    Raises:
        InputError: They are nothing of the kind.
    """
    messages: Any = [{"role": "user", "content": given}] if isinstance(given, str) else given
    known = is_list(messages) and len(messages) > 0
    if not known or not all(is_object(each) and isinstance(each.get("content"), str) for each in messages):
        raise InputError(f"messages={shown(given)}: expected a text, or a list of role and content")
    return [{"role": "user", **message, "content": encodable(message["content"])} for message in messages]


def _consumed(answer: Any) -> Consumed:
    return Consumed(int(answer.usage.prompt_tokens), int(answer.usage.completion_tokens))


def _answered(answer: Any, calls: ProviderCalls) -> str:
    """Return the text of an answer.

    Raises:
        ValueError: There is none.
        SameAgain: It is cut off.
        ProviderRefused: The model refused to answer.
    """
    choices: Any = getattr(answer, "choices", None)
    if not is_list(choices) or not choices:
        raise ValueError(f"{shown(answer)}; expected at least one choice")
    message, ended = choices[0].message, choices[0].finish_reason
    refusal = getattr(message, "refusal", None)
    if refusal or ended == "content_filter":
        why = f": {shown(refusal)}" if refusal else ""
        raise ProviderRefused(f"{calls.model} of {calls.provider.name} refused to answer{why}", calls.provider.name)
    if ended == "length":
        raise SameAgain(
            "an answer that is cut off at the most tokens it may have, or where no more fit beside what was asked; "
            "give it more (max_tokens), or ask for less"
        )
    if ended not in _COMPLETE:
        raise ValueError(f"an answer that is not complete: it ended with {shown(ended)}; expected 'stop'")
    text = message.content
    if not isinstance(text, str) or not text.strip():
        raise ValueError("an empty answer")
    return text
