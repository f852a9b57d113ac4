"""Strict JSON: no repeated keys, no NaN or infinity, no numbers beyond floats, limited nesting."""

import json
import re
from math import isinf
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any] | list[Any] | str | float | None
"""Any value that JSON can represent."""

_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\deE]+')


def parse_json(text: str, *, finite: bool = True) -> Json:
    """Parse a JSON text and return its value.

    Args:
        text: The text.
        finite: Whether numbers beyond the range of floats are refused. If not, they are infinite, for callers that
            check numbers in any case: to look at each takes as long as the rest.

    Raises:
        ValueError: It is not valid JSON, repeats a key, contains NaN, infinity or a number beyond the range of floats,
            or is nested too deeply.
    """
    try:
        value: Json = (_DECODER if finite else _QUICK).decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except _TooLargeError as error:
        # The parser does not report the position: it is that of the first number written like this.
        number = str(error)
        place = next(token.start() for token in _STRING_OR_NUMBER.finditer(text) if token[0] == number)
        raise json.JSONDecodeError(f"{number:.60} is too large for a floating-point number", text, place) from None
    return value


class _TooLargeError(ValueError):
    """A number that is too large for a float."""


def _finite(written: str) -> float:
    number = float(written)
    if isinf(number):
        raise _TooLargeError(written)
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a valid JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r}")
    return content


# Made once: making one takes as long as reading a line of JSONL.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_refuse_constant)
_QUICK = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
