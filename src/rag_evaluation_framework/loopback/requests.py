"""What routes read of requests."""

from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework.loopback.messages import Refused, Request


def check_key(request: Request) -> None:
    """Refuse a request without a key, as providers do.

    Raises:
        Refused: There is none.
    """
    if not request.key:
        raise Refused(401, "no API key was sent")


def numbered(prefix: str) -> Callable[[], str]:
    """Return what gives ids `prefix-1`, `prefix-2` and so on."""
    lock, given = Lock(), Counter[str]()

    def next_id() -> str:
        with lock:
            given[prefix] += 1
            return f"{prefix}-{given[prefix]}"

    return next_id


def field_of(content: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """Return a field of a request.

    Raises:
        Refused: It is missing or of another type.
    """
    value = content.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        raise Refused(400, f"{name}: got {shown(value, 80)}")
    return value


def refuse_streams(content: Mapping[str, Any]) -> None:
    """Refuse a request whose answer should come in parts.

    Raises:
        Refused: It is one.
    """
    if content.get("stream"):
        raise Refused(400, "stream: this server answers in one piece; expected stream=False")


def text_of(content: Any) -> str:
    """Return the text of a message, which may be given in parts; empty if there is none."""
    if not is_list(content):
        return str(content or "")
    return "".join(str(part.get("text", "")) for part in content if is_object(part))
