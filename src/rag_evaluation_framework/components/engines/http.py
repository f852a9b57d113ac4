"""Engines that are reached over HTTP: one protocol for everything that retrieves."""

import json
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import Any, ClassVar

from ...base.coroutines import OutOfTime, checked_limit, run_within
from ...base.exits import errors_as
from ...base.files import Json, is_list, is_object, parse_json
from ...base.optional import require
from ...base.outside import error_message, error_text, hide, shown
from ...contracts.component import Component, check_truth
from ...data.documents import Document
from ...errors import ConfigError, InputError

_LARGEST = 64 << 20  # bytes of an answer
_SECONDS_TO_CONNECT = 10
_OK = 200
_DONE = range(200, 300)
_PORTS = range(1, 65_536)
_NOTHING_THERE = (404, 405, 501)
_ANSWERED = ("/retrieve", "/rerank")  # what others answer is not read
_OPTIONAL = ("ingest", "delete", "rerank", "metadata_constraints")


@dataclass(frozen=True)
class HttpEngine(Component):
    """A retrieval system behind a URL, which speaks JSON.

    | request | body | answer |
    |---|---|---|
    | `GET /` | | `{"abilities": ["ingest", "delete", "rerank", "metadata_constraints"]}`, those that it has |
    | `POST /retrieve` | `{"query", "top_k", "scope"}`, also `metadata_constraints` | `{"hits": [...]}` |
    | `POST /ingest` | `{"id", "content", "metadata"}` | anything, with any status from 200 to 299 |
    | `POST /delete` | `{"scope_prefix"}` | as `/ingest` |
    | `POST /rerank` | `{"query", "texts"}` | `{"scores": [0.9, 0.1]}` |

    A hit is `{"doc_id", "start", "end", "text", "score"}`, of which `doc_id` or `text` alone is enough; beside the hits
    an answer may tell how long its steps took, as `{"seconds": {"embed": 0.01, "search": 0.02}}`. Only `/retrieve` is
    needed: status 404, 405 or 501 for `GET /` says that there is nothing else. Redirects are not followed, and proxies
    of the environment are not used. An answer has at most 64 MiB and is not compressed (`Accept-Encoding: identity`).

    Attributes:
        url: Where it is, such as `http://127.0.0.1:8000`.
        allow_remote: Whether it may be on another machine: questions and documents leave this one then.
        token_env: The environment variable that holds a token, printable ASCII, sent as `Authorization: Bearer …`
            without the white space around it; None for none.
        timeout: Seconds that any request may take, until the last byte of its answer; None for no limit.

    Raises:
        MissingDependency: httpx is not installed.
        ConfigError: The URL is not valid, holds a password, or is that of another machine, which is not allowed; the
            variable is not set, or cannot be sent; or the timeout is not a number above 0.
    """

    requires: ClassVar[Mapping[str, str]] = {"httpx": "http"}

    url: str
    allow_remote: bool = False
    token_env: str | None = None
    timeout: float | None = 60.0
    _httpx: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_truth("HttpEngine", "allow_remote", self.allow_remote)
        object.__setattr__(self, "_httpx", require("httpx", extra="http", needed_by="HttpEngine"))
        object.__setattr__(self, "url", _checked_url(self._httpx, self.url, self.allow_remote))
        object.__setattr__(self, "timeout", checked_limit("timeout", self.timeout))
        if self.token_env is not None:
            _token(self.token_env)

    @property
    def name(self) -> str:
        """Where it is."""
        return self.url

    @cached_property
    def abilities(self) -> frozenset[str]:
        """Abilities beside retrieving: some of `ingest`, `delete`, `rerank` and `metadata_constraints`.

        Raises:
            ConfigError: It cannot be reached, or answers something else.
        """
        try:
            status, content = self._asked("GET", "/", None)
        except InputError as error:
            raise ConfigError(f"{error}; is the engine running there?") from error
        if status in _NOTHING_THERE:
            return frozenset()
        told: Any = content.get("abilities", []) if is_object(content) else None  # what is not read is a text
        if not is_list(told) or not all(isinstance(name, str) for name in told):
            raise ConfigError(
                f"GET {self.url}/ answered with status {status}: {shown(content, 200)}; expected 404, or 200 and an "
                f"object with abilities, a list of some of {', '.join(_OPTIONAL)}"
            )
        return frozenset(told)

    def retrieve(
        self, query: str, top_k: int, scope: str, metadata_constraints: Mapping[str, Any] | None = None
    ) -> Json:
        """Return the answer of `/retrieve`.

        Raises:
            InputError: It cannot be reached, or answers another status than 200 or something else than an object.
        """
        asked: dict[str, Any] = {"query": query, "top_k": top_k, "scope": scope}
        if metadata_constraints:
            asked["metadata_constraints"] = metadata_constraints
        return self._post("/retrieve", asked)

    def ingest(self, document: Document) -> None:
        """Send a document to `/ingest`."""
        self._post("/ingest", {"id": document.id, "content": document.content, "metadata": document.metadata})

    def delete(self, scope_prefix: str) -> None:
        """Let `/delete` remove the documents whose ids begin with a prefix."""
        self._post("/delete", {"scope_prefix": scope_prefix})

    def rerank(self, query: str, texts: Sequence[str]) -> list[Any]:
        """Return the scores that `/rerank` gives to texts."""
        answer = self._post("/rerank", {"query": query, "texts": [*texts]})
        scores: Any = answer.get("scores") if is_object(answer) else None
        if not is_list(scores):
            raise InputError(f"{self.url}/rerank answered {shown(answer, 200)}; expected an object with a list, scores")
        return scores

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _post(self, path: str, sent: Mapping[str, Any]) -> Json:
        status, content = self._asked("POST", path, sent)
        done, wanted = ([_OK], "200") if path in _ANSWERED else (_DONE, "200 to 299")
        if status in done:
            return content
        raise InputError(f"{self.url}{path} answered with status {status}: {shown(content, 200)}; expected {wanted}")

    def _asked(self, method: str, path: str, sent: Mapping[str, Any] | None) -> tuple[int, Json]:
        """Return the status and the content of an answer: parsed if the status is 200 and there is any, else a text."""
        where = f"{self.url}{path}"
        with errors_as(lambda error: InputError(f"{where}: {shown(sent)} is not JSON: {error_message(error)}")):
            body = None if sent is None else json.dumps(sent, allow_nan=False).encode("utf-8")
        seconds = math.inf if self.timeout is None else self.timeout
        try:
            status, read = run_within(seconds, lambda: self._read(method, where, body))
        except OutOfTime as late:
            raise InputError(
                f"{where} took longer than {seconds:g} seconds; if it needs more, set the timeout of HttpEngine, in a "
                f"configuration engine: {{type: http, url: {self.url}, timeout: {10 * seconds:g}}}"
            ) from late
        except (self._httpx.HTTPError, self._httpx.InvalidURL, UnicodeError) as error:
            raise InputError(f"{where}: {error_text(error)}") from error
        text = read.decode("utf-8", "replace")
        if status != _OK or (method == "POST" and path not in _ANSWERED):
            return status, text
        try:
            return status, parse_json(text)
        except ValueError as error:
            raise InputError(f"{where} answered something else than JSON: {error}; got {shown(text, 60)}") from error

    def _read(self, method: str, where: str, body: bytes | None) -> tuple[int, bytearray]:
        """Return the status of an answer and its bytes, which are never decompressed: a few may become gigabytes."""
        read = bytearray()
        with self._client.stream(method, where, content=body) as answer:
            encoding = answer.headers.get("Content-Encoding", "identity")
            if encoding.lower() != "identity":
                raise InputError(f"{where} answered in encoding {shown(encoding)}; expected Accept-Encoding: identity")
            for part in answer.iter_raw():
                read += part
                if len(read) > _LARGEST:
                    raise InputError(f"{where} answered more than {_LARGEST >> 20} MiB")
            return int(answer.status_code), read

    @cached_property
    def _client(self) -> Any:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self.token_env is not None:
            headers["Authorization"] = f"Bearer {_token(self.token_env)}"
        timeout = self._httpx.Timeout(self.timeout, connect=_SECONDS_TO_CONNECT)
        client = self._httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False, headers=headers)
        weakref.finalize(self, client.close)
        return client


