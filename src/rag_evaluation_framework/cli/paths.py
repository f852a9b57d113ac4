"""Paths that are given as options and arguments, and the documents below them."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag

from .. import runs
from ..base.files import checked_path, from_home
from ..errors import ConfigError
from .output import option


def path(given: str) -> Path:
    """Read a path; in `--root=~/runs`, which a shell leaves as it is, `~` is the folder of the user.

    Raises:
        typer.BadParameter: It is empty.
    """
    if not str(given):
        raise typer.BadParameter("is empty; expected a path, such as . for the working folder")
    return Path(from_home(given))


PathOption = partial(typer.Option, parser=path)
PathArgument = partial(typer.Argument, parser=path)
Glob = Annotated[
    list[str] | None,
    typer.Option(help="Which files of the folder to read; by default every kind that is read; repeatable."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Which files not to read; a name without a slash means all folders; repeatable."),
]
Html = Annotated[
    Path | None, PathOption(help="Also write it as a page: every quote or label, marked in its passage, weakest first.")
]
Chunks = Annotated[Path | None, PathOption(help="The chunks that labels name, as ChunkRegistry.save writes them.")]


def new_file(name: str, path: Path) -> Path:
    """Return the path of a file that an option names, to be written: raises ConfigError if it is there."""
    if checked_path(path, ConfigError).exists():
        raise ConfigError(f"{name} {path} already exists and is not overwritten; choose another name, or move it")
    return path


def new_page(name: str, path: Path, *others: str) -> Path:
    """Return the path of a page that an option names, to be written: raises ConfigError if it is no name of one.

    Args:
        name: The option.
        path: The path.
        others: Endings of names that it may have beside those of HTML.
    """
    if path.suffix.lower() not in (".html", ".htm", *others):
        or_others = "".join(f", or one that ends in {ending}" for ending in others)
        named = f"such as {path.stem or 'page'}.html"
        raise ConfigError(f"{name} {path}: expected the name of an HTML file, {named}{or_others}")
    return new_file(name, path)


def one_or_all(given: list[str] | None) -> str | list[str] | None:
    """Return patterns as a configuration has them: a single one is a text."""
    return given[0] if given and len(given) == 1 else given or None


def is_configuration(corpus: Path) -> bool:
    """Return whether a path of documents is a configuration that names them."""
    return corpus.suffix in (".yaml", ".yml") and not corpus.is_dir()


def documents(
    corpus: Path, glob: list[str] | None = None, exclude: list[str] | None = None, *, imports: bool = True
) -> rag.Corpus:
    """Return the documents of a folder or file, or those that a configuration names, read as it says.

    Raises:
        InputError: They cannot be read.
    """
    if not is_configuration(corpus):
        return rag.Corpus.of(corpus, glob=one_or_all(glob), exclude=exclude or ())
    found = runs.load_config(corpus).documents(corpus.parent, imports=imports)
    if found is None or glob or exclude:
        raise ConfigError(
            f"--corpus {corpus}: expected a configuration that names documents, and no --glob and --exclude"
        )
    return found


def options_of(corpus: Path | None, glob: list[str] | None, exclude: list[str] | None) -> list[str]:
    """Return the options of a command that reads the same documents; none without any."""
    return [
        *option("--corpus", corpus),
        *(text for pattern in glob or () for text in option("--glob", pattern)),
        *(text for pattern in exclude or () for text in option("--exclude", pattern)),
    ]
