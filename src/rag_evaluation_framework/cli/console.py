"""The console that the commands print to."""

from typing import Any

from rich.console import Console

_LITERAL: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}  # texts are printed as they are


def stdout() -> Console:
    """Return the console of standard output; without a terminal, it is at least 120 columns wide."""
    console = Console(**_LITERAL)
    return console if console.is_terminal else Console(width=max(console.width, 120), **_LITERAL)
