"""`LanguageModel` asks a model and checks what it answers; Anthropic's models answer in the OpenAI SDK's shape."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ...base.coroutines import checked_limit, resolved, stop_if_cancelled
from ...base.exits import outcome
from ...base.files import is_list, is_object
from ...base.notes import note
from ...base.outside import class_name, error_message, shown
from ...base.store import Cache
from ...contracts.component import Component, check_choice, check_count, check_text
from ...contracts.roles import LLMClient
from ...data.ids import content_digest
from ...data.values import encodable
from ...errors import ConfigError, InputError, ProviderRefused
from ..providers import ANTHROPIC, OPENAI, sdk_client
from ..providers.calls import AnotherAtOnce, Consumed, Prices, ProviderCalls, SameAgain, address_of, given_client

# Anthropic's models behind the OpenAI SDK's shape.

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
        timeout: Seconds until a request has failed; None for no limit.

    Raises:
        ConfigError: `timeout` is out of range; at the first request, there is no key.
    """

    requires: ClassVar[Mapping[str, str]] = {"anthropic": "anthropic"}

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False, compare=False)
    client: Any = field(default=None, repr=False, compare=False)
    timeout: float | None = field(default=120.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        checked_limit(f"{type(self).__name__}: timeout", self.timeout)

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
    text = "".join(str(block.text) for block in given if getattr(block, "type", None) == "text")
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


# JSON in what a language model answers, and the schema by which it is asked for.

F = TypeVar("F", bound=BaseModel)

_DECODER = json.JSONDecoder(strict=False)  # models copy line breaks into texts as they are
_MOST_TRIED = 1000  # brackets that begin no JSON: a model may write nothing but brackets
_OPENING = re.compile(r"[{\[]")


def form_in(text: str, form: type[F]) -> F:
    """Return the last object or list in a text that is valid as a form.

    Models put it in code fences and words around it, and think aloud before: `[1]`, an example, what they take back.

    Raises:
        ValueError: There is none.
    """
    invalid: ValidationError | None = None
    for value in reversed([*_values(text)]):
        try:
            return form.model_validate(value)
        except ValidationError as error:
            invalid = invalid or error
    if invalid is None:
        raise ValueError(f"no JSON in {shown(text)}")
    first = invalid.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the answer"
    raise ValueError(f"{where}: {first['msg']}, in {shown(text)}; expected {form.__name__} as JSON") from invalid


def _values(text: str) -> Iterator[Any]:
    """Yield the objects and lists of a text, without those inside of others.

    Where one breaks off the search goes on behind what was read of it: its parts are no answers.
    """
    at = tried = 0
    while tried < _MOST_TRIED and (opening := _OPENING.search(text, at)):
        tried += 1
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except json.JSONDecodeError as error:
            at = max(error.pos, opening.end())
        except RecursionError:
            return
        else:
            yield value


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model as structured output wants it, and as OpenAI's SDK sends it.

    All fields are required, no others are allowed, and what has a `$ref` has nothing else.
    """
    schema = form.model_json_schema()
    return _strict(schema, schema, frozenset())


def _strict(part: Mapping[str, Any], root: Mapping[str, Any], inside: frozenset[str]) -> dict[str, Any]:
    """Return a part of a schema.

    Args:
        part: The part.
        root: The whole schema.
        inside: The references in whose place the part stands.
    """
    strict = {key: value for key, value in part.items() if (key, value) != ("default", None)}
    reference: Any = strict.get("$ref")
    if reference in inside:  # a part of itself, without an end
        return {"$ref": reference}
    if reference is not None and len(strict) > 1:
        del strict["$ref"]
        return _strict({**root["$defs"][reference.rpartition("/")[2]], **strict}, root, inside | {reference})
    if "$defs" in strict:
        strict["$defs"] = {name: _strict(each, root, frozenset()) for name, each in strict["$defs"].items()}
    if strict.get("type") == "object":
        strict.setdefault("additionalProperties", False)
    if is_object(properties := strict.get("properties")):
        strict["required"] = [*properties]
        strict["properties"] = {name: _strict(each, root, inside) for name, each in properties.items()}
    if is_object(items := strict.get("items")):
        strict["items"] = _strict(items, root, inside)
    if is_list(choices := strict.get("anyOf")):
        strict["anyOf"] = [_strict(each, root, inside) for each in choices]
    return strict


# Answers of language models, kept on disk: what was answered once is not asked, and paid for, again.

T = TypeVar("T")

_VERSION = 3  # part of the key: answers of another version are not found
_MOST = 1 << 30  # bytes of all answers below a root


@dataclass(frozen=True)
class Completion(Generic[T]):
    """Answer of a model.

    Attributes:
        value: The text, or what it was read as.
        input_tokens: What the provider counted as read; 0 where it tells nothing.
        output_tokens: What it counted as written.
    """

    value: T
    input_tokens: int = 0
    output_tokens: int = 0


class KeptAnswers(Cache):
    """Answers that could be used, found by all that they depend on, in `<root>/cache/answers`.

    Prompts are not kept.

    Args:
        root: The folder of runs and datasets.

    Attributes:
        used: How many answers were read instead of being asked for.
    """

    def __init__(self, root: str | Path) -> None:
        super().__init__(root, "answers", "answers", _MOST)
        self.used = 0
        self._lock = Lock()

    def get(self, key: str) -> Completion[str] | None:
        """Return what was answered; None if it is not known."""
        if not (found := self.read([key])):
            return None
        with self._lock:
            self.used += 1
        return Completion[str](**json.loads(found[key]))

    def keep(self, key: str, answer: Completion[str]) -> None:
        """Keep what was answered."""
        self.write({key: json.dumps(asdict(answer)).encode()})


def answer_key(request: Mapping[str, Any]) -> str:
    """Return what an answer is found by: a hash of all that it depends on.

    Args:
        request: The address, and what is sent.
    """
    return content_digest(json.dumps([_VERSION, request], sort_keys=True))


# `LanguageModel`: asks, checks what is answered, and asks again.

Structure = Literal["json_schema", "json_object", "none"]
_COMPLETE = ("stop", "eos", "eos_token", None)  # the others are said by servers that are not OpenAI's

Messages: TypeAlias = str | Sequence[Mapping[str, str]]
"""What a model is asked: one question, or `{"role": "system" | "user" | "assistant", "content": …}` each."""


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
        kept: Where answers that can be used are kept, and read instead of being asked for; None to ask each time. What
            the reader of another form cannot use is asked for again, and replaced. Threads that ask the same at once
            each ask the provider; generators ask once.

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
    kept: KeptAnswers | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.client, type) or not hasattr(self.client, "chat"):
            raise ConfigError(
                f"LanguageModel: client={shown(self.client)}; expected a client with chat.completions.create, such as "
                "OpenAI() or AnthropicClient()"
            )
        check_text("LanguageModel", "model", self.model, "the name of a model")
        check_choice("LanguageModel", "structure", self.structure, get_args(Structure))
        if self.structure == "json_object" and isinstance(self.client, AnthropicClient):
            raise ConfigError(
                "LanguageModel: structure='json_object'; expected 'json_schema' or 'none' with AnthropicClient, whose "
                "API has no other way to ask for JSON"
            )
        check_count("LanguageModel", "max_retries", self.max_retries, 0)
        Prices.of(self)
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

    def form(self, messages: Messages, form: type[F], read: Callable[[str], F] | None = None) -> Completion[F]:
        """Return the answer as a form, which the model is asked to fill in.

        Args:
            messages: As of `text`.
            form: A pydantic model.
            read: Reads the text of an answer, and raises ValueError if it cannot be used; by default it has to hold
                JSON of this form.

        Raises:
            ConfigError: The form is not a pydantic model.
            ProviderError: As of `text`; the answer has to hold JSON of this form, too.
        """
        given: Any = form
        if not isinstance(given, type) or not issubclass(given, BaseModel) or given is BaseModel:
            raise ConfigError(
                f"form={shown(form)}: expected a pydantic model, such as class Verdict(BaseModel): answer: str"
            )
        wanted: dict[str, Any] = {}
        if self.structure == "json_schema":
            described = {"name": form.__name__, "schema": strict_schema(form), "strict": True}
            wanted = {"response_format": {"type": "json_schema", "json_schema": described}}
        elif self.structure == "json_object":
            wanted = {"response_format": {"type": "json_object"}}
        return self._asked(messages, wanted, read or partial(form_in, form=form))

    def _asked(self, messages: Messages, wanted: Mapping[str, Any], read: Callable[[str], T]) -> Completion[T]:
        stop_if_cancelled()
        limit = {} if self.max_tokens is None else {"max_completion_tokens": self.max_tokens}
        asked = {"model": self.model, "messages": _checked_messages(messages), **limit, **wanted}
        client = given_client(self.client)

        def send() -> Any:
            return client.chat.completions.create(**asked)

        def checked(answer: Any) -> tuple[Completion[str], Completion[T]]:
            told = _told(answer, self._calls)
            try:
                return told, Completion(read(told.value), told.input_tokens, told.output_tokens)
            except ValueError as error:
                raise AnotherAtOnce(error_message(error)) from error

        if self.kept is None or not self._has_address:
            return self._calls.call(send, checked, _consumed)[1]
        key = answer_key({"address": self._calls.address, **asked})
        if (known := self.kept.get(key)) is not None:
            with suppress(ValueError):  # where this reader cannot use it, another is asked for, and replaces it
                return Completion(read(known.value), known.input_tokens, known.output_tokens)
        told, completion = self._calls.call(send, checked, _consumed)
        self.kept.keep(key, told)
        return completion

    @cached_property
    def _has_address(self) -> bool:
        """Whether it is known which server answers: answers of any other would be taken for OpenAI's."""
        if not (known := address_of(self.client) is not None):
            note(f"{class_name(self.client)} tells no base_url: its answers are not kept, and are asked for each time")
        return known

    @cached_property
    def _calls(self) -> ProviderCalls:
        provider = ANTHROPIC if isinstance(self.client, AnthropicClient) else OPENAI
        address = address_of(self.client) or provider.url
        return ProviderCalls(provider, self.model, address, self.max_retries, Prices.of(self))


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


def _told(answer: Any, calls: ProviderCalls) -> Completion[str]:
    """Return the text of an answer, with what it consumed.

    Raises:
        ValueError: There is none.
        SameAgain: It is cut off.
        ProviderRefused: The model refused to answer.
    """
    choices: Any = getattr(answer, "choices", None)
    if not is_list(choices) or not choices:
        raise ValueError(f"{shown(answer)}; expected at least one choice")
    message: Any = getattr(choices[0], "message", None)
    text, refusal = getattr(message, "content", None), getattr(message, "refusal", None)
    ended: Any = getattr(choices[0], "finish_reason", None)
    if refusal or ended == "content_filter":
        why = f": {shown(str(refusal))}" if refusal else ""
        raise ProviderRefused(f"{calls.model} of {calls.provider.name} refused to answer{why}", calls.provider.name)
    if ended == "length":
        raise SameAgain(
            "an answer that is cut off at the most tokens it may have, or where no more fit beside what was asked; "
            "give it more (max_tokens), or ask for less"
        )
    if ended not in _COMPLETE:
        raise ValueError(f"an answer that is not complete: it ended with {shown(ended)}; expected 'stop'")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("an empty answer")
    used = outcome(lambda: _consumed(answer), lambda _: Consumed())  # it may tell nothing
    return Completion(text, used.input_tokens, used.output_tokens)
