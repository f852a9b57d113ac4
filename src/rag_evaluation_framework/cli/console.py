"""The console that the commands print to."""

import os
from typing import Any

from rich.console import Console

_LITERAL: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}  # texts are printed as they are


def stdout() -> Console:
    """Return the console of standard output; without a terminal it is 120 columns wide, or as `COLUMNS` says."""
    console = Console(**_LITERAL)
    return console if console.is_terminal or os.environ.get("COLUMNS") else Console(width=120, **_LITERAL)
