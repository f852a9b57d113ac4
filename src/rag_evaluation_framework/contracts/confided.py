"""What components are given in confidence, so that it is hidden wherever it turns up."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice
from typing import Any, cast

from rag_evaluation_framework._outside import hide, is_secret, is_secret_pair
from rag_evaluation_framework.contracts.component import Component

_DEEPEST = 5  # levels of parameters within parameters
_MOST = 20  # items of a collection: headers are few, and a component may hold a corpus
_LIKE_A_KEY = re.compile(r"(?=\D*\d)[^\s/\\]{8,}")


def confide(component: object) -> None:
    """Hide what a component, and the components in it, hold as secrets: from now on, in all that this process shows.

    Libraries quote a refused key in words of their own. A secret is what a field is called so for; the text of a field
    with `repr=False` that looks like a key; and what stands behind the name of a secret in mappings and pairs.
    """
    for secret in _secrets(component, _DEEPEST):
        hide(secret)


def confide_parameters(kind: object, given: Mapping[str, Any]) -> None:
    """Hide what a component would hold as secrets if it were made of these parameters."""
    unshown = {field.name for field in fields(kind) if not field.repr} if is_dataclass(kind) else set[str]()
    for name, value in given.items():
        for secret in _of_parameter(name, value, unshown=name in unshown, depth=_DEEPEST):
            hide(secret)


def _secrets(component: object, depth: int) -> Iterator[str]:
    if not depth:
        return
    unshown = {field.name for field in fields(component) if not field.repr} if is_dataclass(component) else set[str]()
    with suppress(Exception):  # anybody's attributes
        for name, value in [*vars(component).items()]:
            yield from _of_parameter(name.lstrip("_"), value, unshown=name in unshown, depth=depth - 1)


def _of_parameter(name: str, value: Any, *, unshown: bool, depth: int) -> Iterator[str]:
    if is_secret(name):
        yield from _texts(value, depth)
    elif unshown and isinstance(value, str):
        if _LIKE_A_KEY.fullmatch(value):
            yield value
    elif isinstance(value, partial):
        yield from _of_parameter("", cast("Any", value).keywords, unshown=False, depth=depth)
    elif isinstance(value, Component) or callable(value):
        yield from _secrets(value, depth)
    elif depth and isinstance(value, Mapping):
        for key, inner in islice(cast("Mapping[object, object]", value).items(), _MOST):
            yield from _of_parameter(str(key), inner, unshown=False, depth=depth - 1)
    elif is_secret_pair(value):
        yield from _texts(value[1], depth)
    elif depth and isinstance(value, list | tuple):
        for inner in cast("list[object]", value)[:_MOST]:
            yield from _of_parameter("", inner, unshown=False, depth=depth - 1)


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the texts of a secret, in whatever it is kept, pydantic's `SecretStr` included."""
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    elif hasattr(value, "get_secret_value"):
        value = value.get_secret_value()
    if isinstance(value, str):
        yield value
        yield from value.split()[1:]  # behind `Bearer`
    elif depth and isinstance(value, Mapping | list | tuple):
        inner: list[Any] = [*(value.values() if isinstance(value, Mapping) else value)]
        for item in inner:
            yield from _texts(item, depth - 1)
