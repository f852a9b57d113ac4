"""The protocols of OpenAI, Anthropic and Cohere, and their models: scripts, quotes, and vectors of texts."""

import base64
import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Lock
from typing import Any, TypeAlias, cast
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from rag_eval_loopback.server import Answer, Refused, Request, Route, content_of, field_of, text_of
from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.errors import ConfigError

# Deterministic vectors of texts: alike where texts share words.

_WORD = re.compile(r"\w+")


def vector(text: str, dimension: int, role: str = "") -> NDArray[np.float32]:
    """Return a vector of length 1, the same in every process: float32, shape (dimension,).

    Args:
        text: The text; each of its words adds to one of the places.
        dimension: Its length.
        role: What the text is embedded as: the same text in another role has another vector, close to it.
    """
    counts = np.zeros(dimension, dtype=np.float32)
    for word in (*_WORD.findall(text.lower()), f"<{role}>"):
        slot, sign = _slot(word, dimension)
        counts[slot] += sign
    length = float(np.linalg.norm(counts))
    if not length:  # words that cancel each other
        counts[0] = length = 1.0
    unit: NDArray[np.float32] = counts / np.float32(length)
    return unit


def share_of_words(query: str, text: str) -> float:
    """Return which share of the words of a question are in a text: from 0 to 1, and 0 for a question without words."""
    asked = set(_WORD.findall(query.lower()))
    return len(asked & set(_WORD.findall(text.lower()))) / len(asked) if asked else 0.0


def count_tokens(text: str) -> int:
    """Return a number of tokens: words and marks, as good a count as any where no tokenizer is the provider's."""
    return len(re.findall(r"\w+|[^\w\s]", text))


@lru_cache(maxsize=100_000)
def _slot(word: str, dimension: int) -> tuple[int, float]:
    code = zlib.crc32(word.encode("utf-8", "surrogatepass"))
    return code % dimension, 1.0 if code & 0x10000 else -1.0


# What the language models of this server answer: what a script says, or quotes of what they are asked about.

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
"""The schema of JSON that may be any object."""

_QUESTION = "question"  # what is called so is no quote, as a question in the words of its answer would be no test
_CHUNK_IDS = "chunk_ids"  # what is called so names the chunk that the sentences are from
_MOST_WORDS = 3
_BLOCK = re.compile(r"<([\w-]+)[^>\n]*>\n(.*?)\n</\1>", re.DOTALL)
_CHUNK = re.compile(r"^\[(\S+)\]: '(.*?)'$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]{12,}[.!?]")


@dataclass(frozen=True)
class ChatRequest:
    """What a model is asked, whichever provider's.

    Attributes:
        provider: `openai` or `anthropic`.
        model: The name of the model.
        messages: Role and text of each message, the system's first.
        schema: The JSON schema that the answer has to keep; None if it may be any text.
    """

    provider: str
    model: str
    messages: Sequence[tuple[str, str]]
    schema: Mapping[str, Any] | None = None

    @property
    def prompt(self) -> str:
        """The texts of all messages."""
        return "\n\n".join(text for _, text in self.messages)


Reply: TypeAlias = str | Mapping[str, Any] | list[Any]
Script: TypeAlias = Iterable[Reply] | Callable[[ChatRequest], Reply]


