"""The event loop that coroutines of components run on, and those of others; loaded when there is a coroutine or a loop.

Loading asyncio takes half as long as all else that `rag-eval --help` needs.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock, Thread
from typing import Any, TypeVar

from rag_evaluation_framework.base.coroutines import LOOP_THREAD, Awaited

T = TypeVar("T")

_starting = Lock()


def start_coroutine(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Run a coroutine on the background loop, and return its future."""
    return asyncio.run_coroutine_threadsafe(coroutine, running_loop())


def running_loop() -> asyncio.AbstractEventLoop:
    """Return the background loop of this process."""
    with _starting:
        return _loop(os.getpid())


@cache
def _loop(_process: int) -> asyncio.AbstractEventLoop:
    """Start the loop of a process. A fork has no thread to run the old one, which stays open: they share its files."""
    loop = asyncio.new_event_loop()
    Thread(target=_serve, args=(loop,), name=LOOP_THREAD, daemon=True).start()
    return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:  # a coroutine that raises SystemExit stops the loop: its caller gets that, and the others go on
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


@contextmanager
def without_running_loop() -> Generator[None]:
    """Hide the event loop that runs in this thread, if there is one.

    A thread of its own would do for `asyncio.run`, but not for connections that belong to the thread that opened them.
    """
    loop = asyncio._get_running_loop()  # noqa: SLF001  for those who write loops, as the others below
    if loop is None:
        yield
        return
    task = asyncio.current_task(loop)
    if task is not None:
        asyncio._leave_task(loop, task)  # noqa: SLF001
    asyncio._set_running_loop(None)  # noqa: SLF001
    try:
        yield
    finally:
        asyncio.set_event_loop(loop)  # `asyncio.run` leaves none
        asyncio._set_running_loop(loop)  # noqa: SLF001
        if task is not None:
            asyncio._enter_task(loop, task)  # noqa: SLF001


async def in_a_thread(work: Callable[[], T]) -> T:
    """Return what work in a thread returns; if the task is cancelled, what the work awaits is cancelled, too."""
    awaited = Awaited()

    def held() -> T:
        with awaited.here():
            return work()

    try:
        return await asyncio.to_thread(held)
    except asyncio.CancelledError:
        awaited.cancel()
        raise
