"""Plain values of what other people's code gives: texts, numbers, offsets, whatever their classes and methods are."""

from collections.abc import Iterable, Sized
from contextlib import suppress
from itertools import islice
from numbers import Complex, Real
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import raised, shown
from rag_evaluation_framework.errors import InputError, RagEvalError


def encodable(text: str) -> str:
    """Return a text without surrogates, which no model and no request takes: pairs become the character they stand for.

    One without the other becomes U+FFFD.
    """
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain_text(value: object) -> str:
    """Return a text as a `str`, also that of a subclass whose methods say something else.

    Raises:
        TypeError: It is not a text.
    """
    if type(value) is str:
        return value
    if not isinstance(value, str):
        raise TypeError(f"{shown(value)}; expected a text")
    return str.__str__(value)


def plain_offset(value: Any) -> int:
    """Return an offset as an `int`: Python's and NumPy's whole numbers.

    Raises:
        TypeError: It is not a whole number; True and False are none.
    """
    if is_truth(value):
        raise TypeError(f"{shown(value)}; expected a whole number")
    return int.__int__(index(value))  # of a subclass, whose methods may be anything


def plain_number(value: Any) -> float:
    """Return a number as a `float`, which may be NaN or infinite: Python's, NumPy's, a decimal, a fraction.

    Raises:
        TypeError: It is not one real number; True and False, texts and arrays of numbers are none.
        OverflowError: It is too large.
    """
    if type(value) is float:
        return value
    if isinstance(value, float):
        return float.__float__(value)
    if is_truth(value) or _is_complex(value) or getattr(value, "ndim", False) or not hasattr(value, "__float__"):
        raise TypeError(f"{shown(value)}; expected a number")
    return float(value)


def plain_array(value: Any) -> NDArray[Any]:
    """Return an array, or nested lists, as an array of real numbers, or of Booleans, in their own precision.

    Raises:
        TypeError: It holds something else, such as texts or complex numbers.
        ValueError: The lists are not of one length.
    """
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.kind == "O":
        numbers: Any = array.flat
        return np.array([*map(plain_number, numbers)], dtype=np.float64).reshape(array.shape)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"type {array.dtype}; expected numbers")
    return array


def _is_complex(value: object) -> bool:
    return isinstance(value, Complex) and not isinstance(value, Real)


def all_chunks(given: Any, characters: int, source: str) -> list[Any] | None:
    """Return all chunks of a text that somebody gives, or None if there is no end of them.

    What has no length is taken to have no end when it gives far more chunks than the text has characters: however they
    overlap, there is none that begins at every one.

    Raises:
        InputError: Reading it raises something.
    """
    most = characters + 1000
    if isinstance(given, Sized):
        with suppress(Exception):  # of anybody's list
            most = len(given)
    return at_most(given, most, source)


def is_truth(value: object) -> bool:
    """Return whether a value is True or False, or NumPy's."""
    return isinstance(value, bool | np.bool_)


def gives_items(value: object, *but: type) -> bool:
    """Return whether a value gives items one after the other, and is of none of the other types."""
    without_axes = getattr(value, "ndim", None) == 0  # an array of one number is an Iterable that cannot be iterated
    return isinstance(value, Iterable) and not isinstance(value, but) and not without_axes


def at_most(given: Any, most: int, source: str) -> list[Any] | None:
    """Return what an iterable gives if that has an end after `most` items at most, else None; no more is read of it.

    Raises:
        InputError: Reading it raises something.
    """
    read = items(given, source, most + 1)
    return read if len(read) <= most else None


def items(given: Any, source: str, most: int | None = None) -> list[Any]:
    """Return what an iterable gives, of one without end too: no more than `most` items are read of it.

    Args:
        given: Anybody's iterable.
        source: Whose it is, or what it is called, for messages.
        most: How many items; by default all.

    Raises:
        InputError: Reading it raises something.
    """
    try:
        return [*islice(given, most)]
    except RagEvalError:
        raise
    except Exception as error:
        problem = f"reading it raises {raised(error)}"
        raise InputError(f"{source} gives {shown(given)}; {problem}") from error
