"""Ctrl-C, SIGTERM and SIGHUP, remembered: a component that swallows one cannot turn an interrupt into a success.

Handlers are installed by programs, with `remember`; the library only asks whether an interrupt came.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Interrupt(NamedTuple):
    """A signal that ends the program.

    Attributes:
        word: What people are told.
        code: The exit code, by the convention of shells.
    """

    word: str
    code: int


INTERRUPTED = Interrupt("interrupted", 130)
_INTERRUPTS = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: Interrupt("terminated", 143)}
if sys.platform != "win32":
    _INTERRUPTS[signal.SIGHUP] = Interrupt("hung up", 129)  # the terminal was closed, or the connection to it
_STDERR = 2
_ONE_KEYSTROKE = 0.5  # seconds: terminals, and programs that pass interrupts on, may deliver one twice


class Interruption(KeyboardInterrupt):
    """Raised on an interrupt; a class of its own, as CPython may replace the exit code after the built-in one."""


class _Memory:
    """The first interrupt, and how the next one is answered.

    Attributes:
        first: The first interrupt, or None.
        at: When it came, by the monotonic clock.
        said: Whether people were told that work is finished first.
        goes_on: Whether the work that follows an interrupt has begun.
        at_once: Whether the process is left without cleaning up, since there is nothing to clean up, yet or any more.
    """

    first: Interrupt | None = None
    at: float = 0.0
    said: bool = False
    goes_on: bool = False
    at_once: bool = False


def remember() -> None:
    """Answer SIGINT, SIGTERM and SIGHUP from now on, and remember the first.

    Until `clean_up` is called, each ends the process at once. Then the first raises `KeyboardInterrupt`, and another
    one, later than half a second, ends the process whatever a component does with the exception. A signal that the
    process was told to ignore, as `nohup` and the shell's `&` do, stays ignored. Where Python cannot raise, as inside
    `__del__`, the interrupt is remembered, and Python's complaint about that is left out.
    """
    _Memory.first, _Memory.said, _Memory.goes_on, _Memory.at_once = None, False, False, True
    for number in _INTERRUPTS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _answer)
    sys.unraisablehook = _complain


def clean_up() -> None:
    """Let interrupts from now on raise `KeyboardInterrupt`, so that what was opened is closed."""
    _Memory.at_once = False


def leave_at_once() -> None:
    """Let interrupts from now on end the process: all is done, and Python takes its time to end."""
    _Memory.at_once = True


def first_interrupt() -> Interrupt | None:
    """Return the first interrupt since `remember`, or None."""
    return _Memory.first


def stop_if_interrupted() -> None:
    """Raise `KeyboardInterrupt` once more if a component swallowed the first."""
    if _Memory.first is not None and not _Memory.goes_on:
        raise Interruption


def go_on() -> None:
    """Let short work follow an interrupt, if one came; a second one ends it at once."""
    if _Memory.first is not None:
        say_that_it_goes_on()
        _Memory.goes_on = True


def finish(work: Callable[[], T]) -> tuple[T, KeyboardInterrupt | None]:
    """Do short work that follows long work to its end, and return what it returns, and the interrupt that came.

    It is begun anew after an interrupt, so it has to be repeatable. People are told. A second interrupt is
    raised.
    """
    if _Memory.first is not None:
        say_that_it_goes_on()
    try:
        done = work()
    except KeyboardInterrupt as interrupt:
        say_that_it_goes_on()
        return work(), interrupt
    return done, None if _Memory.first is None else Interruption()


def pass_on_interrupt(error: BaseException) -> None:
    """Raise an interrupt again, or that of a group with one: whatever else a component raises is a failure."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    group: Any = error
    if isinstance(error, BaseExceptionGroup) and group.subgroup(KeyboardInterrupt) is not None:
        raise Interruption from error


def outcome(call: Callable[[], T], otherwise: Callable[[BaseException], U]) -> T | U:
    """Return what a call returns or, if it raises, what `otherwise` makes of the error.

    Args:
        call: Calls somebody's code, which may raise anything, `SystemExit` too.
        otherwise: Gets what it raised, and may raise an error of its own.

    Raises:
        KeyboardInterrupt: An interrupt came, alone or in a group of errors.
    """
    try:
        return call()
    except BaseException as error:  # noqa: BLE001  it is anybody's code
        pass_on_interrupt(error)
        return otherwise(error)


def _complain(lost: "sys.UnraisableHookArgs") -> None:
    if lost.exc_type is not Interruption:
        sys.__unraisablehook__(lost)


def _answer(number: int, _frame: object) -> None:
    came = _INTERRUPTS[signal.Signals(number)]
    now = time.monotonic()
    if _Memory.at_once or (_Memory.first is not None and now - _Memory.at > _ONE_KEYSTROKE):
        with suppress(OSError):  # nobody may be listening
            os.write(_STDERR, f"{came.word}\n".encode())
        os._exit(came.code)
    if _Memory.first is None:
        _Memory.first, _Memory.at = came, now
        raise Interruption


def say_that_it_goes_on() -> None:
    """Say of an interrupt, once, that work is finished first."""
    came = INTERRUPTED if _Memory.first is None else _Memory.first
    if not _Memory.said and sys.stderr is not None:
        _Memory.said = _Memory.first is not None
        with suppress(Exception):  # nobody may be listening, or a component has put anything there
            sys.stderr.write(f"{came.word}: finishing; again to stop now\n")
            sys.stderr.flush()
