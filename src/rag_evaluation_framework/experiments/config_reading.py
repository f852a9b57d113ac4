"""Reading configuration files: runs in YAML or JSON, parsed and validated."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from rag_evaluation_framework._support.files import checked_path, is_list, is_object, read_text
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework._support.strict_yaml import parse_yaml
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments.settings import refusals
from rag_evaluation_framework.experiments.spec import RunSpec

_LARGEST = 300_000  # bytes; YAML of this size takes some 6 s to read
_DEEPEST = 50  # levels: enough for every pipeline, and few enough for whatever walks through it
_OF_DATASETS = frozenset({"questions", "queries"})


def load_config(path: str | Path) -> RunSpec:
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


def parse_config(content: Any, source: str, options: Mapping[str, str] | None = None) -> RunSpec:
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
        return RunSpec.model_validate(content)
    except ValidationError as error:
        named = options or {}
        keys = [str(item["loc"][0]) if item["loc"] else "" for item in error.errors()]
        problems = refusals(error, RunSpec, lambda *at: named.get(str(at[0])) or _path(at) if at else "$")
        where = "" if all(key in named for key in keys) else f"{source}: "
        raise ConfigError(f"{where}{'; '.join(problems)}") from error


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
