"""Exceptions of foreign code, `sys.exit` too, become errors of ours or values; interrupts pass."""

import atexit
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Event, Thread
from time import sleep
from traceback import extract_tb
from typing import TypeVar

from ..errors import ComponentExited, RagEvalError
from .interrupts import outcome as outcome
from .outside import shown

T = TypeVar("T")
U = TypeVar("U")
_SECONDS_TO_END = 5


@contextmanager
def on_failure(act: Callable[[BaseException], object]) -> Generator[None]:
    """Call `act` with whatever is raised inside, an interrupt too, before it is raised to the caller."""
    try:
        yield
    except BaseException as error:
        act(error)
        raise


@contextmanager
def errors_as(make: Callable[[Exception], Exception]) -> Generator[None]:
    """Raise what `make` makes of the errors that somebody's code raises inside; errors of ours pass as they are."""

    def raise_as(error: BaseException) -> None:
        if isinstance(error, Exception) and not isinstance(error, RagEvalError):
            raise make(error) from error

    with on_failure(raise_as):
        yield


@contextmanager
def no_exit(who: str, step: str) -> Generator[None]:
    """Let what is done inside raise anything but `SystemExit`.

    Args:
        who: The component that is called, for the message.
        step: What it is asked to do.

    Raises:
        ComponentExited: It called `sys.exit`.
    """
    try:
        yield
    except SystemExit as leaving:
        raise ComponentExited(
            f"{who}: {exit_text(leaving)} in {step}; expected it to return, or to raise an error"
        ) from leaving


@contextmanager
def bound(variable: ContextVar[T], value: T, shown: U) -> Generator[U]:
    """Give a variable a value inside, and yield what stands for it."""
    token = variable.set(value)
    try:
        yield shown
    finally:
        variable.reset(token)


@contextmanager
def in_step(who: str, step: str) -> Generator[None]:
    """Do what `no_exit` does, and add a note that says where to errors that are not ours, which say it themselves."""

    def say_where(error: BaseException) -> None:
        if isinstance(error, Exception) and not isinstance(error, RagEvalError):
            with suppress(TypeError):  # its notes may be no list
                error.add_note(f"raised in {step} of {who}")

    with no_exit(who, step), on_failure(say_where):
        yield


def end_in_time(code: int) -> None:
    """Let Python end within some seconds, else end the process: threads that others left behind may go on for ever.

    All that is to be told has been told. What Python waits for at its end are threads and pools of threads.
    """
    ends = Event()

    def end() -> None:
        ends.wait()
        sleep(_SECONDS_TO_END)
        os._exit(code)

    Thread(target=end, name="rag-eval-end", daemon=True).start()
    # Functions of `atexit` are called when the threads have ended; those of pools are waited for by this very hook.
    getattr(threading, "_register_atexit", atexit.register)(ends.set)


def exit_text(leaving: SystemExit) -> str:
    """Return what was called, and where: `called sys.exit(0) (search.py, line 12)`."""
    code = "" if leaving.code is None else shown(leaving.code)
    frames = extract_tb(leaving.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"called sys.exit({code}){place}"
