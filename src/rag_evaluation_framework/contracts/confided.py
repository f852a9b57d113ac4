"""What components are given in confidence, so that it is hidden wherever it turns up."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, cast

from rag_evaluation_framework._outside import hide, is_secret, is_secret_pair
from rag_evaluation_framework.contracts.component import Component

_MOST = 10_000  # values that are looked at, the outer ones first: a component may hold a corpus
_MOST_OF_ONE = 1_000  # of one collection
_TOLD_BY_NAME = str | bytes | int | float | None  # what is no secret unless a name says so
_LIKE_A_KEY = re.compile(r"(?=\D*\d)[^\s/\\]{8,}")


class _Given(NamedTuple):
    """A value, and whether it is a secret by its name, or kept out of what is shown."""

    value: Any
    secret: bool
    unshown: bool


def confide(component: object) -> None:
    """Hide what a component, and the components in it, hold as secrets: from now on, in all that this process shows.

    Libraries quote a refused key in words of their own. A secret is what a field is called so for; the text of a field
    with `repr=False` that looks like a key; and what stands behind the name of a secret in mappings and pairs.
    """
    for secret in _secrets(_attributes(component)):
        hide(secret)


def confide_parameters(kind: object, given: Mapping[str, Any]) -> None:
    """Hide what a component would hold as secrets if it were made of these parameters."""
    for secret in _secrets(_named(given, _unshown(kind))):
        hide(secret)


def _secrets(first: Iterable[_Given]) -> Iterator[str]:
    waiting, seen, left = deque(islice(first, _MOST_OF_ONE)), dict[int, object](), _MOST
    while waiting and left > 0:
        item, secret, unshown = waiting.popleft()
        value = _opened(item)
        if isinstance(value, str):
            if secret:
                yield from (value, *value.split()[1:])  # behind `Bearer`
            elif unshown and _LIKE_A_KEY.fullmatch(value):
                yield value
        elif not secret and is_secret_pair(value):
            waiting.append(_Given(value[1], secret=True, unshown=False))
        elif id(value) not in seen:
            seen[id(value)] = value
            with suppress(Exception):  # anybody's collections
                for inner in islice(_inside(value, secret=secret), _MOST_OF_ONE):
                    left -= 1
                    if inner.secret or inner.unshown or not isinstance(inner.value, _TOLD_BY_NAME):
                        waiting.append(inner)


def _inside(value: Any, *, secret: bool) -> Iterator[_Given]:
    """Yield what a value holds; what is in a secret is one."""
    if isinstance(value, partial):
        value = cast("Any", value).keywords
    if isinstance(value, list | tuple):
        yield from (_Given(item, secret, unshown=False) for item in cast("list[object]", value))
    elif isinstance(value, Mapping):
        yield from _named(cast("Mapping[object, object]", value), secret=secret)
    elif isinstance(value, Component) or callable(value) or is_dataclass(value):
        yield from _attributes(value)


def _attributes(component: object) -> Iterator[_Given]:
    with suppress(Exception):  # anybody's
        yield from _named({name.lstrip("_"): value for name, value in vars(component).items()}, _unshown(component))


def _named(
    given: Mapping[Any, object], unshown: frozenset[str] = frozenset(), *, secret: bool = False
) -> Iterator[_Given]:
    for name, value in given.items():
        yield _Given(value, secret or is_secret(str(name)), name in unshown)


def _unshown(kind: Any) -> frozenset[str]:
    return (
        frozenset(field.name.lstrip("_") for field in fields(kind) if not field.repr)
        if is_dataclass(kind)
        else frozenset()
    )


def _opened(value: object) -> Any:
    """Return the text of a value that is one by nature: bytes, and pydantic's `SecretStr`."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    opened = getattr(type(value), "get_secret_value", None)
    if opened is not None:
        with suppress(Exception):  # anybody's
            return str(opened(value))
    return value
