"""What goes over the wire: a request, the answer to it, and what may go wrong on the way."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.contracts.component import check_count, check_number


@dataclass(frozen=True)
class Request:
    """A request that arrived.

    Attributes:
        method: `GET`, `POST` and so on.
        path: The path, without the query.
        query: The values of each parameter of the query.
        headers: The headers by their names in lower case. They hold keys, so they are not in the repr.
        body: The body, decompressed. It may be large, so it is not in the repr.
        values: What stands in the places of the route's path: `{"id": …}` of `/datasets/{id}`.
    """

    method: str
    path: str
    query: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes = field(default=b"", repr=False)
    values: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def json(self) -> Any:
        """The body as JSON; None if there is none.

        Raises:
            ValueError: It is not valid JSON.
        """
        return json.loads(self.body) if self.body else None

    @property
    def key(self) -> str:
        """The key that was sent; empty if none was."""
        sent = self.headers.get("authorization", "").removeprefix("Bearer ")
        return sent or self.headers.get("x-api-key", "")


@dataclass(frozen=True)
class Answer:
    """What is answered.

    Attributes:
        content: Sent as JSON; bytes and texts as they are.
        status: The status.
        headers: More headers; `Content-Type` is JSON unless it is given.
    """

    content: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def body(self) -> bytes:
        """The bytes that are sent."""
        if isinstance(self.content, bytes):
            return self.content
        if isinstance(self.content, str):
            return self.content.encode("utf-8")
        return b"" if self.content is None else json.dumps(self.content).encode("utf-8")


@dataclass(frozen=True)
class Fault:
    """What goes wrong with a request; what is not given stays as it is.

    Attributes:
        status: The status of the answer, instead of the work. Providers' own error bodies are sent with it.
        headers: More headers of the answer, such as `{"Retry-After": "1"}`.
        body: The body of the answer, instead of the work's: JSON, or bytes and text as they are.
        change: Changes the JSON that would have been answered, such as `lambda answer: answer | {"data": []}`.
        delay: Seconds until the answer is sent.
        drop: Whether the connection is closed instead of answering.
        lost: Whether the work is done all the same, before the status or the closed connection hides its answer.
        times: How many requests it befalls; None for all that follow.
        after: How many requests go well before.

    Raises:
        ConfigError: `times` is less than 1, `after` or `delay` less than 0.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    change: Callable[[Any], Any] | None = None
    delay: float = 0.0
    drop: bool = False
    lost: bool = False
    times: int | None = 1
    after: int = 0

    def __post_init__(self) -> None:
        if self.times is not None:
            check_count("Fault", "times", self.times)
        check_count("Fault", "after", self.after, 0)
        check_number("Fault", "delay", self.delay)

    @property
    def hides(self) -> bool:
        """Whether something else is answered than the work's answer."""
        return self.status is not None or self.body is not None


class Refused(Exception):
    """Raised by a route: a request that the provider would refuse.

    Attributes:
        status: The status of the answer.
        message: What the provider says.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
