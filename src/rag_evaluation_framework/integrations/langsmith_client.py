"""A connection to LangSmith, whose errors are ours, and what it holds."""

from __future__ import annotations

import inspect
import logging
import os
import re
import traceback
import unicodedata
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rag_evaluation_framework.base.exits import errors_as
from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import class_name, hide, one_line, raised, said, shown
from rag_evaluation_framework.datasets.langsmith_examples import SPLITS
from rag_evaluation_framework.errors import (
    ConfigError,
    InvalidAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Dataset as LangSmithDataset


# Nothing is logged of what clients of our own lost, which is told by us; the SDK quotes parts of keys and addresses.

_OWNERS = ("self", "client")  # what the SDK calls a client


@cache
def _quiet(client_class: type[Any]) -> type[Any]:
    """Return a class of clients of which the SDK logs nothing, in none of its threads, and after they are closed.

    Its threads have none of the context of who made the client, so that the client is looked for on the stack.

    Args:
        client_class: The `Client` of the SDK.
    """
    made = type("OwnClient", (client_class,), {"__slots__": ()})

    def is_of_others(_: logging.LogRecord) -> bool:
        frames = (frame.f_locals for frame, _ in traceback.walk_stack(inspect.currentframe()))
        return not any(type(names.get(name)) is made for names in frames for name in _OWNERS)

    for name in [*logging.root.manager.loggerDict]:
        if name.startswith("langsmith"):
            logging.getLogger(name).addFilter(is_of_others)
    return made


# A connection to LangSmith, whose errors are ours.

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
    langsmith = check_ready(needed_by) if client is None else _sdk(needed_by)
    if client is not None:
        if not isinstance(client, langsmith.Client):
            raise ConfigError(f"client={shown(client)}: expected a langsmith.Client")
        _check_characters("the key of the client", client.api_key or "")
        yield client
        return
    tracing: dict[str, Any] = {"auto_batch_tracing": False}
    if losses is not None:  # all of it, whatever the environment says of the traces of others
        tracing = {"tracing_error_callback": losses.append, "tracing_sampling_rate": 1.0}
    own = _quiet(langsmith.Client)(timeout_ms=_MILLISECONDS, **tracing)
    try:
        _check_characters("the key of the login of LangSmith's command line", own.api_key or "")
        yield own
    finally:
        own.close(timeout=0)


def check_ready(needed_by: str) -> Any:
    """Return LangSmith's SDK when there is what a client of our own needs; LangSmith is not asked.

    Raises:
        ConfigError: There is no key, or none that can be sent; or the address is none.
        MissingDependency: The SDK is not installed.
    """
    _check_environment()
    return _sdk(needed_by)


def _sdk(needed_by: str) -> Any:
    return require("langsmith", extra="langsmith", needed_by=needed_by)


def answering(client: Any, what: str) -> AbstractContextManager[None]:
    """Make whatever the SDK raises a `ProviderError` that says what was asked for.

    Args:
        client: The client that is asked.
        what: What it is asked for, such as `listing the examples`.

    Raises:
        ProviderError: It was not done.
    """

    def failed(error: Exception) -> ProviderError:
        # Beside its own errors those of requests, of JSON and of pydantic, for answers that are not as expected.
        status = status_of(error)
        message = f"LangSmith at {client.api_url}: {what} failed: {_told(error, status)}"
        return _kind(error, status)(message, PROVIDER, status)

    return errors_as(failed)


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


# What a dataset in LangSmith holds.

_PAGE = 100  # examples: more are not given at once


def dataset_named(client: Any, name: str) -> LangSmithDataset | None:
    """Return the dataset of a name; None if there is none.

    Raises:
        ProviderError: That is not known.
    """
    with answering(client, f"looking for the dataset {name!r}"):
        return next((found for found in client.list_datasets(dataset_name=name) if found.name == name), None)


def listed_examples(client: Any, dataset_id: UUID) -> list[dict[str, Any]]:
    """Return the examples of a dataset, in no particular order: `id`, `inputs`, `outputs` and `metadata` of each.

    Raises:
        ProviderError: They cannot be listed.
    """
    with answering(client, "listing the examples"):
        found = {example["id"]: example for example in _listed(client, dataset_id)}
    return list(found.values())


def _listed(client: Any, dataset_id: UUID) -> Iterator[dict[str, Any]]:
    # Not list_examples: in a workspace without a project it asks for one once for each example.
    offset = 0
    while True:
        wanted = {"dataset": str(dataset_id), "offset": offset, "limit": _PAGE, "inline_s3_urls": True}
        page: Any = client.request_with_retries("GET", "/examples", params=wanted).json()
        if not is_list(page):
            raise TypeError(f"expected a list of examples, got {type(page).__name__}")
        yield from map(_checked, page)
        offset += len(page)
        if len(page) < _PAGE:
            return


def _checked(example: Any) -> dict[str, Any]:
    if not is_object(example):
        raise TypeError("expected examples as objects")
    fields: dict[str, Any] = {name: example.get(name) or {} for name in ("inputs", "outputs", "metadata")}
    if not all(map(is_object, fields.values())):
        raise TypeError(f"expected inputs, outputs and metadata as objects in example {example['id']}")
    return {"id": str(UUID(example["id"])), **fields}


def splits_of(example: dict[str, Any]) -> list[str]:
    """Return the splits that an example is in."""
    found: Any = example["metadata"].get(SPLITS)
    return list(found) if is_list(found) else []
