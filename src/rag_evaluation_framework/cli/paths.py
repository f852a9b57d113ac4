"""Paths that are given as options and arguments, and the documents below them."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path

import typer

import rag_evaluation_framework as rag

from .. import runs
from ..base.files import checked_path, from_home
from ..errors import ConfigError

PAGE = (".html", ".htm")


def path(given: str) -> Path:
    """Read a path; in `--root=~/runs`, which a shell leaves as it is, `~` is the folder of the user.

    Raises:
        typer.BadParameter: It is empty.
    """
    if not str(given):
        raise typer.BadParameter("is empty; expected a path, such as . for the working folder")
    return Path(from_home(given))


def check_new(option: str, path: Path | None, *endings: str) -> None:
    """Raise ConfigError if the new file that an option names is there already, or has none of these endings."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise ConfigError(f"{option} {path}: expected a file name ending in {' or '.join(endings)}")
    if checked_path(path, ConfigError).exists():
        raise ConfigError(f"{option} {path} already exists and is not overwritten; choose another name, or move it")


def one_or_all(given: list[str] | None) -> str | list[str] | None:
    """Return patterns as a configuration has them: a single one is a text."""
    return given[0] if given and len(given) == 1 else given or None


def is_configuration(corpus: Path) -> bool:
    """Return whether a path of documents is a configuration that names them."""
    return corpus.suffix in (".yaml", ".yml") and not corpus.is_dir()


def documents(corpus: Path) -> rag.Corpus:
    """Return the documents of a folder or file, or those that a configuration names, read as it says.

    Raises:
        InputError: They cannot be read.
    """
    if not is_configuration(corpus):
        return rag.Corpus.of(corpus)
    found = runs.load_config(corpus).documents(corpus.parent)
    if found is None:
        raise ConfigError(f"--corpus {corpus}: expected a configuration that names documents")
    return found
