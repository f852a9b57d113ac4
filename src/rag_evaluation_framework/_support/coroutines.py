"""Letting a component's methods be coroutines: they run on one background event loop.

A component is adapted once, where it enters (`adapted`); everybody behind calls its methods as ordinary ones.
"""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from functools import cache, wraps
from threading import Lock, Thread, current_thread
from types import FrameType, MemberDescriptorType, new_class
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]
_THREAD = "rag-eval-coroutines"
_starting = Lock()
_adaptations: WeakValueDictionary[int, Any] = WeakValueDictionary()


def adapted(component: T) -> T:
    """Return a component whose public methods are ordinary ones: itself unless its class has coroutine methods.

    Else it is a view of the component, of the same class as far as anybody can see, and with the same state. Its
    coroutine methods run on the background loop and return the result. On that loop, where another method of the same
    component awaits them, they return the coroutine. The component itself stays as it is, so that its owner can go on
    awaiting it; adapting it again gives the same view.
    """
    kind: Any = type(component)
    if not _coroutine_methods(kind):
        return component
    view = _adaptations.get(id(component))  # the view holds the component, so the id is not used again
    if view is None:
        view = _adaptations[id(component)] = _view(component, _adapted_class(kind))
    adapted_component: T = view
    return adapted_component


def resolved(value: Any) -> Any:
    """Return the value, or, of a coroutine, what it returns.

    The loop lives in a thread of its own, so this works inside a running loop (a notebook) too, and clients that are
    bound to a loop meet the same one each time. What the coroutine raises, `SystemExit` too, is raised here.
    """
    if not inspect.iscoroutine(value):
        return value
    if _on_the_loop():
        value.close()
        raise RuntimeError("a coroutine component was called from another one, where it has to be awaited")
    future = asyncio.run_coroutine_threadsafe(value, _running_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # after Ctrl-C nobody waits for it any more
        raise


class _Adapted:
    """What the class of a view has before that of the component."""

    __slots__ = ()

    def __init_subclass__(cls, **_: Any) -> None:
        """Keep the view from the component's own `__init_subclass__`, which may register what derives from it."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any]]:
        return adapted, (copy(getattr(self, "_adapted_from")),)  # noqa: B009  a slot that only the view has


@cache
def _coroutine_methods(kind: type) -> tuple[str, ...]:
    names = [name for name in dir(kind) if not name.startswith("_")]
    methods = {name: inspect.getattr_static(kind, name) for name in names}
    return tuple(
        name for name, method in methods.items() if inspect.iscoroutinefunction(getattr(method, "__func__", method))
    )


@cache
def _adapted_class(kind: type) -> type:
    namespace: dict[str, Any] = {name: _waiting(kind, name) for name in _coroutine_methods(kind)}
    namespace |= {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}

    def original(_: object) -> type:
        return kind

    namespace["__class__"] = property(original)  # dataclasses compare by it, and `replace` makes a new one of it
    namespace["__slots__"] = ("_adapted_from",) if kind.__weakrefoffset__ else ("_adapted_from", "__weakref__")
    if hasattr(kind, "__del__"):
        namespace["__del__"] = original  # does nothing: what it would release is the component's
    return new_class(kind.__name__, (_Adapted, kind), exec_body=lambda body: body.update(namespace))


def _view(component: Any, kind: Any) -> Any:
    view: Any = object.__new__(kind)
    object.__setattr__(view, "_adapted_from", component)
    if hasattr(component, "__dict__"):
        object.__setattr__(view, "__dict__", component.__dict__)
    for slot in (item for base in type(component).__mro__ for item in vars(base).values()):
        if isinstance(slot, MemberDescriptorType):
            with suppress(AttributeError):  # it is empty
                slot.__set__(view, slot.__get__(component))
    return view


def _waiting(kind: type, name: str) -> Callable[..., Any]:
    method = inspect.getattr_static(kind, name)

    @wraps(getattr(method, "__func__", method), updated=())
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        coroutine = method.__get__(self, kind)(*args, **kwargs)
        return coroutine if _on_the_loop() and not _called_by_us(inspect.currentframe()) else resolved(coroutine)

    return wait


def _called_by_us(frame: FrameType | None) -> bool:
    """Return whether our code called the function: all of it is synchronous, so it cannot await a coroutine."""
    caller = None if frame is None else frame.f_back
    return caller is not None and caller.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE


def _on_the_loop() -> bool:
    return current_thread().name == _THREAD


def _running_loop() -> asyncio.AbstractEventLoop:
    with _starting:
        return _loop()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=_serve, args=(loop,), name=_THREAD, daemon=True).start()
    return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:  # a coroutine that raises SystemExit stops the loop: its caller gets that, and the others go on
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
