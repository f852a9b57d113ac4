"""The console that the commands print to."""

from rich.console import Console


def stdout() -> Console:
    """Return the console of standard output; without a terminal, it is at least 120 columns wide."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 120))
