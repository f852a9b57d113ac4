"""A small HTTP server on this machine: routes, faults, and a record of what arrived."""

import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock, Thread
from typing import Any
from urllib.parse import unquote

from rag_evaluation_framework.base.outside import raised
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.loopback.messages import Answer, Fault, HttpServer, Refused, Request

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
    _server: HttpServer | None = field(default=None, init=False)
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
            self._server = HttpServer((_HOST, self.port), self.answer)
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
        name = f"{request.method} {request.path}"
        return Route(name, _nothing_there, _error_for_all), request

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
        try:
            if fault.change is not None:
                answer = replace(answer, content=fault.change(json.loads(answer.body)))
            content, status = answer.body, answer.status
        except Exception as error:  # noqa: BLE001  it is anybody's code
            content, status = route.error(500, f"the fault of {route.name} raised {raised(error)}"), 500
        return Answer(content, status, {**answer.headers, **fault.headers})

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


def _error_for_all(_: int, message: str) -> Any:
    return {"detail": message, "error": {"message": message}}  # each SDK shows another part


def _nothing_there(request: Request) -> Answer:
    # Not 404, of which SDKs say that the record is not there.
    raise Refused(405, f"the loopback server has no route {request.method} {request.path}")