@dataclass
class ChatScript:
    """Answers in the order of a script, or of a function; without one, quotes of the question.

    Attributes:
        script: Texts, or what is sent as JSON, one for each request; or a function of the request. None quotes.

    Raises:
        ConfigError: The script is one answer instead of a list of them.
    """

    script: Script | None = None
    _left: Iterator[Reply] | None = field(default=None, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        given: Any = self.script
        if isinstance(given, str) or is_object(given):  # one answer, of which the letters or names would be sent
            raise ConfigError(f"answers={shown(given)}; expected a list of answers, or a function")
        if self.script is not None and not callable(self.script):
            self._left = iter(self.script)

    def reply(self, request: ChatRequest) -> str:
        """Return the text of the answer.

        Raises:
            LookupError: The script is at its end.
        """
        if callable(self.script):
            replied: Reply = self.script(request)
        elif self._left is not None:
            with self._lock:
                try:
                    replied = next(self._left)
                except StopIteration:
                    raise LookupError("the script of answers is at its end") from None
        else:
            replied = _quoted(request)
        return replied if isinstance(replied, str) else json.dumps(replied)


def _quoted(request: ChatRequest) -> Reply:
    """Return sentences of the longest paragraph of the last message, in the form that is asked for.

    If there is text between marks, `<passage>` and `</passage>`, it is a paragraph of that; of chunks behind their ids,
    `[id]: 'text'`, it is one of these.
    """
    text = request.messages[-1][1] if request.messages else ""
    text = "\n\n".join(block[2] for block in _BLOCK.finditer(text)) or text
    chunks: list[tuple[str, str]] = _CHUNK.findall(text) or [("", paragraph) for paragraph in text.split("\n\n")]
    chunk_id, longest = max(chunks, key=lambda chunk: len(chunk[1]))
    found: list[str] = _SENTENCE.findall(longest)
    sentences = [sentence.strip() for sentence in found] or [longest.strip() or "Nothing was asked."]
    if request.schema is None:
        return sentences[0]
    if request.schema == ANY_OBJECT:
        return {"quote": sentences[0]}
    supply = iter(sentences * 50)
    return cast("Reply", _made(request.schema, request.schema, supply, chunk_id))


def _made(schema: Mapping[str, Any], root: Mapping[str, Any], supply: Iterator[str], chunk_id: str) -> Any:
    """Return a value that keeps a schema: its texts are sentences, its lists have as few items as they may, or one.

    A text that is called `question` asks about a sentence; a list that is called `chunk_ids` has the id of the chunk.
    """
    if (reference := schema.get("$ref")) is not None:
        return _made(root["$defs"][str(reference).rpartition("/")[2]], root, supply, chunk_id)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _made(schema[key][0], root, supply, chunk_id)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "string")
    if is_list(kind):
        kind = kind[0]
    if kind == "object":
        made = {name: _made(part, root, supply, chunk_id) for name, part in schema.get("properties", {}).items()}
        if chunk_id and _CHUNK_IDS in made:
            made[_CHUNK_IDS] = [chunk_id]
        return {name: _asking(value) if name == _QUESTION else value for name, value in made.items()}
    if kind == "array":
        return [_made(schema.get("items", {}), root, supply, chunk_id) for _ in range(schema.get("minItems", 1))]
    plain = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 0.5), "boolean": True, "null": None}
    return plain[kind] if kind in plain else next(supply)


def _asking(sentence: Any) -> Any:
    """Return a question about a sentence, by its longest words in their order; what is no text, as it is."""
    if not isinstance(sentence, str):
        return sentence
    words = list(dict.fromkeys(_WORD.findall(sentence.lower())))
    longest = sorted(words, key=len, reverse=True)[:_MOST_WORDS]
    return f"What is said about {', '.join(word for word in words if word in longest)}?"


_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_OTHER_DIMENSION = 256
_MOST_INPUTS = 2048
_MOST_TOKENS = 300_000


def dimension_of(model: str) -> int:
    """Return the length of the vectors of a model; 256 for one that is not OpenAI's."""
    return _DIMENSIONS.get(model, _OTHER_DIMENSION)


