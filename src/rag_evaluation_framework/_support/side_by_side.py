"""Doing the same for many things side by side, as if it were done one after the other."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from rag_evaluation_framework._support.coroutines import Awaited

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Sequence[T], at_once: int) -> Generator[R]:
    """Yield what `work` returns for every item, in the order of the items, whichever is done first.

    Each is done in a thread, in a copy of the caller's context. When the generator is closed, as it has to be where its
    caller raises (`contextlib.closing`), and when `work` raises, nothing else is started, coroutines that are awaited
    are cancelled, and functions that are running are waited for.

    Args:
        work: What to do; it has to be safe to call from several threads.
        items: What to do it for.
        at_once: How many at a time; with 1, there are no threads.
    """
    if at_once == 1:
        yield from map(work, items)
        return
    awaited = Awaited()

    def held(item: T) -> R:
        with awaited.here():
            return work(item)

    threads = ThreadPoolExecutor(at_once, thread_name_prefix="rag-eval")
    try:
        for future in [threads.submit(copy_context().run, held, item) for item in items]:
            yield future.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        awaited.cancel()
        threads.shutdown()
