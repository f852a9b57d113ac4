"""Paths that are given as options and arguments, and the documents below them."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, report
from rag_evaluation_framework.base.files import checked_path, from_home
from rag_evaluation_framework.cli.output import option
from rag_evaluation_framework.errors import ConfigError


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
DEFAULT_GLOB = "**/*.md"
Glob = Annotated[
    list[str] | None, typer.Option(help=f"Which files of the folder to read; by default {DEFAULT_GLOB}; repeatable.")
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


def pattern(given: list[str] | None) -> str:
    """Return the pattern of all files that any `--glob` matches, or the default.

    Raises:
        CorpusError: They cannot be one pattern.
    """
    return data.one_pattern(given) if given else DEFAULT_GLOB


def left_out(documents: rag.Corpus, corpus: Path, glob: str) -> str:
    """Return a line about the text files of a folder that the default pattern does not match; "" if there are none."""
    counts = data.texts_left_out(documents, corpus) if glob == DEFAULT_GLOB else {}
    return report.unread_text(counts, shlex.quote(data.pattern_of([".md", *counts]))) if counts else ""


def options_of(corpus: Path | None, glob: str) -> list[str]:
    """Return the options of a command that reads the same documents; none without any."""
    pattern = None if corpus is None or glob == DEFAULT_GLOB else glob
    return [*option("--corpus", corpus), *option("--glob", pattern)]
