"""Plain values made of foreign ones, and the types of fields."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from itertools import islice
from numbers import Complex, Integral, Real
from operator import index
from typing import Any, Never, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.exits import errors_as, outcome
from ..base.outside import error_message, error_text, shown
from ..errors import InputError

T = TypeVar("T")

# Plain values of what other people's code gives: texts, numbers, offsets, whatever their classes and methods are.


def encodable(text: str) -> str:
    """Return a text without surrogates, which no model and no request takes: pairs become the character they stand for.

    One without the other becomes U+FFFD.
    """
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


UNREADABLE = (TypeError, ValueError, OverflowError)
"""What reading a value as a plain one raises, whatever the value's own methods raise."""


def _readable(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """Let what is read raise nothing but `UNREADABLE`."""

    def refuse(error: BaseException) -> Never:
        if isinstance(error, UNREADABLE):
            raise error
        raise ValueError(error_message(error)) from error

    @wraps(read)
    def read_safely(value: Any) -> T:
        return outcome(partial(read, value), refuse)

    return read_safely


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


@_readable
def plain_offset(value: Any) -> int:
    """Return an offset as an `int`: Python's and NumPy's whole numbers.

    Raises:
        TypeError: It is not a whole number; True and False are none.
    """
    if is_truth(value):
        raise TypeError(f"{shown(value)}; expected a whole number")
    return int.__int__(index(value))  # of a subclass, whose methods may be anything


@_readable
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
    is_complex = isinstance(value, Complex) is not isinstance(value, Real)
    if is_truth(value) or is_complex or getattr(value, "ndim", False) or not hasattr(value, "__float__"):
        raise TypeError(f"{shown(value)}; expected a number")
    return float(value)


@_readable
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


MAPPINGS = (dict, Mapping)
"""What is a mapping; to ask for a dict first is three times as quick."""


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a value is a mapping; of others' its keys are taken for texts."""
    return isinstance(value, MAPPINGS)


def is_truth(value: object) -> bool:
    """Return whether a value is True or False, or NumPy's."""
    return isinstance(value, bool | np.bool_)


def gives_items(value: object, *but: type) -> TypeGuard[Iterable[Any]]:
    """Return whether a value gives items one after the other, and is of none of the other types."""
    without_axes = getattr(value, "ndim", None) == 0  # an array of one number is an Iterable that cannot be iterated
    return isinstance(value, Iterable) and not isinstance(value, but) and not without_axes


def frame_rows(given: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a frame of pandas or Polars as dicts, None where it has nothing; None if it is no frame."""
    if hasattr(given, "iterrows"):  # pandas
        given = given.convert_dtypes().astype(object)  # whole numbers, though there are gaps among them
        rows: list[dict[str, Any]] = given.where(given.notna(), None).to_dict("records")
        return rows
    return given.to_dicts() if hasattr(given, "to_dicts") else None


def items(given: Any, source: str, most: int | None = None) -> list[Any]:
    """Return what an iterable gives, of one without end too: no more than `most` items are read of it.

    Args:
        given: Anybody's iterable.
        source: Whose it is, or what it is called, for messages.
        most: How many items; by default all.

    Raises:
        InputError: Reading it raises something.
    """
    with errors_as(lambda error: InputError(f"{source} gives {shown(given)}; reading it raises {error_text(error)}")):
        return [*islice(given, most)]


def items_of(kind: Any, given: Any, source: str, expected: str, refusal: type[InputError]) -> list[Any]:
    """Return what an iterable gives, all of which has to be of one kind.

    Args:
        kind: The type, or several.
        given: Anybody's iterable; texts and mappings are none.
        source: What it is called, for messages.
        expected: What was expected.
        refusal: The class of the error.

    Raises:
        InputError: It gives no items, or something else; raised as `refusal`. Or reading it raises something.
    """
    if not gives_items(given, str, bytes, Mapping):
        raise refusal(f"{source}={shown(given)}; expected {expected}")
    listed = items(given, source)
    if not all(issubclass(own, kind) for own in {*map(type, listed)}):
        wrong = next(item for item in listed if not isinstance(item, kind))
        raise refusal(f"{source}: {shown(wrong)}; expected {expected}")
    return listed


TEXT_KEYS = ("text", "content", "page_content", "contents", "body", "passage")
SOURCE_KEYS = ("source", "file_path", "file_name", "path", "url")
METADATA_KEYS = ("metadata", "meta")
"""The keys and attributes under which other libraries have a text, its file, and what else is known, the best first."""

# Checks of what values are made of: the types of their fields, for people without a type checker.


def check_texts(value: object, error: type[InputError], *names: str) -> None:
    """Check that fields of a value hold texts; raise the error, by the name of the field, otherwise."""
    for name in names:
        given: Any = getattr(value, name)
        if not isinstance(given, str):
            told = f"{_field(value, name, given)}; expected a text (str):"
            if isinstance(given, bytes):
                raise error(f"{told} decode it with .decode('utf-8')")
            raise error(f"{told} make one with str(...) if that is what you mean")


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


def copy_metadata(value: object, error: type[InputError]) -> None:
    """Replace the metadata of a value by a copy; raise the error if it is not a mapping."""
    given: Any = getattr(value, "metadata")  # noqa: B009
    if not isinstance(given, MAPPINGS):
        raise error(f"{_field(value, 'metadata', given)}; expected a dict, such as {{'tags': ['billing']}}")
    object.__setattr__(value, "metadata", {**given})


def _field(value: object, name: str, given: object) -> str:
    return f"{type(value).__name__}: {name}={shown(given)} is of type {type(given).__name__}"
