"""Paths that are given as options and arguments."""

from pathlib import Path

import typer

from rag_evaluation_framework._support.files import from_home


def path(given: str) -> Path:
    """Read a path; in `--root=~/runs`, which a shell leaves as it is, `~` is the folder of the user.

    Raises:
        typer.BadParameter: It is empty.
    """
    if not str(given):
        raise typer.BadParameter("is empty; expected a path, such as . for the working folder")
    return Path(from_home(given))
