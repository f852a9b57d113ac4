"""Paths that are given as options and arguments."""

from pathlib import Path
from typing import Annotated

import typer

from rag_evaluation_framework import data
from rag_evaluation_framework.base.files import from_home


def path(given: str) -> Path:
    """Read a path; in `--root=~/runs`, which a shell leaves as it is, `~` is the folder of the user.

    Raises:
        typer.BadParameter: It is empty.
    """
    if not str(given):
        raise typer.BadParameter("is empty; expected a path, such as . for the working folder")
    return Path(from_home(given))


DEFAULT_GLOB = "**/*.md"
Glob = Annotated[
    list[str] | None, typer.Option(help=f"Which files of the folder to read; by default {DEFAULT_GLOB}; repeatable.")
]
Chunks = Annotated[
    Path | None, typer.Option(parser=path, help="The chunks that labels name, as ChunkRegistry.save writes them.")
]


def pattern(given: list[str] | None) -> str:
    """Return the pattern of all files that any `--glob` matches, or the default.

    Raises:
        CorpusError: They cannot be one pattern.
    """
    return data.one_pattern(given) if given else DEFAULT_GLOB
