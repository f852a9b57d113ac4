"""Doing the same for many things side by side, as if it were done one after the other."""

from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

import rag_evaluation_framework.base as support
from rag_evaluation_framework.base.coroutines import Awaited
from rag_evaluation_framework.base.interrupts import say_that_it_goes_on

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
P = ParamSpec("P")


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
    with _threads(work, at_once) as (start, _):
        for future in [start(item) for item in items]:
            yield future.result()


def as_finished(work: Callable[[T], R], items: Sequence[T], at_once: int) -> Generator[tuple[int, R]]:
    """Yield the number of each item and what `work` returns for it, as they are finished.

    No more than `at_once` are under way, or finished and not yet taken: what is kept as it comes loses no more in a
    crash. Where `work` raises, and on Ctrl-C, nothing else is started; what is under way is waited for and yielded, as
    it may have been paid for, and then the first error is raised; Ctrl-C cancels what can be cancelled, and another one
    ends the waiting. Otherwise as `side_by_side`.
    """
    if at_once == 1:
        yield from enumerate(map(work, items))
        return
    left, numbers = enumerate(items), dict[Future[R], int]()
    first: BaseException | None = None
    with _threads(work, at_once) as (start, cancel):
        while True:
            for number, item in islice(left, at_once - len(numbers) if first is None else 0):
                numbers[start(item)] = number
            if not numbers:
                break
            try:
                done = wait(numbers, return_when=FIRST_COMPLETED).done
            except KeyboardInterrupt as interrupt:
                if isinstance(first, KeyboardInterrupt):
                    raise
                first = interrupt
                cancel()
                say_that_it_goes_on()
                continue
            for future in done:
                number, error = numbers.pop(future), future.exception()
                if error is None:
                    yield number, future.result()
                elif first is None:
                    first = error
    if first is not None:
        raise first


def awaited(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return a method as a coroutine function that does its work in a thread, for code that runs in an event loop.

    The loop goes on meanwhile. If the task is cancelled, coroutines that the work awaits are cancelled.
    """

    @wraps(method)
    async def in_a_thread(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        own: Callable[P, R] = getattr(self, method.__name__)  # of the class of the object
        return await support.in_a_thread(lambda: own(*args, **kwargs))

    return in_a_thread


@contextmanager
def _threads(work: Callable[[T], R], at_once: int) -> Generator[tuple[Callable[[T], "Future[R]"], Callable[[], None]]]:
    """Yield what starts the work of one item, and what cancels whatever can be cancelled."""
    awaited = Awaited()

    def held(item: T) -> R:
        with awaited.here():
            return work(item)

    threads = ThreadPoolExecutor(at_once, thread_name_prefix="rag-eval")
    try:
        yield lambda item: threads.submit(copy_context().run, held, item), awaited.cancel
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        awaited.cancel()
        threads.shutdown()
