"""What components are given in confidence, so that it is hidden wherever it turns up."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, cast
from urllib.parse import unquote

from rag_evaluation_framework._outside import hide, is_secret

_LIKE_A_KEY = re.compile(r"(?=\D*\d)[^\s/\\]{8,}")
_LOGIN = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")


def confide(component: Any) -> None:
    """Hide the secrets that a component was given: from now on, in all that this process shows.

    Libraries quote a refused key in words of their own. A secret is the text of a field or attribute that is called
    like one, or that has `repr=False` and looks like a key, and the password of a URL. In a mapping, a list or pairs
    those texts count that it holds itself. Nothing deeper is searched, and no other object.
    """
    names = (*getattr(component, "__dict__", ()), *getattr(component, "__dataclass_fields__", ()))
    confide_parameters(type(component), {name: getattr(component, name, None) for name in names})


def confide_parameters(kind: Any, given: Mapping[str, Any]) -> None:
    """Hide the secrets that a component would be given if it were made of these parameters."""
    unshown = {each.name for each in fields(kind) if not each.repr} if is_dataclass(kind) else set[str]()
    for parameter, value in given.items():
        named = is_secret(parameter.lstrip("_"))
        with suppress(Exception):  # anybody's mapping
            for name, item in ((parameter, value), *islice(_items(value), 1_000)):  # it may be a corpus
                text = _text(item)
                if named or is_secret(name):
                    for secret in (text, *text.split()[1:]):  # behind `Bearer`
                        hide(secret)
                elif parameter in unshown and _LIKE_A_KEY.fullmatch(text):
                    hide(text)
                elif login := _LOGIN.search(text):
                    hide(unquote(login[1]))


def _items(value: Any) -> Iterable[tuple[str, object]]:
    """Yield what a collection holds, each with its name: a mapping and a list of pairs have names."""
    held: object = value
    items = value.items() if isinstance(held, Mapping) else value if isinstance(held, list | tuple) else ()
    for item in cast("Iterable[Any]", items):
        pair = isinstance(cast("object", item), list | tuple) and len(item) == 2
        yield (_text(item[0]), item[1]) if pair else ("", item)


def _text(value: object) -> str:
    """Return a text, also that of bytes and of pydantic's `SecretStr`; "" for any other value."""
    opened = getattr(type(value), "get_secret_value", None)
    value = value if opened is None else opened(value)
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else ""
