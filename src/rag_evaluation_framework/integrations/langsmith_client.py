"""A connection to LangSmith, whose errors are ours."""

import os
import re
import unicodedata
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework._outside import class_name, hide, one_line, raised, said, shown
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.errors import (
    ConfigError,
    InvalidAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from rag_evaluation_framework.integrations.langsmith_silence import own_class

if TYPE_CHECKING:
    from langsmith import Client

PROVIDER = "LangSmith"
_KEYS = ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
_ENDPOINTS = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
_NO_KEY = re.compile(r"[^!-~]")  # what is not ASCII, white space and control codes
_LOGIN = "LANGSMITH_CONFIG_FILE"
_MILLISECONDS = (10_000, 60_000)  # to connect, and to wait for an answer
_ADVICE = {
    401: "; check LANGSMITH_API_KEY",
    403: "; a key for several workspaces also needs LANGSMITH_WORKSPACE_ID",
}
_STATUS = re.compile(r"\b([45]\d\d) (?:(?:Client|Server) Error|error responses)")
_UNANSWERED = ("LangSmithConnectionError", "ConnectionError", "ReadTimeout", "ConnectTimeout")
_BUSY = (408, 425, 429)
_LONGEST = 500  # characters of what it answered


@contextmanager
def opened(client: "Client | None", needed_by: str, losses: list[BaseException] | None = None) -> Generator[Any]:
    """Yield the client that is given, or one of our own, which is closed afterwards.

    Ours traces nothing unless `losses` is given, so that it starts no thread, and what it is asked for is all that is
    sent.

    Args:
        client: A client of LangSmith's SDK, which stays open; None for one of the environment.
        needed_by: What needs it, for messages.
        losses: Where a client of our own, which then traces, puts the errors for which it lost a trace.

    Raises:
        ConfigError: There is no key, or none that can be sent; the address is none; or the client is none.
        MissingDependency: The SDK is not installed.
    """
    if client is None:
        _check_environment()
    langsmith = require("langsmith", extra="langsmith", needed_by=needed_by)
    if client is not None:
        if not isinstance(client, langsmith.Client):
            raise ConfigError(f"client={shown(client)}: expected a langsmith.Client")
        _check_characters("the key of the client", client.api_key or "")
        yield client
        return
    tracing: dict[str, Any] = {"auto_batch_tracing": False}
    if losses is not None:  # all of it, whatever the environment says of the traces of others
        tracing = {"tracing_error_callback": losses.append, "tracing_sampling_rate": 1.0}
    own = own_class(langsmith.Client)(timeout_ms=_MILLISECONDS, **tracing)
    try:
        _check_characters("the key of the login of LangSmith's command line", own.api_key or "")
        yield own
    finally:
        own.close(timeout=0)


@contextmanager
def answering(client: Any, what: str) -> Generator[None]:
    """Make whatever the SDK raises a `ProviderError` that says what was asked for.

    Args:
        client: The client that is asked.
        what: What it is asked for, such as `listing the examples`.

    Raises:
        ProviderError: It was not done.
    """
    try:
        yield
    except Exception as error:
        # Beside its own errors those of requests, of JSON and of pydantic, for answers that are not as expected.
        status = status_of(error)
        message = f"LangSmith at {client.api_url}: {what} failed: {_told(error, status)}"
        raise _kind(error, status)(message, PROVIDER, status) from error


def status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status for which the SDK raised an error; None if it was not for one."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int) and status >= 400:
            return status
        if found := _STATUS.search(str(error)):
            return int(found[1])
        error = error.__cause__ or error.__context__
    return None


def _kind(error: Exception, status: int | None) -> type[ProviderError]:
    if status is None:
        return ProviderUnavailable if class_name(error) in _UNANSWERED else InvalidAnswer
    return ProviderUnavailable if status in _BUSY or status >= 500 else ProviderRefused


def _told(error: Exception, status: int | None) -> str:
    if class_name(error) in _UNANSWERED:
        return f"no answer ({class_name(error.__cause__ or error)})"  # the SDK would quote parts of the key
    if status is None:
        return f"an answer that cannot be used ({one_line(raised(error), _LONGEST)})"
    return f"status {status}: {one_line(said(error), _LONGEST)}{advice(status)}"


def advice(status: int | None) -> str:
    """Return what to do about a status, as the end of a sentence; nothing if that is not known."""
    return _ADVICE.get(status or 0, "")


def _check_environment() -> None:
    """Raise ConfigError if there is neither a key nor a login of LangSmith's command line, or no valid address."""
    login = Path(os.environ.get(_LOGIN) or "~/.langsmith/config.json")
    name, key = _first_of(_KEYS)
    _check_characters(name, key)
    if not key and not _is_file(login):
        raise ConfigError(f"LangSmith needs an API key: set {name}, which LangSmith's settings make")
    name, address = _first_of(_ENDPOINTS)
    if address and not address.startswith(("http://", "https://")):
        raise ConfigError(f"{name}={shown(address)}: expected an address that begins with https:// or http://")


def _first_of(names: Sequence[str]) -> tuple[str, str]:
    """Return the variable that the SDK reads, and what it takes of it; the first name and no text if none is set."""
    found = ((name, os.environ.get(name, "").strip().strip("\"'")) for name in names)
    return next(((name, value) for name, value in found if value), (names[0], ""))


def _check_characters(name: str, key: str) -> None:
    """Hide a key from now on, and raise ConfigError if it cannot be sent; the SDK would quote the whole of it."""
    hide(key)
    if wrong := _NO_KEY.search(key):
        character = unicodedata.name(wrong[0], f"U+{ord(wrong[0]):04X}")
        raise ConfigError(f"{name} has a character that no key has: {character}")


def _is_file(path: Path) -> bool:
    try:
        return path.expanduser().is_file()
    except (OSError, RuntimeError):  # there is no home
        return False


def checked_name(name: Any) -> str:
    """Return the name of a dataset.

    Raises:
        ConfigError: It is not a text, or is blank.
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"name={name!r}: expected the name of a dataset in LangSmith")
    return name
