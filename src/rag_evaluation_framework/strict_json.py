"""JSON without its traps: no repeated keys, no NaN, no infinity under any name, no bottomless nesting."""

import json
import re
from math import isinf
from typing import Any

from rag_evaluation_framework.types import Json

_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\deE]+')


def parse_json(text: str) -> Json:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is no JSON, repeats a key, holds NaN, infinity or a number beyond the range of floats, or is
            nested too deeply.
    """
    try:
        value: Json = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except _TooLargeError as error:
        # The parser does not say where it is: it came by the first number that is written like this.
        number = str(error)
        place = next(token.start() for token in _STRING_OR_NUMBER.finditer(text) if token[0] == number)
        raise json.JSONDecodeError(f"{number:.60} is larger than any number that can be held", text, place) from None
    return value


class _TooLargeError(ValueError):
    """A number that no float can hold."""


def _finite(written: str) -> float:
    number = float(written)
    if isinf(number):
        raise _TooLargeError(written)
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r}")
    return content


# Made once: making one takes as long as reading a line of JSONL.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_refuse_constant)
