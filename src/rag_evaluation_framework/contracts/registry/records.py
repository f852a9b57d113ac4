"""Components and their parameters, as a record of a run holds them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import partial
from math import isfinite
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, cast

from ...base.exits import outcome
from ...base.files import is_list, is_object
from ...base.outside import HIDDEN, fit_to_keep, is_secret
from ...data import Cutoff
from ..component import Component, component_name, confide, parameters, recorded_parameters
from ..roles import Metric
from .loading import KINDS, PACKAGE, built_in

_DEEPEST = 50  # of a record: JSON may be nested some hundreds deep, and a value may hold itself
_ELSEWHERE = ("url", "host", "path", "table")  # where a store keeps what others may need, or what takes a network
_MOST_BITS = 14_284  # of a whole number in a record: of JSON, Python reads no more than 4,300 digits


def is_of_package(module: str) -> bool:
    """Return whether a module is one of this package."""
    return module.partition(".")[0] == PACKAGE


def is_elsewhere(component: object) -> bool:
    """Return whether a component of this package needs a network, or keeps what it finds where others may need it.

    What has an address asks a provider, which costs money, and is sent the texts: at an address that is in the record.
    """
    known = parameters(component)
    return hasattr(type(component), "address") or any(known.get(name) is not None for name in _ELSEWHERE)


def describe(component: object) -> dict[str, Any]:
    """Return how a component would be written in a configuration: its type and parameters, for records."""
    return _described(component, partial(plain, deepest=_DEEPEST - 1, above=(id(component),)))


def without_run_id(record: Any) -> Any:
    """Return a record without the ids of runs in it, which make no other component."""
    if is_object(record):
        return {key: without_run_id(value) for key, value in record.items() if key != "run_id"}
    return [*map(without_run_id, record)] if is_list(record) else record


def describe_metric(metric: Metric[Any]) -> dict[str, Any]:
    """Return the record of a metric, with the plain attributes of one that is no dataclass, and its range.

    The range of most, from 0 to 1, is not told; an end that is infinite is None, as JSON has no such number.
    """
    own: dict[str, Any] = {} if is_dataclass(type(metric)) else getattr(metric, "__dict__", {})
    told = {name: own[name] for name in own if name[:1] != "_" and isinstance(own[name], str | int | float | None)}
    ends = [end if isfinite(end) else None for end in metric.score_range]
    return {
        **plain(told),
        **describe(metric),
        **({} if metric.score_range == Metric.score_range else {"score_range": ends}),
    }


def _described(component: object, recorded: Callable[[object], Any]) -> dict[str, Any]:
    confide(component)
    named = isinstance(component, Component) and not is_dataclass(component)
    if named and (name := component_name(component)) != type(component).__name__:
        return {"type": type_name(component), "name": name}
    known = recorded_parameters(component)
    return {"type": type_name(component), **{key: recorded(value) for key, value in known.items()}}


def type_name(component: object) -> str:
    """Return the recorded type of a component: the name of a built-in one, else `module:Class`."""
    home = type(component)
    for kind in KINDS:
        for name, reference in built_in(kind).items():
            module, _, attribute = reference.partition(":")
            if attribute == home.__name__ and home.__module__.startswith(module):
                return name
    return f"{home.__module__}:{home.__qualname__}"


def plain(value: object, deepest: int = _DEEPEST, above: tuple[int, ...] = ()) -> Any:
    """Return a value as a record can hold it: components described, functions named, other objects by their class.

    Where JSON cannot hold a value, a text says what it was; a set is recorded as a list. Secrets are hidden: the values
    of a mapping that are called like one, and what texts show to be one. Nothing is raised.

    Args:
        value: A parameter, or anything else.
        deepest: How deep the record may be nested; what is deeper is left out, and the record says so.
        above: The identities of the values that it is in.
    """
    home = type(value)
    return outcome(lambda: _plain(value, deepest, above), lambda _: f"{home.__module__}:{home.__qualname__}")


def _plain(value: object, deepest: int, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | PurePath | Cutoff):
        return fit_to_keep(str(value))
    if isinstance(value, Integral):
        number = int(value)
        return number if number.bit_length() <= _MOST_BITS else f"a whole number of {number.bit_length()} bits"
    if isinstance(value, Real):
        return float(value) if isfinite(value) else str(float(value))
    own = id(value)
    if isinstance(value, Mapping | list | tuple | set | frozenset | Component):
        if own in above:
            return "(holds itself)"
        if not deepest:
            return "(nested too deeply)"
        return _inside(value, partial(plain, deepest=deepest - 1, above=(*above, own)))
    name = getattr(value, "__qualname__", None) or getattr(value, "name", None)
    return fit_to_keep(
        f"{getattr(value, '__module__', '')}:{name}" if name else f"{type(value).__module__}:{type(value).__qualname__}"
    )


def _inside(value: Any, recorded: Callable[[object], Any]) -> Any:
    """Return what holds other values as a record can hold it."""
    if isinstance(value, Component):
        return _described(value, recorded)
    if isinstance(value, Mapping):
        record: dict[str, Any] = {}
        for key, item in cast("Mapping[object, object]", value).items():
            name = str(recorded(key))
            record[repr(name) if name in record else name] = HIDDEN if is_secret(name) else recorded(item)
        return record
    items = [recorded(item) for item in cast("Iterable[object]", value)]
    return sorted(items, key=repr) if isinstance(value, set | frozenset) else items
