"""JSON without its traps: no repeated keys, no NaN, no bottomless nesting."""

import json
from typing import Any

from rag_evaluation_framework.types import Json


def parse_json(text: str | bytes) -> Json:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is no JSON, repeats a key, holds NaN or infinity, or is nested too deeply.
    """
    try:
        value: Json = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r}")
    return content
