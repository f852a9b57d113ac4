"""Strict JSON: no repeated keys, no NaN or infinity, no numbers beyond floats, limited nesting."""

import json
import re
import sys
from collections import Counter
from math import isinf
from typing import Any, TypeAlias

from rag_evaluation_framework._outside import shown

Json: TypeAlias = dict[str, Any] | list[Any] | str | float | None
"""Any value that JSON can represent."""

_STRING_OR_NUMBER = re.compile(
    r"""
    "(?: [^"\\]++ | \\. )*+"
    | -? (?: 0 | [1-9][0-9]*+ ) (?: \.[0-9]++ )? (?: [eE][-+]?[0-9]++ )?
    """,
    re.VERBOSE,
)
_LONG = "Exceeds the limit"  # how Python begins to say that it does not read whole numbers of so many digits


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
        # The parser does not report the position: it is that of the first number written like this. What is before it
        # is valid, so it is made of strings, numbers and signs; what is behind it need not be.
        number = str(error)
        place = next(token.start() for token in _STRING_OR_NUMBER.finditer(text) if token[0] == number)
        raise json.JSONDecodeError(f"{number:.60} is too large for a floating-point number", text, place) from None
    except ValueError as error:
        if not str(error).startswith(_LONG):
            raise
        raise ValueError(f"a whole number has more than {sys.get_int_max_str_digits():,} digits") from error
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
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"duplicate key {shown(next(key for key, count in counts.items() if count > 1))}")
    return content


# Made once: making one takes as long as reading a line of JSONL.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_refuse_constant)
_QUICK = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
