"""The file of the dataset that a command is about: read whatever its format and level, and written anew."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import rag_evaluation_framework as rag
from rag_evaluation_framework._support.files import published
from rag_evaluation_framework._support.unfinished import unfinished
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch


def chunks_of(path: Path | None) -> rag.ChunkRegistry | None:
    """Return the chunks of a file, if there is one."""
    return None if path is None else rag.ChunkRegistry.load(path)


def read_dataset(path: Path, corpus: rag.Corpus | None, registry: rag.ChunkRegistry | None) -> rag.Dataset[Any]:
    """Return a dataset as its file has it: labels that contradict the documents are not refused.

    Raises:
        ConfigError: It can only be read with its documents, and there are none.
        DatasetError: It cannot be read.
    """
    try:
        return _of_any_level(path, None, registry)
    except DatasetError:
        if corpus is None and path.suffix.lower() in (".csv", ".tsv"):
            raise ConfigError(
                f"{path}: quotes have to be located in the documents; give --corpus FOLDER, and --glob if they are "
                "not Markdown"
            ) from None
        if corpus is None:
            raise
    return _of_any_level(path, corpus, registry)


def _of_any_level(path: Path, corpus: rag.Corpus | None, registry: rag.ChunkRegistry | None) -> rag.Dataset[Any]:
    for level in (rag.TOKEN, rag.CHUNK):
        with suppress(LevelMismatch):
            return rag.load_dataset(path, level, corpus=corpus, registry=registry)
    return rag.load_dataset(path, rag.DOCUMENT, corpus=corpus, registry=registry)


def write_dataset(updated: rag.Dataset[Any], dataset: Path, output: Path | None = None) -> str:
    """Save the dataset, in place of the one that is kept beside it if there is no other name; return what was done.

    Of a symbolic link the file that it leads to is replaced, and kept beside that one. Its mode stays.
    """
    if output is not None:
        rag.save_dataset(updated, output)
        return f"Wrote {output}"
    try:
        file = dataset.resolve(strict=True) if dataset.is_symlink() else dataset
        with unfinished(file.parent) as folder:
            part = rag.save_dataset(updated, folder / dataset.name)
            if part.read_bytes() == file.read_bytes():
                return f"{dataset} is as it was"
            shutil.copymode(file, part)
            copy = folder / "kept"
            shutil.copy(file, copy)
            numbered = (file.with_name(f"{file.stem}.{number}{file.suffix}") for number in count(1))
            kept = next(name for name in numbered if published(copy, name))
            part.replace(file)
    except OSError as error:
        advice = "`rag-eval dataset update --output NEW.json` writes another file"
        raise DatasetError(f"{dataset}: cannot be replaced ({error.strerror}); {advice}") from error
    return f"Wrote {dataset}; the earlier version is {kept}"
