"""Doing the same for many things side by side, as if it were done one after the other."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
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
    with _started(work, items, at_once) as futures:
        for future in futures:
            yield future.result()


def as_finished(work: Callable[[T], R], items: Sequence[T], at_once: int) -> Generator[tuple[int, R]]:
    """Yield the number of each item and what `work` returns for it, as they are finished.

    Where `work` raises, nothing else is started; what is under way is waited for and yielded, as it may have been paid
    for, and then the first error is raised. Otherwise as `side_by_side`.
    """
    if at_once == 1:
        yield from enumerate(map(work, items))
        return
    errors: list[BaseException] = []

    def unless_failed(item: T) -> tuple[R] | None:
        if errors:  # seen by the threads: whoever takes what is finished may be slow
            return None
        try:
            return (work(item),)
        except BaseException as error:  # noqa: BLE001  it is raised below
            errors.append(error)
            return None

    with _started(unless_failed, items, at_once) as futures:
        numbers = {future: number for number, future in enumerate(futures)}
        for future in as_completed(futures):
            if (finished := future.result()) is not None:
                yield numbers[future], finished[0]
    if errors:
        raise errors[0]


@contextmanager
def _started(work: Callable[[T], R], items: Sequence[T], at_once: int) -> Generator[list["Future[R]"]]:
    awaited = Awaited()

    def held(item: T) -> R:
        with awaited.here():
            return work(item)

    threads = ThreadPoolExecutor(at_once, thread_name_prefix="rag-eval")
    try:
        yield [threads.submit(copy_context().run, held, item) for item in items]
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        awaited.cancel()
        threads.shutdown()
