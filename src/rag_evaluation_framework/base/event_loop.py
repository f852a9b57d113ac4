"""The event loop that coroutines of components run on; loaded when there is one.

Loading asyncio takes half as long as all else that `rag-eval --help` needs.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from threading import Lock, Thread
from typing import Any, TypeVar

from .coroutines import LOOP_THREAD, Awaited

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
