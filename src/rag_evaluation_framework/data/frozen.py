"""Dicts and lists that cannot be changed: what values of the field keep as metadata, and the gains of labels."""

from collections.abc import Mapping
from typing import Any, Never, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")

MAPPINGS = (dict, Mapping)
"""What can be made a `FrozenDict`; to ask for a dict first is three times as quick."""

_PLAIN = (str, int, float)


def _refuse(*_: Any, **__: Any) -> Never:
    raise TypeError("it is read-only; change a copy, such as {**metadata, 'key': value}, and make a new object with it")


class FrozenDict(dict[K, V]):
    """Dict that cannot be changed; in everything else, as in comparisons and JSON, it is a dict."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class FrozenList(list[V]):
    """List that cannot be changed; in everything else it is a list."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ([*self],)


def frozen(value: Any) -> Any:
    """Return a copy of a value in which no dict, list, tuple, set or bytearray can be changed; others are kept.

    Sets become frozensets, bytearrays bytes.

    Raises:
        RecursionError: The value holds itself, or is nested too deeply.
    """
    if isinstance(value, _PLAIN) or type(value) in (FrozenDict, FrozenList):
        return value
    if isinstance(value, MAPPINGS):
        entries = cast("Mapping[object, object]", value)
        return FrozenDict({key: frozen(item) for key, item in entries.items()})
    if isinstance(value, list):
        return FrozenList(map(frozen, cast("list[object]", value)))
    if isinstance(value, set):
        return frozenset(cast("set[object]", value))
    if isinstance(value, bytearray):
        return bytes(value)
    return tuple(map(frozen, cast("tuple[object, ...]", value))) if type(value) is tuple else value
