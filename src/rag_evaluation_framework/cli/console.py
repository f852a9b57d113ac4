"""Where the commands print, and where they write."""

from pathlib import Path

from rich.console import Console

from rag_evaluation_framework.errors import ConfigError


def stdout() -> Console:
    """Return the console of standard output; without a terminal it is wide enough for any table."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 120))


def check_root(root: Path) -> None:
    """Raise ConfigError if a folder of that name cannot be: better before the work than after it."""
    for path in (root, *root.parents):
        if path.exists():
            if not path.is_dir():
                raise ConfigError(f"--root {root}: {path} is a file; choose another folder")
            return
