"""What LangSmith's SDK prints and logs of calls of ours is kept back; what others write, and their calls, is not."""

import builtins
import inspect
import logging
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from types import FrameType
from typing import Any

from rag_evaluation_framework._support.optional import require

_silent: ContextVar[bool] = ContextVar("rag_evaluation_framework_langsmith_silence", default=False)
_own_classes = set[type]()
_OWNERS = ("self", "client")  # what the SDK calls a client
_LOGGERS = (
    *("langsmith.client", "langsmith.run_trees", "langsmith.run_helpers", "langsmith.utils", "langsmith.cache"),
    *("langsmith.evaluation._runner", "langsmith.evaluation.evaluator"),
    *("langsmith._internal._operations", "langsmith._internal._serde", "langsmith._internal._backend_version"),
)


@cache
def own_class(client_class: type[Any]) -> type[Any]:
    """Return a class of clients of which nothing is logged, in none of the SDK's threads, and after they are closed.

    What the SDK logs to its developers quotes parts of keys and whole addresses, and what was lost is told by us.

    Args:
        client_class: The `Client` of the SDK.
    """
    made = type("OwnClient", (client_class,), {"__slots__": ()})
    _own_classes.add(made)
    _keep_logs()
    return made


@contextmanager
def silent() -> Generator[None]:
    """Keep back what `client.evaluate` prints and logs in the body, where it is called.

    It prints the address, which may be between lines of JSON, and shows a bar of its own. Standard output and error are
    those of the whole process, so that they stay as they are; the SDK's module gets functions that look where they are
    called, once and for all.
    """
    _keep_prints(require("langsmith.evaluation._runner", extra="langsmith", needed_by="publish_experiment"))
    _keep_logs()
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


@cache
def _keep_prints(runner: Any) -> None:
    runner.print = _print
    if hasattr(runner, "_load_tqdm"):  # there is no public door: where it moves, a bar is shown
        runner._load_tqdm = partial(_bar, runner._load_tqdm)  # noqa: SLF001


def _print(*values: Any, **options: Any) -> None:
    if not _silent.get():
        builtins.print(*values, **options)  # noqa: T201  of others


def _bar(load: Any) -> Any:
    return _no_bar if _silent.get() else load()


def _no_bar(items: Iterable[Any]) -> Iterable[Any]:
    return items


def _keep_logs() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_for_others)  # once, however often


def _is_for_others(_: logging.LogRecord) -> bool:
    return not (_silent.get() or _is_of_own(inspect.currentframe()))


def _is_of_own(frame: FrameType | None) -> bool:
    """Return whether a client of our own is at work: its threads have none of the context of who made it."""
    while frame is not None:
        if any(type(frame.f_locals.get(name)) in _own_classes for name in _OWNERS):
            return True
        frame = frame.f_back
    return False
