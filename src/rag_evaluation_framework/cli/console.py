"""Where the commands print, and where they write."""

import os
from pathlib import Path

from rich.console import Console

from rag_evaluation_framework.errors import ConfigError


def stdout() -> Console:
    """Return the console of standard output; without a terminal it is wide enough for any table."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 120))


def check_root(root: Path) -> None:
    """Raise ConfigError if nothing can be written there: better before the work than after it."""
    place = next(path for path in (root, *root.absolute().parents) if path.exists())
    if not place.is_dir():
        raise ConfigError(f"--root {root}: {place} is a file; choose another folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise ConfigError(f"--root {root}: {place} cannot be written to; choose another folder with --root")
