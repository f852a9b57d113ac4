"""Exit codes, and the message in which a command ends."""

import os
import sys
from contextlib import suppress
from typing import cast

from ..base.exits import exit_text
from ..base.interrupts import INTERRUPTED, Interrupt, first_interrupt
from ..base.outside import error_text, fit_to_show, one_line
from ..errors import ComponentExited, Interrupted, RagEvalError, ResultError
from .output import OutputClosed, OutputFailed

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
    came = first_interrupt()
    if came is not None:  # also if a component made something else of it
        return _interrupted(came, error.error if isinstance(error, Ended) else error)
    match error:
        case None:
            return 0
        case SystemExit(code=code):
            return code if isinstance(code, int) else 0
        case Ended(error=SystemExit() as leaving):
            return _failed(f"a component {exit_text(leaving)}; expected it to return, or to raise an error")
        case Ended(error=inner):
            return _told_of(inner)
        case _:
            return _told_of(error)


def show_warning(message: Warning | str, *_where: object, **_more: object) -> None:
    """Print a warning; it takes the place of `warnings.showwarning`."""
    _say(f"warning: {message}", 0)


def _told_of(error: BaseException) -> int:
    match error:
        case Found():
            return FOUND
        case OutputClosed():
            return OUTPUT_CLOSED
        case RagEvalError() | OutputFailed():
            return _failed(str(error))
        case KeyboardInterrupt():
            return _interrupted(INTERRUPTED, error)
        case _:
            # The last resort: people get a message, developers a traceback on request.
            if os.environ.get("RAG_EVAL_DEBUG"):
                raise error
            given: object = getattr(error, "__notes__", None)
            listed = cast("list[object]", given) if isinstance(given, list) else []
            notes = "".join(f"; {one_line(note)}" for note in listed if isinstance(note, str))
            return _failed(f"{error_text(error)}{notes} (set RAG_EVAL_DEBUG=1 to see where)")


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