def openai_error(status: int, message: str) -> Any:
    """Return the body of an error."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def openai_routes(chat: ChatScript) -> Sequence[Route]:
    """Return the routes of OpenAI, below `/v1`."""
    return (
        Route("POST /v1/embeddings", _openai_embeddings, openai_error),
        Route("POST /v1/chat/completions", partial(_completion, chat), openai_error),
    )


def _completion(chat: ChatScript, request: Request) -> Answer:
    content = content_of(request)
    model = field_of(content, "model", str)
    messages = [(field_of(each, "role", str), text_of(each.get("content"))) for each in content["messages"]]
    text = chat.reply(ChatRequest("openai", model, messages, _schema(content.get("response_format") or {})))
    asked, answered = sum(count_tokens(message) for _, message in messages), count_tokens(text)
    message = {"role": "assistant", "content": text, "refusal": None}
    usage = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
    choices = [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}]
    about = {"id": f"chatcmpl-{uuid4()}", "object": "chat.completion", "created": int(time.time()), "model": model}
    return Answer({**about, "choices": choices, "usage": usage})


def _schema(wanted: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if wanted.get("type") == "json_object":
        return ANY_OBJECT
    return wanted["json_schema"].get("schema") if wanted.get("type") == "json_schema" else None


def _openai_embeddings(request: Request) -> Answer:
    content = content_of(request)
    model = field_of(content, "model", str)
    given = field_of(content, "input", (str, list))
    texts: list[Any] = [given] if isinstance(given, str) else given
    if not texts or len(texts) > _MOST_INPUTS:
        raise Refused(400, f"input: {len(texts)} texts; expected 1 to {_MOST_INPUTS}")
    if any(not isinstance(text, str) or not text for text in texts):
        raise Refused(400, "input cannot be an empty string")
    tokens = sum(count_tokens(text) for text in texts)
    if tokens > _MOST_TOKENS:
        raise Refused(400, f"input: {tokens} tokens; expected at most {_MOST_TOKENS} per request")
    dimension = content.get("dimensions") or dimension_of(model)
    form = content.get("encoding_format", "float")
    data = [
        {"object": "embedding", "index": number, "embedding": _encoded(text, dimension, form)}
        for number, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Answer({"object": "list", "data": data, "model": model, "usage": usage})


def _encoded(text: str, dimension: int, form: str) -> str | list[float]:
    numbers = vector(text, dimension)
    if form == "base64":
        return base64.b64encode(numbers.astype(np.dtype("<f4")).tobytes()).decode("ascii")
    plain: list[float] = numbers.tolist()
    return plain


_ERRORS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
_UNKNOWN = ("temperature", "top_p", "top_k")  # parameters that the API no longer has


def anthropic_error(status: int, message: str) -> Any:
    """Return the body of an error."""
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def anthropic_routes(chat: ChatScript) -> Sequence[Route]:
    """Return the route of Anthropic, below `/v1`."""
    return (Route("POST /v1/messages", partial(_message, chat), anthropic_error),)


def _message(chat: ChatScript, request: Request) -> Answer:
    content = content_of(request)
    model = field_of(content, "model", str)
    field_of(content, "max_tokens", int)
    if unknown := [name for name in _UNKNOWN if name in content]:
        raise Refused(400, f"{unknown[0]}: extra inputs are not permitted")
    messages = [("system", text_of(content["system"]))] if content.get("system") else []
    messages += [(field_of(each, "role", str), text_of(each["content"])) for each in content["messages"]]
    config: Any = content.get("output_config") or {}
    form: Any = config.get("format") or {}
    text = chat.reply(ChatRequest("anthropic", model, messages, form.get("schema")))
    usage = {"input_tokens": sum(count_tokens(message) for _, message in messages), "output_tokens": count_tokens(text)}
    about = {"id": f"msg-{uuid4()}", "type": "message", "role": "assistant", "model": model}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    return Answer({**about, **ended, "content": [{"type": "text", "text": text}], "usage": usage})


_DIMENSION = 1536
_OLDER_DIMENSION = 1024  # of the models of version 3
_MOST_TEXTS = 96
_MOST_DOCUMENTS = 10_000
_INPUT_TYPES = ("search_document", "search_query", "classification", "clustering", "image")


def cohere_error(_status: int, message: str) -> Any:
    """Return the body of an error."""
    return {"message": message}


def cohere_routes() -> Sequence[Route]:
    """Return the routes of Cohere, below `/v2`."""
    return Route("POST /v2/embed", _embed, cohere_error), Route("POST /v2/rerank", _rerank, cohere_error)


def _embed(request: Request) -> Answer:
    content = content_of(request)
    texts: list[str] = field_of(content, "texts", list)
    role, model = field_of(content, "input_type", str), field_of(content, "model", str)
    if role not in _INPUT_TYPES:
        raise Refused(400, f"invalid request: valid input_type must be provided, got {role!r}")
    if not texts or len(texts) > _MOST_TEXTS:
        raise Refused(400, f"invalid request: total number of texts must be 1 to {_MOST_TEXTS}, received {len(texts)}")
    dimension = content.get("output_dimension") or (_OLDER_DIMENSION if "v3" in model else _DIMENSION)
    vectors = {"float": [vector(text, dimension, role).tolist() for text in texts]}
    billed = {"input_tokens": sum(map(count_tokens, texts))}
    return _cohere_answer(billed, embeddings=vectors, texts=texts, response_type="embeddings_by_type")


def _rerank(request: Request) -> Answer:
    content = content_of(request)
    query, documents = field_of(content, "query", str), field_of(content, "documents", list)
    field_of(content, "model", str)
    if not documents or len(documents) > _MOST_DOCUMENTS:
        raise Refused(400, f"invalid request: expected 1 to {_MOST_DOCUMENTS} documents, received {len(documents)}")
    scores = [(-share_of_words(query, text), number) for number, text in enumerate(documents)]
    best = sorted(scores)[: content.get("top_n") or len(documents)]
    results = [{"index": number, "relevance_score": -score} for score, number in best]
    return _cohere_answer({"search_units": 1}, results=results)


def _cohere_answer(billed: Mapping[str, int], **content: Any) -> Answer:
    meta = {"api_version": {"version": "2"}, "billed_units": billed}
    return Answer({"id": f"cohere-{uuid4()}", "meta": meta, **content})