def _token(variable: Any) -> str:
    """Return the token in an environment variable, without white space around it; it is hidden from now on.

    Raises:
        ConfigError: The variable is not set, or cannot be sent.
    """
    token = os.environ.get(str(variable), "").strip()
    hide(token)
    if not (token and token.isascii() and token.isprintable()):
        raise ConfigError(
            f"HttpEngine: token_env={shown(variable)}; expected an environment variable that is set, to printable "
            "characters of ASCII"
        )
    return token


def _checked_url(httpx: Any, url: str, allow_remote: bool) -> str:
    """Return a URL without a slash at its end.

    Raises:
        ConfigError: It is none of HTTP, holds a password, or is that of another machine, which is not allowed.
    """
    try:
        parts = httpx.URL(url)  # as it is read when it is asked
        port_is_valid = parts.port is None or parts.port in _PORTS
        if parts.scheme not in ("http", "https") or not parts.host or not port_is_valid or "?" in url or "#" in url:
            raise ValueError("it has another scheme, no host, no such port, or a query")
    except (TypeError, ValueError, httpx.InvalidURL) as error:
        raise ConfigError(
            f"HttpEngine: url={shown(url)}: {error_message(error)}; expected a URL such as http://127.0.0.1:8000, "
            "without ? and #"
        ) from error
    if parts.userinfo:
        raise ConfigError("HttpEngine: the URL holds a user or a password; give a token by token_env instead")
    if not allow_remote and not _is_loopback(parts.host):
        raise ConfigError(
            f"HttpEngine: {parts.host} is another machine, which questions and documents would be sent to; allow it "
            "with --allow-remote (allow_remote: true)"
        )
    return url.rstrip("/")


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"
