"""Text of any length in a terminal: its lines begin below each other, whatever stands before the first."""

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import one_line

_LONGEST = 160  # characters of a text


def print_wrapped(console: Console, text: str | Text, indent: int, before: str = "", style: str = "") -> None:
    """Print a text, wrapped where the console ends.

    Args:
        console: Where to print.
        text: The text.
        indent: In which column its lines begin.
        before: What stands before it on its first line.
        style: The style of that.
    """
    written = text if isinstance(text, Text) else Text(text)
    for number, line in enumerate(written.wrap(console, max(console.width - indent, 1))):
        whole = Text.assemble((f"{'' if number else before:<{indent}}", style), line)
        whole.rstrip()
        console.print(whole)


def quoted(text: str) -> str:
    """Return a text in quotation marks, on one line; of a long one the first 160 characters."""
    return f"“{shortened(one_line(text))}”"


def shortened(line: str) -> str:
    """Return a line; of a long one the first 160 characters."""
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
