"""Reading the dataset that a command is about, whatever its format and level."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import rag_evaluation_framework as rag
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
