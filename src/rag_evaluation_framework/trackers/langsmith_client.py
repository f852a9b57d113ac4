"""A connection to LangSmith, whose errors are ours, and what it holds."""

from __future__ import annotations

import inspect
import logging
import os
import re
import traceback
import unicodedata
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from ..base.exits import errors_as
from ..base.optional import require
from ..base.outside import class_name, error_message, error_text, hide, one_line, shown
from ..errors import ConfigError, DatasetError, InvalidAnswer, ProviderError, ProviderRefused, ProviderUnavailable

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Dataset as LangSmithDataset

Example: TypeAlias = Mapping[str, Any]
"""An example: `inputs`, `outputs` and `metadata`, in which its splits are, and `id` once it is stored."""

_NO_KEY = re.compile(r"[^!-~]")  # what is not ASCII, white space and control codes
_LOGIN = "LANGSMITH_CONFIG_FILE"
_MILLISECONDS = (10_000, 60_000)  # to connect, and to wait for an answer
_ADVICE = {401: "; check LANGSMITH_API_KEY", 403: "; a key for several workspaces also needs LANGSMITH_WORKSPACE_ID"}
_STATUS = re.compile(r"\b([45]\d\d) (?:(?:Client|Server) Error|error responses)")
_UNANSWERED = ("LangSmithConnectionError", "ConnectionError", "ReadTimeout", "ConnectTimeout")
_BUSY = (408, 425, 429)
_LONGEST = 500  # characters of what it answered
_REASON = 300  # characters of why something was lost
_OF_ONE_REQUEST = re.compile(r"trace=|Content-Length")
_PAGE = 100  # examples: more are not given at once


@contextmanager
def opened(client: Client | None, needed_by: str, losses: list[BaseException] | None = None) -> Generator[Any]:
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
        check_ready(needed_by)
    langsmith: Any = require("langsmith", extra="langsmith", needed_by=needed_by)
    if client is not None:
        if not isinstance(client, langsmith.Client):
            raise ConfigError(f"client={shown(client)}: expected a langsmith.Client")
        _check_key("the key of the client", client.api_key or "")
        yield client
        return
    tracing: dict[str, Any] = {"auto_batch_tracing": False}
    if losses is not None:  # all of it, whatever the environment says of the traces of others
        tracing = {"tracing_error_callback": losses.append, "tracing_sampling_rate": 1.0}
    own = _quiet(langsmith.Client)(timeout_ms=_MILLISECONDS, **tracing)
    try:
        _check_key("the key of the login of LangSmith's command line", own.api_key or "")
        yield own
    finally:
        own.close(timeout=0)


def check_ready(needed_by: str) -> None:
    """Check that there is what a client of our own needs; LangSmith is not asked.

    Raises:
        ConfigError: There is neither a key nor a login of LangSmith's command line, or none that can be sent; or the
            address is none.
        MissingDependency: The SDK is not installed.
    """
    name, key = _variable("API_KEY")
    _check_key(name, key)
    # Of os.path, which raises nothing where there is no home.
    login = os.path.expanduser(os.environ.get(_LOGIN) or "~/.langsmith/config.json")  # noqa: PTH111
    if not key and not os.path.isfile(login):  # noqa: PTH113
        raise ConfigError(f"LangSmith needs an API key: set {name}, which LangSmith's settings make")
    name, address = _variable("ENDPOINT")
    if address and not address.startswith(("http://", "https://")):
        raise ConfigError(f"{name}={shown(address)}: expected an address that begins with https:// or http://")
    require("langsmith", extra="langsmith", needed_by=needed_by)


def _variable(ending: str) -> tuple[str, str]:
    """Return the variable that the SDK reads, and what it takes of it; the newer name and no text if none is set."""
    names = (f"LANGSMITH_{ending}", f"LANGCHAIN_{ending}")
    found = ((name, os.environ.get(name, "").strip().strip("\"'")) for name in names)
    return next(((name, value) for name, value in found if value), (names[0], ""))


def _check_key(name: str, key: str) -> None:
    """Hide a key from now on, and raise ConfigError if it cannot be sent; the SDK would quote the whole of it."""
    hide(key)
    if wrong := _NO_KEY.search(key):
        character = unicodedata.name(wrong[0], f"U+{ord(wrong[0]):04X}")
        raise ConfigError(f"{name} has a character that no key has: {character}")


