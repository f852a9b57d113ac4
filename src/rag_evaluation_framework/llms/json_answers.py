"""JSON in what a language model answers, and the schema by which it is asked for."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object

F = TypeVar("F", bound=BaseModel)

_DECODER = json.JSONDecoder(strict=False)  # models copy line breaks into texts as they are
_MOST_TRIED = 1000  # brackets that begin no JSON: a model may write nothing but brackets
_OPENING = re.compile(r"[{\[]")


def form_in(text: str, form: type[F]) -> F:
    """Return the last object or list in a text that is valid as a form.

    Models put it in code fences and words around it, and think aloud before: `[1]`, an example, what they take back.

    Raises:
        ValueError: There is none.
    """
    invalid: ValidationError | None = None
    for value in json_values(text):
        try:
            return form.model_validate(value)
        except ValidationError as error:
            invalid = invalid or error
    if invalid is None:
        raise ValueError(f"no JSON in {shown(text)}")
    first = invalid.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the answer"
    raise ValueError(f"{where}: {first['msg']}, in {shown(text)}; expected a {form.__name__}") from invalid


def json_values(text: str) -> list[Any]:
    """Return the objects and lists of a text, the last first, without those inside of others.

    Where one breaks off the search goes on behind what was read of it: its parts are no answers.
    """
    return [*_values(text)][::-1]


def _values(text: str) -> Iterator[Any]:
    at = tried = 0
    while tried < _MOST_TRIED and (opening := _OPENING.search(text, at)):
        tried += 1
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except json.JSONDecodeError as error:
            at = max(error.pos, opening.end())
        except RecursionError:
            return
        else:
            yield value


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model as structured output wants it, and as OpenAI's SDK sends it.

    All fields are required, no others are allowed, and what has a `$ref` has nothing else.
    """
    schema = form.model_json_schema()
    return _strict(schema, schema, frozenset())


def _strict(part: Mapping[str, Any], root: Mapping[str, Any], inside: frozenset[str]) -> dict[str, Any]:
    """Return a part of a schema.

    Args:
        part: The part.
        root: The whole schema.
        inside: The references in whose place the part stands.
    """
    strict = {key: value for key, value in part.items() if (key, value) != ("default", None)}
    reference: Any = strict.get("$ref")
    if reference in inside:  # a part of itself, without an end
        return {"$ref": reference}
    if reference is not None and len(strict) > 1:
        del strict["$ref"]
        return _strict({**root["$defs"][reference.rpartition("/")[2]], **strict}, root, inside | {reference})
    if "$defs" in strict:
        strict["$defs"] = {name: _strict(each, root, frozenset()) for name, each in strict["$defs"].items()}
    if strict.get("type") == "object":
        strict.setdefault("additionalProperties", False)
    if is_object(properties := strict.get("properties")):
        strict["required"] = [*properties]
        strict["properties"] = {name: _strict(each, root, inside) for name, each in properties.items()}
    if is_object(items := strict.get("items")):
        strict["items"] = _strict(items, root, inside)
    if is_list(choices := strict.get("anyOf")):
        strict["anyOf"] = [_strict(each, root, inside) for each in choices]
    return strict
