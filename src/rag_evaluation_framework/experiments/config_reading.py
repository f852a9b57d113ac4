"""Reading configuration files: experiments in YAML or JSON, parsed and validated."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import checked_path, is_list, is_object, read_text
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework._support.strict_yaml import parse_yaml
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments.config_file import ConfigFile

_LARGEST = 300_000  # bytes; YAML of this size takes some 6 s to read
_DEEPEST = 50  # levels: enough for every pipeline, and few enough for whatever walks through it
_MOST_PROBLEMS = 10
_NEAR = 0.8  # of a key to what was meant; chunk_size is no slip of chunk_id
_OF_DATASETS = frozenset({"questions", "queries"})


def load_config(path: str | Path) -> ConfigFile:
    """Read a YAML or JSON configuration.

    Raises:
        ConfigError: The file cannot be read, is neither YAML nor JSON, repeats a key, or holds an unknown key or a
            wrong value.
    """
    path = checked_path(path, ConfigError)
    text = read_text(path, ConfigError, most=_LARGEST, remedy="is it a configuration?")
    try:
        content = parse_json(text) if path.suffix == ".json" else parse_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{path}: cannot be parsed: {error}") from error
    return parse_config(content, str(path))


def parse_config(content: Any, source: str, options: Mapping[str, str] | None = None) -> ConfigFile:
    """Validate a configuration.

    Args:
        content: The parsed file: a mapping.
        source: Where it comes from, for messages.
        options: The keys that were given otherwise, and what messages call them: `{"on_error": "--on-error"}`.

    Raises:
        ConfigError: It is not a mapping, is a dataset, or holds an unknown key or a wrong value.
    """
    if not is_object(content):
        got = "nothing" if content is None else type(content).__name__
        raise ConfigError(f"{source}: expected a mapping with at least 'corpus' and 'dataset', got {got}")
    if _is_deeper(cast("object", content), _DEEPEST):
        raise ConfigError(f"{source}: nested too deeply; expected at most {_DEEPEST} levels")
    if not _OF_DATASETS.isdisjoint(content) and {"corpus", "dataset"}.isdisjoint(content):
        raise ConfigError(
            f"{source}: this is a dataset, not a configuration; name it by `dataset:` in one, or --dataset"
        )
    try:
        return ConfigFile.model_validate(content)
    except ValidationError as error:
        items, named = error.errors(), options or {}
        names = [named.get(str(item["loc"][0])) if item["loc"] else None for item in items]
        places: dict[str, list[ErrorDetails]] = {}
        for name, item in zip(names, items, strict=True):
            places.setdefault(name or _path(item["loc"]), []).append(item)
        where = "" if all(names) else f"{source}: "
        around = {place.rpartition("[")[0] for place in places}  # what is wrong inside of them says more
        problems = _keys_once(
            f"{place}: {_message(alternatives)}" for place, alternatives in places.items() if place not in around
        )
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise ConfigError(f"{where}{'; '.join(problems[:_MOST_PROBLEMS])}{more}") from error


def _is_deeper(content: object, most: int) -> bool:
    """Return whether a value has more levels than these, which what walks through it may not bear."""
    level: list[Any] = [content]
    for _ in range(most):
        nested = (
            value.values() if is_object(value) else value for value in level if is_object(value) or is_list(value)
        )
        level = [*chain.from_iterable(nested)]
    return bool(level)


def _path(location: tuple[int | str, ...]) -> str:
    """Return the path of a value in the file, such as `$.metrics[0]`.

    Only the first key and the indices belong to the file; other parts of the location name alternatives of its type.
    """
    return ".".join(("$", *map(str, location[:1]))) + "".join(
        f"[{part}]" for part in location[1:] if isinstance(part, int)
    )


_TYPES = {
    "int_type": "a whole number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
}
"""What values of these types are called, by the type of the error that another one makes."""


_KEYS = f"; there are {', '.join(ConfigFile.model_fields)}"


def _keys_once(problems: Iterable[str]) -> list[str]:
    """Return problems of which only the first that tells which keys there are does."""
    listed = list(problems)
    first = next((number for number, problem in enumerate(listed) if problem.endswith(_KEYS)), 0)
    return [problem if number == first else problem.removesuffix(_KEYS) for number, problem in enumerate(listed)]


def _message(alternatives: list[ErrorDetails]) -> str:
    """Return what is wrong with a value, which each of the types that it may have refuses."""
    item = alternatives[0]
    if item["type"] == "extra_forbidden":
        near = get_close_matches(str(item["loc"][0]).lower(), ConfigFile.model_fields, n=1, cutoff=_NEAR)
        return f"unknown key; did you mean {near[0]}?" if near else f"unknown key{_KEYS}"
    types = [_TYPES[kind["type"]] for kind in alternatives if kind["type"] in _TYPES]
    message = f"expected {' or '.join(types)}" if types else item["msg"][0].lower() + item["msg"][1:]
    return message if item["type"] == "missing" else f"{message}, got {shown(item['input'], 60)}"
