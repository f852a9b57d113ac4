"""Limits on time: work of others is done in a thread of its own, which is left behind if it takes too long."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import copy_context
from math import isfinite
from numbers import Real
from threading import TIMEOUT_MAX, Event, Thread
from typing import Any, TypeVar

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.coroutines import Awaited, any_was_cancelled, loop_is_blocked, waited_for
from rag_evaluation_framework.errors import ConfigError

T = TypeVar("T")

_late = Event()
_abandoned: list[Thread] = []
_GRACE = 1.0  # seconds: what a coroutine that was cancelled has to end


class OutOfTime(Exception):
    """Work was not done in time.

    Attributes:
        abandoned: Whether it goes on, and takes up a thread of ours; a coroutine that was cancelled does not.
    """

    def __init__(self, *, abandoned: bool) -> None:
        super().__init__(abandoned)
        self.abandoned = abandoned


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises.

    It is done in a copy of the caller's context, in a thread that does not keep the program from ending. What it
    returns after its time is thrown away. An interrupt, and the cancelling of what the caller does, end the waiting.

    Raises:
        OutOfTime: It takes longer; a coroutine that it awaits is cancelled.
    """
    done: Future[T] = Future()
    awaited = Awaited()

    def held() -> None:
        with awaited.here(), suppress(InvalidStateError):  # nobody waits any more
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001  it is raised where the work is waited for
                done.set_exception(error)
            else:
                done.set_result(result)

    thread = Thread(target=copy_context().run, args=(held,), name="rag-eval-within", daemon=True)
    thread.start()
    try:
        return waited_for(done, min(seconds, TIMEOUT_MAX))
    except TimeoutError:
        if done.done():  # it is the work's own, or came together with the result
            return done.result()
    finally:
        if not done.done():  # it is too late, or Ctrl-C came
            _abandoned.append(thread)
        done.cancel()
        awaited.cancel()
    thread.join(_GRACE)
    _late.set()
    raise OutOfTime(abandoned=thread.is_alive() or loop_is_blocked(_GRACE))


def was_given_up() -> bool:
    """Return whether any work of this process was not waited for to its end, so that some of it may go on for ever."""
    return _late.is_set() or any_was_cancelled()


def may_hang() -> bool:
    """Return whether work that was given up goes on, or may.

    What a coroutine that was cancelled left behind is not known: `asyncio.to_thread` and `asyncio.shield` go on, with
    the connection or the lock that they hold.
    """
    if any_was_cancelled() or any(thread.is_alive() for thread in _abandoned):
        return True
    return _late.is_set() and loop_is_blocked(_GRACE)


def checked_limit(name: str, given: Any) -> float | None:
    """Return a limit in seconds, or None; `name` is that of the parameter, for messages.

    Raises:
        ConfigError: It is neither a finite number above 0 nor None.
    """
    if given is None:
        return None
    if type(given) is not bool and isinstance(given, Real):
        with suppress(Exception):  # of anybody's number, and of a whole one that is too large for a float
            seconds = float(given)
            if isfinite(seconds) and seconds > 0:
                return seconds
    raise ConfigError(f"{name}={shown(given)}: expected seconds, a finite number above 0, or None for no limit")
