"""Standard output, which may be of any encoding, and whose reader may leave, as `head` does: neither is an error."""

import codecs
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO, cast

from rag_evaluation_framework._outside import harmless, json_text


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
    """Give a process that was started with a closed standard stream (`>&-`) one that nobody reads.

    What the encoding of standard output lacks is escaped there, as it is on standard error.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nobody = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as the process runs
            setattr(sys, name, nobody)
    stream: Any = sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def print_text(text: str) -> None:
    """Print lines that may quote anything."""
    sys.stdout.write(f"{harmless(text)}\n")


def print_json(value: object, indent: int | None = None) -> None:
    """Print a value as JSON, which is equal to it whatever the encoding of standard output."""
    utf_8 = codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    sys.stdout.write(f"{json_text(value, indent, ascii_only=not utf_8)}\n")


@contextmanager
def watched() -> Generator[None]:
    """Raise `OutputClosed` inside, or at its end, when something is printed that nobody reads."""
    with redirect_stdout(cast("TextIO", _Watched(sys.stdout))):
        try:
            yield
        finally:
            sys.stdout.flush()


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
    except OSError:  # the reader has left, or the disk is full
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
