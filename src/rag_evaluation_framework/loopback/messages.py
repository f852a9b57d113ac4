"""HTTP on 127.0.0.1: what goes over the wire, and what routes read of it."""

import gzip
import json
import os
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qs, urlsplit

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.component import check_count, check_number

# What goes over the wire: a request, the answer to it, and what may go wrong on the way.


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


# HTTP on 127.0.0.1: what arrives is read whole, and answered by a function.

Answering: TypeAlias = Callable[[Request], tuple[Answer | None, float]]
"""Gives the answer to a request, None to close the connection, and how many seconds to wait before."""


class HttpServer(ThreadingHTTPServer):
    """Listens on an address, and answers each connection in a thread of its own."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # after it was closed; on Windows it would take the port of another server
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answer: Answering) -> None:
        self.answer = answer
        self.connections: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a client went away; that is what clients do."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close_all(self) -> None:
        """Close the port and what is still open, so that clients that keep connections notice."""
        self.server_close()
        for connection in list(self.connections):
            _shut(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for headers and body: two wait 40 ms for each other
    disable_nagle_algorithm = True

    @property
    def _ours(self) -> HttpServer:
        return cast("HttpServer", self.server)

    def setup(self) -> None:
        """Remember the connection."""
        super().setup()
        self._ours.connections.add(self.connection)

    def finish(self) -> None:
        """Forget the connection."""
        self._ours.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the base class calls it
        """Write nothing: requests are recorded."""

    def do_GET(self) -> None:
        """Answer."""
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = _decompressed(self._body(), headers.get("content-encoding", ""))
        query = parse_qs(parts.query, keep_blank_values=True)
        answer, delay = self._ours.answer(Request(self.command, parts.path, query, headers, body))
        if delay:
            time.sleep(delay)
        if answer is None:
            self.close_connection = True
            _shut(self.connection)
            return
        written = answer.body
        self.send_response(answer.status)
        sent = {"Content-Type": "application/json", **answer.headers, "Content-Length": str(len(written))}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(written)
        self.wfile.flush()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815  as the base class calls them

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self._read(int(self.headers.get("Content-Length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0] or b"-1", 16):
            parts.append(self._read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _read(self, size: int) -> bytes:
        """Return so many bytes; a client that goes away before has asked for nothing."""
        body = self.rfile.read(max(size, 0))
        if len(body) != size:
            raise ConnectionAbortedError("the client went away")
        return body


def _decompressed(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(body)
    if encoding == "zstd":
        zstandard: Any = require("zstandard", extra="langsmith", needed_by="LoopbackProviders")
        decompressed: bytes = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        return decompressed
    return body


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


# What routes read of requests.


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


# Parts of a body of `multipart/form-data`.

_BOUNDARY = re.compile(r"""\bboundary=(?:"([^"]+)"|([^\s;]+))""")
_NAME = re.compile(rb"""\bname="([^"]*)\"""")


@dataclass(frozen=True)
class Part:
    """One part.

    Attributes:
        name: Its name in the form.
        body: What it holds.
    """

    name: str
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        """The body as JSON.

        Raises:
            Refused: It is not valid JSON.
        """
        try:
            return json.loads(self.body)
        except ValueError:
            raise Refused(422, f"{self.name}: expected JSON") from None


def parts_of(request: Request) -> list[Part]:
    """Return the parts of the body of a request, in order.

    Raises:
        Refused: The body is of another type, or is cut off.
    """
    found = _BOUNDARY.search(request.headers.get("content-type", ""))
    if found is None:
        raise Refused(422, "expected multipart/form-data with a boundary")
    line = b"--" + (found[1] or found[2]).encode("latin-1")
    # The first boundary has no line break before it; every other one has.
    first, *parts, end = (b"\r\n" + request.body).split(b"\r\n" + line)
    if first or end.strip() != b"--":
        raise Refused(422, "the body of the form is cut off")
    return list(map(_part, parts))


def _part(text: bytes) -> Part:
    head, _, body = text.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    name = _NAME.search(head)
    if name is None:
        raise Refused(422, "a part of the form has no name")
    return Part(name[1].decode("utf-8"), body)
