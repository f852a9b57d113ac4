"""Where the commands print."""

from rich.console import Console


def stdout() -> Console:
    """Return the console of standard output; without a terminal it is wide enough for any table."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 120))
