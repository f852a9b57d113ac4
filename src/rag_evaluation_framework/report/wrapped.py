"""Text of any length in a terminal: its lines begin below each other, whatever stands before the first."""

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.report.page import pieces

_LONGEST = 160  # characters of a text
_SHORT = 3  # characters, such as a number, beside which a long word begins


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
    for number, line in enumerate(wrapped(written, max(console.width - indent, 1))):
        whole = Text.assemble((f"{'' if number else before:<{indent}}", style), line)
        whole.rstrip()
        console.print(whole)


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Yield the lines of a text; a word that is longer than a line is broken where a name can be, else anywhere."""
    for paragraph in text.split(allow_blank=True):
        yield from paragraph.divide(_breaks(paragraph.plain, width))


def _breaks(text: str, width: int) -> Iterator[int]:
    taken = 0
    for word in re.finditer(r"\s*\S+\s*", text):
        at, is_long = word.start(), cell_len(word[0].rstrip()) > width
        for piece in pieces(word[0]) if is_long else [word[0]]:
            for part in chop_cells(piece, width) if cell_len(piece.rstrip()) > width else [piece]:
                begins_long = is_long and at == word.start() and taken > _SHORT
                if at and (taken + cell_len(part.rstrip()) > width or begins_long):
                    yield at
                    taken = 0
                at, taken = at + len(part), taken + cell_len(part)


def quoted(text: str) -> str:
    """Return a text in quotation marks, on one line; of a long one the first 160 characters."""
    return f"“{shortened(one_line(text))}”"


def shortened(line: str) -> str:
    """Return a line; of a long one the first 160 characters."""
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
