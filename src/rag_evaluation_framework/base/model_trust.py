"""Model folders are data: what would run code of theirs, under any version of the libraries, is refused beforehand.

Up to version 5, sentence-transformers imports a `.py` file of a *local* folder even with `trust_remote_code=False`, if
`modules.json` names a class in it; and pickled weights are programs. So a folder is checked before a library sees it.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import ConfigError
from .files import checked_path, is_list, is_object, read_bytes
from .optional import missing_extras, require
from .outside import shown

_LARGEST = 200_000_000  # bytes of a JSON file; vocabularies have some ten million
_PICKLED = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"})
_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_PICKLED_WEIGHTS = "pytorch_model.bin"
_MODULE = re.compile(r"sentence_transformers(\.\w+)*\.[A-Z]\w*")
_CLASS = re.compile(r"(sentence_transformers|torch\.nn)(\.\w+)*\.[A-Z]\w*|\w+")
_ALLOWED = {
    **dict.fromkeys(("activation_fn", "activation_function", "sbert_ce_default_activation_function"), _CLASS),
    **dict.fromkeys(("tokenizer_class", "types"), _CLASS),
    **dict.fromkeys(
        ("attn_implementation", "_attn_implementation", "_attn_implementation_internal"), re.compile("[^/]*")
    ),
    "auto_map": re.compile("(?!)"),  # nothing
}
"""What the names may be that a key holds, itself or for each part of a model."""
_OUTSIDE = re.compile(r"[/\\]|\w:|(.*[/\\])?\.\.([/\\]|$)")


def load_model(library_class: Any, folder: Path) -> Any:
    """Return a class of sentence-transformers made from a model folder, which was checked first.

    Raises:
        ConfigError: The folder would run code of its own.
    """
    check_model_folder(folder)
    return library_class(
        str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
    )


def check_model_folder(folder: Path) -> None:
    """Raise ConfigError if loading a model folder could run code of its own, or follow it elsewhere.

    Refused are classes of modules that are not of the libraries, `auto_map`, `trust_remote_code`, adapters (their base
    model is elsewhere), code of the Hugging Face Hub as attention, pickled weights without safetensors beside them,
    shards that are not safetensors, JSON that cannot be read, and folders that are symbolic links. A `.py` file that
    nothing names is never run, and does no harm.
    """
    for where, folders, names in os.walk(checked_path(folder, ConfigError)):
        here = Path(where)
        for name in folders:
            if (here / name).is_symlink():
                raise _refusal(here / name, "is a symbolic link to another folder; expected the folder itself")
        unsafe = _read_as_pickles(here, names)
        if unsafe:
            raise _refusal(
                here / unsafe[0],
                "is pickled, which can run code when it is loaded; expected model.safetensors beside it. If you trust "
                "the file, load the model with its own library and save it anew with "
                "save_pretrained(folder, safe_serialization=True)",
            )
        for name in names:
            if name.lower() == "adapter_config.json":
                raise _refusal(here / name, "is of an adapter, whose base model is elsewhere; expected a merged model")
            if name.lower().endswith(".json"):
                _check_json(here / name)


def _read_as_pickles(folder: Path, names: list[str]) -> list[str]:
    """Return the pickled files of a folder that a library could read, as nothing safe is there to be read instead."""
    pickled = sorted(name for name in names if PurePosixPath(name).suffix.lower() in _PICKLED)
    if not pickled or (folder / _WEIGHTS).is_file():
        return []
    index = folder / _INDEX
    if not index.is_file() or not all((folder / shard).is_file() for shard in _shards(index, _json(index))):
        return pickled
    # transformers reads the shards; the other modules of sentence-transformers know no index, and would read this one
    return [name for name in pickled if name.lower() == _PICKLED_WEIGHTS]


def _shards(index: Path, content: Any) -> set[str]:
    """Return the files that an index of weights lists, which have to be safetensors below its folder."""
    shards: Any = content.get("weight_map") if is_object(content) else None
    if not is_object(shards) or not shards:
        raise _refusal(index, f"key 'weight_map': got {shown(shards)}; expected parameters and the file of each")
    for shard in shards.values():
        if not isinstance(shard, str) or not shard.endswith(".safetensors") or _OUTSIDE.match(shard):
            raise _refusal(index, f"key 'weight_map': got {shown(shard)}; expected a .safetensors file of this folder")
    return set(shards.values())


def in_hub_cache(repository: str, needed_by: str) -> Path | None:
    """Return the folder of a repository in the local cache of Hugging Face, or None; nothing is downloaded."""
    if missing_extras({"huggingface_hub": "sentence-transformers"}):
        return None
    hub = require("huggingface_hub", extra="sentence-transformers", needed_by=needed_by)
    try:
        return Path(hub.snapshot_download(repository, local_files_only=True))
    except (OSError, ValueError):  # not in the cache, or not a possible name of a repository
        return None


def _json(path: Path) -> Any:
    content = read_bytes(path, ConfigError, most=_LARGEST, remedy="expected the settings of a model")
    try:
        return json.loads(content)
    except RecursionError as error:
        raise _refusal(path, "is nested too deeply; expected the settings of a model") from error
    except ValueError as error:  # a library may read what we cannot, in the encoding of the machine
        raise _refusal(path, f"is not JSON ({error}); expected JSON in UTF-8") from error


def _check_json(path: Path) -> None:
    content = _json(path)
    if path.name.lower().endswith(".safetensors.index.json"):
        _shards(path, content)
    if path.name.lower() == "modules.json":
        for module in content if is_list(content) else [content]:
            _check_module(path, module if is_object(module) else {})
    for key, value in _entries(content):
        _check_entry(path, key, value)


def _check_module(path: Path, module: dict[Any, Any]) -> None:
    kind, place = module.get("type"), module.get("path", "")
    if not isinstance(kind, str) or not _MODULE.fullmatch(kind):
        raise _refusal(path, f"key 'type': got {shown(kind)}; expected a class of sentence_transformers")
    if not isinstance(place, str) or _OUTSIDE.match(place):
        raise _refusal(path, f"key 'path': got {shown(place)}; expected a folder within that of the model")


def _check_entry(path: Path, key: str, value: Any) -> None:
    if key == "trust_remote_code" and value is not False:
        raise _refusal(path, f"key 'trust_remote_code': got {shown(value)}; expected false, or nothing")
    if key not in _ALLOWED or (isinstance(value, int | float) and not isinstance(value, bool)):
        return  # in a vocabulary any other key can be a token, with its number
    for name in value.values() if is_object(value) else [value]:
        if name is not None and not (isinstance(name, str) and _ALLOWED[key].fullmatch(name)):
            raise _refusal(path, f"key {key!r}: got {shown(name)}; expected the name of what a library brings")


def _entries(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key of nested objects with its value."""
    waiting: list[Any] = [content]
    while waiting:
        value: Any = waiting.pop()
        if is_object(value):
            yield from value.items()
        waiting += value.values() if is_object(value) else value if is_list(value) else ()


def _refusal(path: Path, problem: str) -> ConfigError:
    return ConfigError(f"model {path.parent}: {path.name}: {problem}. Model folders never run code")
