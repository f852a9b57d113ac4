"""The wire protocol of OpenAI: embeddings, and chat with structured output."""

import base64
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_evaluation_framework.loopback.chat import ANY_OBJECT, ChatRequest, ChatScript, count_tokens, vector
from rag_evaluation_framework.loopback.messages import (
    Answer,
    Refused,
    Request,
    check_key,
    field_of,
    numbered,
    refuse_streams,
    text_of,
)
from rag_evaluation_framework.loopback.server import Route

_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
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


@dataclass(frozen=True)
class OpenAIRoutes:
    """What a server of OpenAI's protocol answers.

    Attributes:
        chat: What the models answer.
    """

    chat: ChatScript

    def routes(self) -> Sequence[Route]:
        """Return the routes, below `/v1`."""
        ids = numbered("chatcmpl")
        return (
            Route("POST /v1/embeddings", _embeddings, openai_error),
            Route("POST /v1/chat/completions", lambda request: self._completion(request, ids()), openai_error),
        )

    def _completion(self, request: Request, identity: str) -> Answer:
        check_key(request)
        content: Any = request.json
        refuse_streams(content)
        model = field_of(content, "model", str)
        messages = [(field_of(each, "role", str), text_of(each.get("content"))) for each in content["messages"]]
        text = self.chat.reply(ChatRequest("openai", model, messages, _schema(content.get("response_format") or {})))
        asked, answered = sum(count_tokens(message) for _, message in messages), count_tokens(text)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "finish_reason": "stop",
            "logprobs": None,
        }
        return Answer(
            {
                "id": identity,
                "object": "chat.completion",
                "created": int(time.time()),
                "model": model,
                "choices": [choice],
                "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
            }
        )


def _schema(wanted: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if wanted.get("type") == "json_object":
        return ANY_OBJECT
    return wanted["json_schema"].get("schema") if wanted.get("type") == "json_schema" else None


def _embeddings(request: Request) -> Answer:
    check_key(request)
    content: Any = request.json
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
