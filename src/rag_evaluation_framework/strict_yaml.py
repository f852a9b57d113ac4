"""YAML that holds what JSON can hold: no dates, no NaN, no aliases, no repeated keys."""

from math import isfinite
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rag_evaluation_framework.files import is_list, is_object
from rag_evaluation_framework.types import Json


def parse_yaml(text: str) -> Json:
    """Return the value of a YAML text.

    Raises:
        ValueError: It is no YAML, repeats a key, is nested too deeply, or holds what JSON cannot hold.
    """
    loader: Any = YAML(typ="safe", pure=True)
    try:
        value: Json = loader.load(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except MarkedYAMLError as error:
        marked: Any = error  # the library's own text of it would give advice on how to suppress it
        where = f" in line {marked.problem_mark.line + 1}" if marked.problem_mark else ""
        raise ValueError(f"{' '.join(str(marked.problem).split())}{where}") from error
    except YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    _check(value, "$", set())
    return value


def _check(value: Any, where: str, seen: set[int]) -> None:
    if is_list(value) or is_object(value):
        # Nested aliases can stand for more text than there is memory, or for themselves.
        if id(value) in seen:
            raise ValueError(f"{where}: is an alias; write its value out")
        seen.add(id(value))
        for key, item in value.items() if is_object(value) else enumerate(value):
            if is_object(value) and not isinstance(key, str):
                raise ValueError(f"{where}: the key {key!r:.60} is no text; put it in quotation marks")
            _check(item, f"{where}.{key}" if isinstance(key, str) else f"{where}[{key}]", seen)
    elif not isinstance(value, str | int | float | None) or (isinstance(value, float) and not isfinite(value)):
        raise ValueError(f"{where}: {value!s:.60} is nothing that JSON can hold; put it in quotation marks")
