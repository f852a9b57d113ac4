"""Standard output whose reader may leave, as `head` does: that is the end of the command, and not an error."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast


class OutputClosed(Exception):
    """Nobody reads standard output any more.

    It is not a `BrokenPipeError`, since that may also come from a component, and the libraries that print for us end
    the program in ways of their own when they see one.
    """


class _Watched:
    """A text stream that raises `OutputClosed` where the stream behind it raises `BrokenPipeError`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _closing():
            return self._stream.write(text)

    def flush(self) -> None:
        with _closing():
            self._stream.flush()


def open_streams() -> None:
    """Give a process that was started with a closed standard stream (`>&-`) one that nobody reads."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nobody = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as the process runs
            setattr(sys, name, nobody)


@contextmanager
def watched() -> Generator[None]:
    """Raise `OutputClosed` inside when something is printed that nobody reads."""
    with redirect_stdout(cast("TextIO", _Watched(sys.stdout))):
        yield


@contextmanager
def components_print_to_stderr() -> Generator[None]:
    """Send what components print from Python inside to standard error, so that standard output is the result."""
    with redirect_stdout(sys.stderr):
        yield


def flushed() -> bool:
    """Return whether all that was printed has been read, or may still be."""
    readers = [_flushed(stream) for stream in (sys.stdout, sys.stderr)]
    return readers[0]


def _flushed(stream: TextIO) -> bool:
    try:
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True


@contextmanager
def _closing() -> Generator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed from error