@cache
def _quiet(client_class: type[Any]) -> type[Any]:
    """Return a class of clients of which the SDK logs nothing, in none of its threads, and after they are closed.

    It would quote parts of keys and whole addresses, and what was lost is told by us. Its threads have none of the
    context of who made a client, so that the client is looked for on the stack.

    Args:
        client_class: The `Client` of the SDK.
    """
    made = type("OwnClient", (client_class,), {"__slots__": ()})

    def is_of_others(_: logging.LogRecord) -> bool:
        frames = (frame.f_locals for frame, _ in traceback.walk_stack(inspect.currentframe()))
        return not any(type(names.get(name)) is made for names in frames for name in ("self", "client"))

    for name in [*logging.root.manager.loggerDict]:
        if name.startswith("langsmith"):
            logging.getLogger(name).addFilter(is_of_others)
    return made


def answering(client: Any, what: str) -> AbstractContextManager[None]:
    """Turn errors of the SDK into a `ProviderError` that names the request.

    Args:
        client: The client that is asked.
        what: What it is asked for, such as `listing the examples`.

    Raises:
        ProviderError: It was not done.
    """

    def failed(error: Exception) -> ProviderError:
        # Beside its own errors those of requests, of JSON and of pydantic, for answers that are not as expected.
        status = _status_of(error)
        kind: type[ProviderError] = ProviderUnavailable
        if class_name(error) in _UNANSWERED:
            told = f"no answer ({class_name(error.__cause__ or error)})"  # the SDK would quote parts of the key
        elif status is None:
            kind, told = InvalidAnswer, f"an answer that cannot be used ({one_line(error_text(error), _LONGEST)})"
        else:
            kind = ProviderUnavailable if status in _BUSY or status >= 500 else ProviderRefused
            told = f"status {status}: {one_line(error_message(error), _LONGEST)}{_ADVICE.get(status, '')}"
        return kind(f"LangSmith at {client.api_url}: {what} failed: {told}", "LangSmith", status)

    return errors_as(failed)


def _status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status for which the SDK raised an error; None if it was not for one."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int) and status >= 400:
            return status
        if found := _STATUS.search(str(error)):
            return int(found[1])
        error = error.__cause__ or error.__context__
    return None


def why_lost(error: BaseException) -> str:
    """Return why a trace was lost, without what differs from request to request: ids of runs, and its length."""
    return one_line(_OF_ONE_REQUEST.split(error_text(error))[0], _REASON) + _ADVICE.get(_status_of(error) or 0, "")


def checked_name(name: Any) -> str:
    """Return the name of a dataset.

    Raises:
        ConfigError: It is not a text, or is blank.
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"name={name!r}: expected the name of a dataset in LangSmith")
    return name


def dataset_named(client: Any, name: str) -> LangSmithDataset | None:
    """Return the dataset of a name; None if there is none.

    Raises:
        ProviderError: That is not known.
    """
    with answering(client, f"looking for the dataset {name!r}"):
        return next((found for found in client.list_datasets(dataset_name=name) if found.name == name), None)


def stored_dataset(client: Any, name: str) -> tuple[LangSmithDataset, list[Example]]:
    """Return the dataset of a name and its examples.

    Raises:
        DatasetError: There is none.
        ProviderError: They cannot be listed.
    """
    found = dataset_named(client, name)
    if found is None:
        raise DatasetError(f"LangSmith at {client.api_url} has no dataset {name!r}; check its name, or push it first")
    return found, listed_examples(client, found.id)


def listed_examples(client: Any, dataset_id: UUID) -> list[Example]:
    """Return the examples of a dataset, in no particular order: `id`, `inputs`, `outputs` and `metadata` of each.

    Raises:
        ProviderError: They cannot be listed.
    """
    schemas: Any = require("langsmith.schemas", extra="langsmith", needed_by="listed_examples")
    found: dict[str, Example] = {}
    # Not list_examples: in a workspace without a project it asks for one once for each example.
    with answering(client, "listing the examples"):
        for offset in count(0, _PAGE):
            wanted = {"dataset": str(dataset_id), "offset": offset, "limit": _PAGE, "inline_s3_urls": True}
            page: Any = client.request_with_retries("GET", "/examples", params=wanted).json()
            for example in (schemas.Example(**row) for row in page):
                fields: dict[str, Any] = {
                    name: getattr(example, name) or {} for name in ("inputs", "outputs", "metadata")
                }
                found[str(example.id)] = {"id": str(example.id), **fields}
            if len(page) < _PAGE:
                break
    return list(found.values())
