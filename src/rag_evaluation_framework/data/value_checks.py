"""Checks of what values are made of: the types of their fields, for people without a type checker."""

from numbers import Integral
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.frozen import MAPPINGS, FrozenDict, frozen
from rag_evaluation_framework.errors import InputError


def check_texts(value: object, error: type[InputError], *names: str) -> None:
    """Check that fields of a value hold texts; raise the error, by the name of the field, otherwise."""
    for name in names:
        given: Any = getattr(value, name)
        if not isinstance(given, str):
            decode = isinstance(given, bytes)
            fix = "decode it with .decode('utf-8')" if decode else "make one with str(...) if that is what you mean"
            raise error(f"{_field(value, name, given)}; expected a text (str): {fix}")


def check_offsets(value: object, error: type[InputError]) -> None:
    """Check that `start` and `end` of a value are whole numbers, else raise the error; NumPy's become Python's."""
    for name in ("start", "end"):
        given: Any = getattr(value, name)
        if isinstance(given, bool) or not isinstance(given, Integral):
            raise error(
                f"{_field(value, name, given)}; expected a whole number (int), counted in characters from 0, as in "
                "start=0, end=5"
            )
        object.__setattr__(value, name, int(given))


def freeze_metadata(value: object, error: type[InputError]) -> None:
    """Make the metadata of a value a copy that cannot be changed; raise the error if it is not a mapping."""
    given: Any = getattr(value, "metadata")  # noqa: B009
    if type(given) is FrozenDict:
        return
    if not isinstance(given, MAPPINGS):
        raise error(f"{_field(value, 'metadata', given)}; expected a dict, such as {{'tags': ['billing']}}")
    try:
        object.__setattr__(value, "metadata", frozen(given))
    except RecursionError:
        raise error(f"{type(value).__name__}: metadata holds itself, or is nested too deeply") from None


def _field(value: object, name: str, given: object) -> str:
    return f"{type(value).__name__}: {name}={shown(given)} is of type {type(given).__name__}"
