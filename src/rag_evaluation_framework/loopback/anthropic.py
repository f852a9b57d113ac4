"""The wire protocol of Anthropic: messages, with structured output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.loopback.chat import ChatRequest, ChatScript, count_tokens
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

_ERRORS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
_UNKNOWN = ("temperature", "top_p", "top_k")  # parameters that the API no longer has


def anthropic_error(status: int, message: str) -> Any:
    """Return the body of an error."""
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


@dataclass(frozen=True)
class AnthropicRoutes:
    """What a server of Anthropic's protocol answers.

    Attributes:
        chat: What the models answer.
    """

    chat: ChatScript

    def routes(self) -> Sequence[Route]:
        """Return the route, below `/v1`."""
        ids = numbered("msg")
        return (Route("POST /v1/messages", lambda request: self._message(request, ids()), anthropic_error),)

    def _message(self, request: Request, identity: str) -> Answer:
        check_key(request)
        content: Any = request.json
        refuse_streams(content)
        model = field_of(content, "model", str)
        field_of(content, "max_tokens", int)
        if unknown := [name for name in _UNKNOWN if name in content]:
            raise Refused(400, f"{unknown[0]}: extra inputs are not permitted")
        messages = [("system", text_of(content["system"]))] if content.get("system") else []
        messages += [(field_of(each, "role", str), text_of(each["content"])) for each in content["messages"]]
        config: Any = content.get("output_config") or {}
        form: Any = config.get("format") or {}
        text = self.chat.reply(ChatRequest("anthropic", model, messages, form.get("schema")))
        usage = {
            "input_tokens": sum(count_tokens(message) for _, message in messages),
            "output_tokens": count_tokens(text),
        }
        return Answer(
            {
                "id": identity,
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": usage,
            }
        )
