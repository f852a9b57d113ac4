"""Coroutines of components, limits on the time of what others do, and doing the same for many things side by side."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from itertools import islice
from math import inf
from numbers import Real
from threading import TIMEOUT_MAX, Event, Lock, Thread, current_thread
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import rag_evaluation_framework.base as support

from ..errors import ConfigError
from .exits import bound, on_failure
from .interrupts import say_that_it_goes_on
from .outside import shown

# Letting a component's methods be coroutines: they run on one background event loop.
#
# A component is adapted once, where it enters (`as_synchronous`); everybody behind calls its methods as ordinary ones.

T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]
_STEP = 0.1  # seconds of waiting: without a limit, Ctrl-C is missed on Windows, and if another thread gets the signal
LOOP_THREAD = "rag-eval-coroutines"
_cancelled = Event()
_adaptations: WeakValueDictionary[int, Any] = WeakValueDictionary()


def as_synchronous(component: T) -> T:
    """Return a component whose public methods are ordinary ones: itself unless it has coroutine methods.

    Else it is a view of the component, of the same class as far as anybody can see, and with the same state. What its
    public methods return is resolved on the background loop. The component's own code, and what runs on that loop, get
    what the method returns: they can await it. The component itself stays as it is, so that its owner can go on
    awaiting it; adapting it again gives the same view.

    A component has coroutine methods if a public or private one is written as `async def`, also below a decorator that
    names what it wraps (`functools.wraps`), or an attribute of the object that stands in for a method is a
    coroutine function. A function that is a field of a dataclass is a parameter and no method.
    """
    if isinstance(component, _Adapted | type) or not _has_coroutines(component):
        return component
    view = _adaptations.get(id(component))  # the view holds the component, so the id is not used again
    if view is None:
        view = _adaptations[id(component)] = _view(component)
    adapted_component: T = view
    return adapted_component


def resolved(value: Any, patience: float | None = None) -> Any:
    """Return the value, or, of a coroutine or another awaitable, what it returns.

    The loop lives in a thread of its own, so this works inside a running loop (a notebook) too, and clients that are
    bound to a loop meet the same one each time. What the coroutine raises, `SystemExit` too, is raised here.

    Args:
        value: Anything.
        patience: How many seconds others may keep a coroutine from beginning; by default any.

    Raises:
        TimeoutError: They keep it longer, as one of them does not await.
    """
    if not inspect.isawaitable(value):
        return value
    coroutine: Coroutine[Any, Any, Any] = value if inspect.iscoroutine(value) else _awaiting(value)
    if _on_the_loop():
        coroutine.close()
        raise RuntimeError("a coroutine component was called from another one, where it has to be awaited")
    if patience is not None and loop_is_blocked(patience):
        coroutine.close()
        raise TimeoutError("another coroutine, which does not await, keeps it from beginning")
    future: Future[Any] | None = None
    try:
        future = support.start_coroutine(coroutine)
        return wait_for(future)
    except BaseException:  # in place: between two calls of a context manager an interrupt would miss it
        if future is None:  # Ctrl-C came before anybody waited, and the coroutine may have begun
            _cancelled.set()
            raise
        by_itself = future.done() and not _work_was_cancelled()
        if future.cancel() and not by_itself:  # after Ctrl-C nobody waits for it any more
            _cancelled.set()
        raise


def wait_for(future: "Future[T]", seconds: float | None = None) -> T:
    """Return the result of a future, and wait no longer than that; it is cancelled with the work this is part of.

    Raises:
        TimeoutError: There is no result yet.
        CancelledError: It, or the work that this is part of, was cancelled.
    """
    awaited = _awaited.get()
    end = monotonic() + (inf if seconds is None else seconds)
    with nullcontext() if awaited is None else awaited.holding(future):
        while not future.done() and (left := end - monotonic()) > 0:
            with suppress(TimeoutError):
                future.exception(min(_STEP, left))
        return future.result(0)


def loop_is_blocked(seconds: float) -> bool:
    """Return whether one coroutine, which does not await, keeps all others from going on for that long."""
    free = Event()
    support.running_loop().call_soon_threadsafe(free.set)
    return not free.wait(seconds)


class Awaited:
    """The coroutines that the threads of one piece of work wait for, so that all can be cancelled together.

    Work that is done inside of other work is cancelled with it.
    """

    def __init__(self) -> None:
        self._around = _awaited.get()
        self._futures: set[Future[Any]] = set()
        self._cancelled = False
        self._lock = Lock()

    @property
    def cancelled(self) -> bool:
        """Whether this, or what it is done inside of, was cancelled."""
        return self._cancelled or (self._around is not None and self._around.cancelled)

    def here(self) -> AbstractContextManager[None]:
        """Hold what is awaited inside, in this context."""
        return bound(_awaited, self, None)

    @contextmanager
    def holding(self, future: "Future[Any]") -> Generator[None]:
        """Hold a future while it is waited for."""
        with self._lock:
            self._futures.add(future)
            if self.cancelled:
                future.cancel()
        try:
            with nullcontext() if self._around is None else self._around.holding(future):
                yield
        finally:
            with self._lock:
                self._futures.discard(future)

    def cancel(self) -> None:
        """Cancel what is held, and what will be."""
        with self._lock:
            self._cancelled = True
            futures = list(self._futures)
        for future in futures:
            future.cancel()


def stop_if_cancelled() -> None:
    """Raise `CancelledError` if the work that this is part of was cancelled."""
    if _work_was_cancelled():
        raise CancelledError


def _work_was_cancelled() -> bool:
    awaited = _awaited.get()
    return awaited is not None and awaited.cancelled


_awaited: ContextVar[Awaited | None] = ContextVar("rag_evaluation_framework_awaited", default=None)


async def _awaiting(value: Awaitable[Any]) -> Any:
    return await value


class _Adapted:
    """What the class of a view has before that of the component: whatever a view is asked for, it asks the component.

    So the component's own code meets the component itself, and awaits it.
    """

    def __init_subclass__(cls, **_: Any) -> None:
        """Keep the view from the component's own `__init_subclass__`, which may register what derives from it."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__reduce_ex__":
            return object.__getattribute__(self, name)
        component = _component_of(self)
        value = getattr(component, name)
        is_method = not name.startswith("_") and (inspect.isroutine(value) or is_coroutine_function(value))
        return _waiting(value) if is_method and name not in _fields_of(component) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_component_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_component_of(self), name)

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any]]:
        return as_synchronous, (copy(_component_of(self)),)

    def __del__(self) -> None:
        """Release nothing: it is the component's."""


