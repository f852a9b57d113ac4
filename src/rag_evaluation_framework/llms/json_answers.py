"""JSON in what a language model answers, and the schema by which it is asked for."""

import json
from typing import Any

from pydantic import BaseModel

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object

_DECODER = json.JSONDecoder()


def json_in(text: str) -> Any:
    """Return the first object or list in a text: models put it in code fences, and words around it.

    Raises:
        ValueError: There is none.
    """
    for start, character in enumerate(text):
        if character in "{[":
            try:
                return _DECODER.raw_decode(text, start)[0]
            except ValueError:
                continue
            except RecursionError:
                break
    raise ValueError(f"no JSON in {shown(text)}")


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model as structured output wants it: all fields required, and no others allowed."""
    schema: dict[str, Any] = _closed(form.model_json_schema())
    return schema


def _closed(part: Any) -> Any:
    if is_list(part):
        return [_closed(item) for item in part]
    if not is_object(part):
        return part
    closed = {key: _closed(value) for key, value in part.items() if key != "default"}
    if closed.get("type") == "object" and is_object(properties := closed.get("properties")):
        closed |= {"additionalProperties": False, "required": [*properties]}
    return closed
