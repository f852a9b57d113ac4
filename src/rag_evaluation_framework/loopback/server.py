"""A small HTTP server on this machine: routes, faults, and a record of what arrived."""

import gzip
import json
import os
import re
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.loopback.messages import Answer, Fault, Refused, Request

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

    @property
    def method(self) -> str:
        """The method."""
        return self.name.partition(" ")[0]

    def values(self, path: str) -> dict[str, str] | None:
        """Return what stands in the braces, or None if the path is another."""
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(self.name.partition(" ")[2]))
        found = re.fullmatch(f"(?:{'|'.join(map(re.escape, self.below))}){pattern}", path)
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


@dataclass
class _Queued:
    fault: Fault
    wait: int
    left: int | None


@dataclass
class LoopbackServer:
    """Serves routes on 127.0.0.1 from threads of this process, while it is open (`with`).

    Attributes:
        routes: What it serves; the first that fits answers.
        port: The port; 0 for any that is free.
    """

    routes: Iterable[Route]
    port: int = 0
    exchanges: list[Exchange] = field(default_factory=list[Exchange], init=False)
    _faults: dict[str, deque[_Queued]] = field(default_factory=dict[str, deque[_Queued]], init=False)
    _lock: Lock = field(default_factory=Lock, init=False)
    _server: "_Server | None" = field(default=None, init=False)
    _thread: Thread | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.routes = tuple(self.routes)

    @property
    def url(self) -> str:
        """Where it is: `http://127.0.0.1:PORT`."""
        return f"http://{_HOST}:{self.port}"

    def start(self) -> None:
        """Begin to listen.

        Raises:
            ConfigError: The port is taken, or not a valid one.
        """
        try:
            self._server = _Server((_HOST, self.port), self)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "expected 0 to 65535"
            raise ConfigError(f"port {self.port} of {_HOST} cannot be used: {reason}") from error
        self.port = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), name="rag-eval-loopback", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.close_all()
            self._server = self._thread = None

    def fault(self, route: str, fault: Fault) -> None:
        """Let something go wrong with the next requests of a route; several wait for their turn, in order.

        Raises:
            ConfigError: There is no such route.
        """
        known = [each.name for each in self.routes]
        if route not in known:
            raise ConfigError(f"route {route!r} is not there; expected one of {', '.join(known)}")
        with self._lock:
            self._faults.setdefault(route, deque()).append(_Queued(fault, fault.after, fault.times))

    def clear_faults(self) -> None:
        """Forget the faults that have not come yet."""
        with self._lock:
            self._faults.clear()

    def counts(self) -> Counter[str]:
        """Return how many requests each route had."""
        with self._lock:
            return Counter(exchange.route for exchange in self.exchanges)

    def answer(self, request: Request) -> tuple[Answer | None, float]:
        """Return the answer to a request, None to close the connection, and how many seconds to wait before."""
        route, request = self._routed(request)
        fault = self._next_fault(route.name)
        answer = None if fault.drop and not fault.lost else self._worked(route, request, fault)
        if fault.drop:
            answer = None
        with self._lock:
            self.exchanges.append(Exchange(route.name, request, None if answer is None else answer.status))
        return answer, fault.delay

    def _routed(self, request: Request) -> tuple[Route, Request]:
        for route in self.routes:
            if route.method == request.method and (values := route.values(request.path)) is not None:
                return route, replace(request, values=values)
        return Route(
            f"{request.method} {request.path}", _nothing_there, lambda _, message: {"detail": message}
        ), request

    def _next_fault(self, route: str) -> Fault:
        with self._lock:
            queue = self._faults.get(route)
            if not queue:
                return Fault()
            first = queue[0]
            if first.wait:
                first.wait -= 1
                return Fault()
            if first.left is not None:
                first.left -= 1
                if not first.left:
                    queue.popleft()
            return first.fault

    def _worked(self, route: Route, request: Request, fault: Fault) -> Answer:
        answer = self._hidden(route, request, fault) if fault.hides else self._done(route, request)
        if fault.change is not None:
            answer = replace(answer, content=fault.change(json.loads(answer.body)))
        return replace(answer, headers={**answer.headers, **fault.headers})

    def _hidden(self, route: Route, request: Request, fault: Fault) -> Answer:
        if fault.lost:
            self._done(route, request)
        status = 200 if fault.status is None else fault.status
        body = route.error(status, f"status {status}, as was asked for") if fault.body is None else fault.body
        return Answer(body, status)

    def _done(self, route: Route, request: Request) -> Answer:
        try:
            return route.work(request)
        except Refused as error:
            return Answer(route.error(error.status, error.message), error.status)
        except Exception as error:  # noqa: BLE001  a request that is no sense: its sender is told
            return Answer(route.error(400, f"{type(error).__name__}: {error}"), 400)


def _nothing_there(request: Request) -> Answer:
    raise Refused(404, f"{request.method} {request.path} is not a route of this server")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # after it was closed; on Windows it would take the port of another server
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: LoopbackServer) -> None:
        self.owner = owner
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
    def _ours(self) -> _Server:
        return cast("_Server", self.server)

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
        answer, delay = self._ours.owner.answer(Request(self.command, parts.path, query, headers, body))
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


def text_of(content: Any) -> str:
    """Return the text of a message, which may be given in parts; empty if there is none."""
    if not is_list(content):
        return str(content or "")
    return "".join(str(part.get("text", "")) for part in content if is_object(part))
