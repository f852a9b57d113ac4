"""HTTP on 127.0.0.1: routes that answer, faults that befall requests, and a record of what arrived."""

import gzip
import json
import os
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from threading import Lock, Thread
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs, unquote, urlsplit

import zstandard

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.outside import error_text, shown
from rag_evaluation_framework.contracts.component import check_count, check_number
from rag_evaluation_framework.errors import ConfigError

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
    def called(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"

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
        if self.content is None or isinstance(self.content, bytes):
            return self.content or b""
        return (self.content if isinstance(self.content, str) else json.dumps(self.content)).encode("utf-8")


@dataclass(frozen=True)
class _Fault:
    """What goes wrong with a request, as `LoopbackServer.fault` says; what is not given stays as it is."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    change: Callable[[Any], Any] | None = None
    delay: float = 0.0
    drop: bool = False
    lost: bool = False

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


class _HttpServer(ThreadingHTTPServer):
    """Listens on an address, and answers each connection in a thread of its own."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # after it was closed; on Windows it would take the port of another server
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answer: Callable[[Request], tuple[Answer | None, float]]) -> None:
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
    def _ours(self) -> _HttpServer:
        return cast("_HttpServer", self.server)

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
        return zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return body


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


Work = Callable[[Request], Answer]
ErrorBody = Callable[[int, str], Any]

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class Route:
    """Where requests of one kind go.

    Attributes:
        name: Method and path, `POST /v2/embed`; a part of the path in braces stands for anything.
        work: What answers.
        error: The body of an error as its provider writes it, of a status and a message.
        below: What the path may begin with: the route is there once for each.
    """

    name: str
    work: Work
    error: ErrorBody
    below: Sequence[str] = ("",)

    def values(self, request: Request) -> dict[str, str] | None:
        """Return what stands in the braces, or None if the request is for another route."""
        method, _, path = self.name.partition(" ")
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path))
        found = re.fullmatch(f"{method} (?:{'|'.join(map(re.escape, self.below))}){pattern}", request.called)
        return None if found is None else {name: unquote(value) for name, value in found.groupdict().items()}


@dataclass(frozen=True)
class Exchange:
    """A request that was answered, or was not.

    Attributes:
        route: The name of its route.
        request: The request.
        status: The status of the answer; None if the connection was closed instead.
    """

    route: str
    request: Request
    status: int | None


