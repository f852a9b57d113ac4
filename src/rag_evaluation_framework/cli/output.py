"""Standard output of any encoding, results as JSON or pages, the commands that come next, and how a command ends."""

from __future__ import annotations

import codecs
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from textwrap import TextWrapper
from typing import Any, TextIO, cast

from rich.console import Console

from .. import report
from ..base.exits import exit_text, on_failure
from ..base.files import is_list, write_new
from ..base.interrupts import INTERRUPTED, Interrupt, first_interrupt
from ..base.outside import error_text, fit_to_show, harmless, json_text, one_line
from ..errors import ComponentExited, Interrupted, RagEvalError, ResultError

# Standard output, which may be of any encoding, and whose reader may leave, as `head` does: neither is an error.


class OutputClosed(Exception):
    """Nobody reads standard output any more.

    It is not a `BrokenPipeError`, since that may also come from a component, and the libraries that print for us end
    the program in ways of their own when they see one.
    """


class OutputFailed(Exception):
    """Standard output cannot be written, as when the disk is full; the message gives the reason and what is kept."""


class _Lent:
    """A stream that components cannot close; what is written although one has closed what is beneath is lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(TextIOWrapper(BytesIO()) if self._stream.closed else self._stream, name)

    def close(self) -> None:
        self.flush()


class _Watched(_Lent):
    """Standard output, which raises `OutputClosed` if nobody reads it, and `OutputFailed` if it cannot be written."""

    def write(self, text: str) -> int:
        with _watching():
            return self._stream.write(text)

    def flush(self) -> None:
        with _watching():
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
    """Print lines that may quote anything; in a terminal they end between words, but for commands, to be copied."""
    lines = harmless(text).split("\n")
    if sys.stdout.isatty():
        fill = TextWrapper(shutil.get_terminal_size().columns, break_long_words=False, break_on_hyphens=False).fill
        lines = [line if line.startswith(" ") else fill(line) for line in lines]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def print_json(value: object, indent: int | None = None) -> None:
    """Print a value as JSON, which is equal to it whatever the encoding of standard output."""
    utf_8 = codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    sys.stdout.write(f"{json_text(value, indent, ascii_only=not utf_8)}\n")


@contextmanager
def watched() -> Generator[None]:
    """Raise `OutputClosed` or `OutputFailed` inside, or at its end, when something is printed that cannot arrive.

    Whatever becomes of the standard streams inside, they are there again afterwards.
    """
    stream = _Watched(sys.stdout)

    def flush(_: BaseException) -> None:
        with suppress(OutputFailed):  # what ended the command says more
            stream.flush()

    with redirect_stdout(cast("TextIO", stream)), redirect_stderr(cast("TextIO", _Lent(sys.stderr))):
        with on_failure(flush):
            yield
        stream.flush()


@contextmanager
def arriving(kept: str) -> Generator[None]:
    """Print what is printed inside to its end; if that cannot arrive, the error says what is kept."""
    try:
        yield
        sys.stdout.flush()
    except OutputFailed as error:
        raise OutputFailed(f"{error}; {kept}") from error


@contextmanager
def components_print_to_stderr() -> Generator[None]:
    """Send what components print from Python inside to standard error, so that standard output is the result.

    It is passed on as it is. Streams that they put elsewhere are back afterwards.
    """
    with redirect_stdout(sys.stderr), redirect_stderr(sys.stderr):
        yield


def flushed() -> bool:
    """Return whether all that was printed has been read, or may still be."""
    return [_flushed(stream) for stream in (sys.stdout, sys.stderr)][0]  # noqa: RUF015  both are flushed


def _flushed(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:  # the reader has left, or the disk is full
        # The interpreter flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    except ValueError:  # a component has closed it
        return False
    return True


@contextmanager
def _watching() -> Generator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed from error
    except (OSError, ValueError) as error:  # the disk is full, or a component has closed it
        raise OutputFailed(f"standard output cannot be written: {getattr(error, 'strerror', None) or error}") from error


# The console that the commands print to.

_LITERAL: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}  # texts are printed as they are


def stdout() -> Console:
    """Return the console of standard output; without a terminal and `COLUMNS`, it is at least 120 columns wide."""
    console = Console(**_LITERAL)
    told = console.is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return console if told else Console(width=max(console.width, 120), **_LITERAL)


def print_result(record: object, page: Callable[[], report.Page | str], *, as_json: bool) -> None:
    """Print a result as JSON, or as its page or text."""
    if as_json:
        print_json(record)
    elif isinstance(shown := page(), str):
        print_text(shown)
    else:
        report.show(stdout(), shown)


def write_page(path: Path, page: report.Page) -> str:
    """Write a page as a new file, as its name ends: HTML, Markdown or the tables in LaTeX; return what was written."""
    as_others = {".md": page.as_markdown, ".tex": page.as_latex}
    text = as_others.get(path.suffix.lower(), lambda: report.whole_file(page))()
    write_new(path, text)
    return f"Wrote {one_line(str(path))}: {len(text.encode(errors='backslashreplace')):,} bytes"


# Commands that go on from where one has ended.


def option(name: str, *values: object) -> list[str]:
    """Return an option with each of its values; nothing of one that is None."""
    return [text for value in values if value is not None for text in (name, str(value))]


def command_lines(*commands: Iterable[object]) -> str:
    """Return commands of ours by their arguments, one per line below a blank one, to be copied into a shell."""
    return "\n" + "".join(f"\n  rag-eval {shlex.join(map(str, command))}" for command in commands)


# Exit codes, and the message in which a command ends.

FOUND = 1
RUN_ERROR = 2
OUTPUT_CLOSED = 141  # what a shell reports for a program that SIGPIPE ended


class Found(Exception):
    """A command found something that its exit code reports, such as a failed gate; it was already shown."""


class Ended(Exception):
    """The error that ended a command, wrapped: the library beneath the commands has exit codes of its own for some."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def report_ending(error: BaseException | None) -> int:
    """Print on standard error what ended the command line, and return the exit code.

    Raises:
        BaseException: The error itself, if it is not one of ours and `RAG_EVAL_DEBUG` is set.
    """
    inner = error.error if isinstance(error, Ended) else error
    if (came := first_interrupt()) is not None:  # also if a component made something else of it
        return _interrupted(came, inner)
    match inner:
        case None:
            return 0
        case SystemExit(code=code) if inner is error:  # of the library beneath the commands
            return code if isinstance(code, int) else 0
        case SystemExit():
            return _failed(f"a component {exit_text(inner)}; expected it to return, or to raise an error")
        case Found():
            return FOUND
        case OutputClosed():
            return OUTPUT_CLOSED
        case RagEvalError() | OutputFailed():
            return _failed(str(inner))
        case KeyboardInterrupt():
            return _interrupted(INTERRUPTED, inner)
        case _:
            # The last resort: people get a message, developers a traceback on request.
            if os.environ.get("RAG_EVAL_DEBUG"):
                raise inner
            given: Any = getattr(inner, "__notes__", None)
            listed = given if is_list(given) else ()
            notes = "".join(f"; {one_line(note)}" for note in listed if isinstance(note, str))
            return _failed(f"{error_text(inner)}{notes} (set RAG_EVAL_DEBUG=1 to see where)")


def show_warning(message: Warning | str, *_where: object, **_more: object) -> None:
    """Print a warning; it takes the place of `warnings.showwarning`."""
    _say(f"warning: {message}", 0)


def _interrupted(came: Interrupt, error: BaseException | None) -> int:
    telling = Interrupted | ResultError | ComponentExited | OutputFailed  # also why nothing could be saved
    kept = f": {error}" if isinstance(error, telling) else ""
    return _say(f"{came.word}{kept}", came.code)


def _failed(message: str) -> int:
    return _say(f"error: {message}", RUN_ERROR)


def _say(message: str, code: int) -> int:
    # Nobody reads it, the disk is full, or a component has put something else there; the exit code still tells.
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{fit_to_show(message)}\n")
        sys.stderr.flush()
    return code
