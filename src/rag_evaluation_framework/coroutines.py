"""Letting a component's methods be coroutines: they run on one background event loop."""

import asyncio
import inspect
from contextlib import suppress
from functools import lru_cache
from threading import Thread, current_thread
from typing import Any

_THREAD = "rag-eval-coroutines"


def resolved(value: Any) -> Any:
    """Return the value, or, of a coroutine, what it returns.

    The loop lives in a thread of its own, so this works inside a running loop (a notebook) too, and clients that are
    bound to a loop meet the same one each time.
    """
    if not inspect.iscoroutine(value):
        return value
    if current_thread().name == _THREAD:
        value.close()
        raise RuntimeError("a coroutine component was called from another one, where it has to be awaited")
    future = asyncio.run_coroutine_threadsafe(value, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # after Ctrl-C nobody waits for it any more
        raise


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=_serve, args=(loop,), name=_THREAD, daemon=True).start()
    return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop for ever."""
    while True:
        # asyncio lets these two out of its loop; the caller, who waits for them, gets them only if the loop goes on.
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