class LoopbackServer:
    """Serves routes on 127.0.0.1 from threads of this process, from `start` to `stop`.

    Attributes:
        routes: What it serves; the first that fits answers.
        port: The port; 0 for any that is free.
        exchanges: What arrived and what was answered, in order.
    """

    def __init__(self, routes: Iterable[Route], port: int = 0) -> None:
        self.routes = tuple(routes)
        self.port = port
        self.exchanges: list[Exchange] = []
        self._faults: dict[str, Iterator[_Fault]] = {}
        self._lock = Lock()
        self._server: _HttpServer | None = None

    @property
    def url(self) -> str:
        """Where it is, `http://127.0.0.1:PORT`; OpenAI's base URL is this with `/v1`."""
        return f"http://{_HOST}:{self.port}"

    def start(self) -> None:
        """Begin to listen.

        Raises:
            ConfigError: The port is taken, or not a valid one.
        """
        try:
            self._server = _HttpServer((_HOST, self.port), self.answer)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "expected 0 to 65535"
            raise ConfigError(f"port {self.port} of {_HOST} cannot be used: {reason}") from error
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, args=(0.02,), name="rag-eval-loopback", daemon=True).start()

    def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.shutdown()
            self._server.close_all()
            self._server = None

    def fault(
        self,
        route: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        change: Callable[[Any], Any] | None = None,
        delay: float = 0.0,
        drop: bool = False,
        lost: bool = False,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """Let something go wrong with the next requests of a route; several faults wait for their turn.

        Args:
            route: Method and path, such as `POST /v2/embed`.
            status: The status of the answer, instead of the work, with an error body as the provider writes it.
            headers: More headers of the answer, such as `{"Retry-After": "1"}`.
            body: The body of the answer, instead of the work's: JSON, or bytes and text as they are.
            change: Changes the JSON that would have been answered. What it raises is answered with status 500.
            delay: Seconds until the answer is sent.
            drop: Whether the connection is closed instead of answering.
            lost: Whether the work is done before the status or the closed connection hides its answer.
            times: How many requests it befalls; None for all that follow.
            after: How many requests go well before.

        Raises:
            ConfigError: There is no such route, nothing would go wrong, or a number is out of range.
        """
        if status is None and body is None and change is None and not (headers or delay or drop or lost):
            raise ConfigError(f"fault({route!r}): nothing would go wrong; expected status=, drop=True or another fault")
        if times is not None:
            check_count("fault", "times", times)
        check_count("fault", "after", after, 0)
        check_number("fault", "delay", delay)
        known = [each.name for each in self.routes]
        if route not in known:
            raise ConfigError(f"route {route!r} is not there; expected one of {', '.join(known)}")
        fault = _Fault(status, headers or {}, body, change, delay, drop, lost)
        befalling = repeat(fault) if times is None else repeat(fault, times)
        with self._lock:
            self._faults[route] = chain(self._faults.get(route, ()), repeat(_Fault(), after), befalling)

    def clear_faults(self) -> None:
        """Forget the faults that have not come yet."""
        with self._lock:
            self._faults.clear()

    def counts(self) -> Counter[str]:
        """Return how many requests each route had, by names such as `POST /v1/embeddings`."""
        return Counter(exchange.route for exchange in [*self.exchanges])

    def answer(self, request: Request) -> tuple[Answer | None, float]:
        """Return the answer to a request, None to close the connection, and how many seconds to wait before."""
        route, request = self._routed(request)
        with self._lock:
            fault = next(self._faults.get(route.name, iter(())), _Fault())
        worked = None if fault.drop and not fault.lost else self._worked(route, request, fault)
        answer = None if fault.drop else worked
        with self._lock:
            self.exchanges.append(Exchange(route.name, request, None if answer is None else answer.status))
        return answer, fault.delay

    def _routed(self, request: Request) -> tuple[Route, Request]:
        for route in self.routes:
            if (values := route.values(request)) is not None:
                return route, replace(request, values=values)
        return Route(request.called, _nothing_there, _error_for_all), request

    def _worked(self, route: Route, request: Request, fault: _Fault) -> Answer:
        answer = self._done(route, request) if fault.lost or not fault.hides else Answer()
        try:
            if fault.hides:
                status = 200 if fault.status is None else fault.status
                body = route.error(status, f"status {status}, as was asked for") if fault.body is None else fault.body
                answer = Answer(body, status)
            if fault.change is not None:
                answer = replace(answer, content=fault.change(json.loads(answer.body)))
            content, status = answer.body, answer.status
        except Exception as error:  # noqa: BLE001  it is anybody's code
            content, status = route.error(500, f"the fault of {route.name} raised {error_text(error)}"), 500
        return Answer(content, status, {**answer.headers, **fault.headers})

    def _done(self, route: Route, request: Request) -> Answer:
        try:
            return route.work(request)
        except Refused as error:
            return Answer(route.error(error.status, error.message), error.status)
        except Exception as error:  # noqa: BLE001  a request that is no sense: its sender is told
            return Answer(route.error(400, f"{type(error).__name__}: {error}"), 400)


def _error_for_all(_: int, message: str) -> Any:
    return {"detail": message, "error": {"message": message}}  # each SDK shows another part


def _nothing_there(request: Request) -> Answer:
    # Not 404, of which SDKs say that the record is not there.
    raise Refused(405, f"the loopback server has no route {request.called}")


# What routes read of requests.


def check_key(request: Request) -> None:
    """Refuse a request without a key, as providers do.

    Raises:
        Refused: There is none.
    """
    if not request.key:
        raise Refused(401, "no API key was sent")


def field_of(content: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """Return a field of a request.

    Raises:
        Refused: It is missing or of another type.
    """
    value = content.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        raise Refused(400, f"{name}: got {shown(value, 80)}")
    return value


def content_of(request: Request) -> Any:
    """Return the JSON of a request for a model.

    Raises:
        Refused: It has no key, or its answer should come in parts.
    """
    check_key(request)
    if request.json.get("stream"):
        raise Refused(400, "stream: this server answers in one piece; expected stream=False")
    return request.json


def text_of(content: Any) -> str:
    """Return the text of a message, which may be given in parts; empty if there is none."""
    if not is_list(content):
        return str(content or "")
    return "".join(str(part.get("text", "")) for part in content if is_object(part))


# Parts of a body of `multipart/form-data`.

_BOUNDARY = re.compile(r"""\bboundary=(?:"([^"]+)"|([^\s;]+))""")
_NAME = re.compile(rb"""\bname="([^"]*)\"""")


class Part(NamedTuple):
    """One part of a form."""

    name: str
    body: bytes

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
    cut = [part.removeprefix(b"\r\n").partition(b"\r\n\r\n") for part in parts]
    named = [(_NAME.search(head), body) for head, _, body in cut]
    if not all(name for name, _ in named):
        raise Refused(422, "a part of the form has no name")
    return [Part(name[1].decode("utf-8"), body) for name, body in named if name]