def _component_of(view: _Adapted) -> Any:
    return object.__getattribute__(view, "_adapted_from")


def _has_coroutines(component: object) -> bool:
    """Return whether a method that is not ours, or an attribute that stands in for one, is a coroutine function."""
    known = [vars(base) for base in type(component).__mro__ if not _is_ours(base.__module__)]
    return any(
        is_coroutine_function(value)
        for values in (*known, getattr(component, "__dict__", {}))
        for name, value in values.items()
        if not name.startswith("__") and name not in _fields_of(component)
    )


def _fields_of(component: object) -> Collection[str]:
    """Return the fields of a dataclass: values by which components compare, functions too, and no methods."""
    return [field.name for field in fields(component)] if is_dataclass(component) else []


def is_coroutine_function(value: Any) -> bool:
    """Return whether something is written as `async def`, also below a decorator that names what it wraps."""
    return inspect.iscoroutinefunction(inspect.unwrap(value) if inspect.isroutine(value) else value)


def _view(component: object) -> Any:
    kind: Any = type(component)
    names = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    view: Any = object.__new__(type(kind)(kind.__name__, (_Adapted, kind), names))
    object.__setattr__(view, "_adapted_from", component)
    return view


def _waiting(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method, updated=())
    def wait(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        frame = inspect.currentframe()
        caller = None if frame is None or frame.f_back is None else frame.f_back.f_globals.get("__name__", "")
        # Our code is synchronous; whatever else runs on the loop can await.
        return result if _on_the_loop() and not _is_ours(str(caller)) else resolved(result)

    return wait


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE


def _on_the_loop() -> bool:
    return current_thread().name == LOOP_THREAD


# Limits on time: work of others is done in a thread of its own, which is left behind if it takes too long.

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


def run_within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises.

    It is done in a copy of the caller's context, in a thread that does not keep the program from ending. What it
    returns after its time is thrown away. An interrupt, and the cancelling of what the caller does, end the waiting.

    Raises:
        OutOfTime: It takes longer; a coroutine that it awaits is cancelled.
    """
    done: Future[T] = Future()
    awaited = Awaited()

    def held() -> None:
        # What is raised is raised where the work is waited for, if somebody waits.
        with awaited.here(), suppress(BaseException), on_failure(done.set_exception):
            done.set_result(work())

    thread = Thread(target=copy_context().run, args=(held,), name="rag-eval-within", daemon=True)
    thread.start()
    try:
        return wait_for(done, min(seconds, TIMEOUT_MAX))
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
    return _late.is_set() or _cancelled.is_set()


def may_hang() -> bool:
    """Return whether work that was given up goes on, or may.

    What a coroutine that was cancelled left behind is not known: `asyncio.to_thread` and `asyncio.shield` go on, with
    the connection or the lock that they hold.
    """
    if _cancelled.is_set() or any(thread.is_alive() for thread in _abandoned):
        return True
    return _late.is_set() and loop_is_blocked(_GRACE)


def checked_limit(name: str, given: Any) -> float | None:
    """Return a limit in seconds, or None; `name` is that of the parameter, for messages.

    Raises:
        ConfigError: It is neither a finite number above 0 nor None.
    """
    if given is None:
        return None
    with suppress(Exception):  # of anybody's number, and of a whole one that is too large for a float
        if type(given) is not bool and isinstance(given, Real) and 0 < (seconds := float(given)) < inf:
            return seconds
    raise ConfigError(f"{name}={shown(given)}: expected seconds, a finite number above 0, or None for no limit")


# Doing the same for many things side by side, as if it were done one after the other.

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
            yield wait_for(future)


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
                done = wait(numbers, _STEP, FIRST_COMPLETED).done
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


def as_coroutine(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
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
