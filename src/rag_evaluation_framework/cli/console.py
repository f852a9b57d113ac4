"""The console that the commands print to."""

import os
from typing import Any

from rich.console import Console

_LITERAL: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}  # texts are printed as they are


def stdout() -> Console:
    """Return the console of standard output; without a terminal and `COLUMNS`, it is at least 120 columns wide."""
    console = Console(**_LITERAL)
    told = console.is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return console if told else Console(width=max(console.width, 120), **_LITERAL)
