"""Tables of numbers for terminals of any width: columns that do not fit continue in a table below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rag_evaluation_framework.report.wrapped import wrapped

_EDGES, _GAP = 2, 2  # characters that SIMPLE_HEAD adds around all columns, and between two
_LONGEST_WORDS = 32  # characters that a column of words gets, also beside numbers that need the room


@dataclass(frozen=True)
class Column:
    """Column of a table.

    Attributes:
        header: Its header, of one or several lines.
        cells: One text per row.
        justify: Where they stand, among numbers.
    """

    header: Text
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"

    @property
    def width(self) -> int:
        """The width of its widest line, in terminal cells."""
        return max((line.cell_len for text in (self.header, *self.cells) for line in text.split("\n")), default=0)


def show_table(console: Console, words: Sequence[Column], numbers: Sequence[Column]) -> None:
    """Print columns of numbers beside columns of words, in as many tables as the width of the console requires.

    Words are repeated in every table, and wrap if they are long. Headers and numbers are never cut: if not even one
    column fits, lines are longer than the console.

    Args:
        console: Where to print.
        words: The columns on the left.
        numbers: The columns on the right; at least one.
    """
    room = _room(console, words)
    for part in side_by_side([column.width for column in numbers], room, _GAP):
        console.print(_table(console, words, numbers[part]), crop=False)


def room_beside(console: Console, words: Sequence[Column], numbers: Sequence[Column]) -> int:
    """Return how wide one more column can be beside others; below 0 if they do not fit themselves."""
    return _room(console, words) - sum(column.width + _GAP for column in numbers)


def _room(console: Console, words: Sequence[Column]) -> int:
    return console.width - _EDGES - sum(min(column.width, _LONGEST_WORDS) + _GAP for column in words)


def side_by_side(widths: Sequence[int], room: int, gap: int) -> Iterator[slice]:
    """Yield slices of columns that fit side by side, in order: as many as fit, and at least one.

    Args:
        widths: The width of each column.
        room: The total width available.
        gap: The width between two columns.
    """
    begin = taken = 0
    for number, width in enumerate(widths):
        if number > begin and taken + gap + width > room:
            yield slice(begin, number)
            begin, taken = number, 0
        taken += width + (gap if number > begin else 0)
    yield slice(begin, len(widths))


def _table(console: Console, words: Sequence[Column], numbers: Sequence[Column]) -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    spare = max(room_beside(console, words, numbers), 0)
    cells: list[Sequence[Text]] = []
    for column in words:
        least = min(column.width, _LONGEST_WORDS)
        width = min(column.width, least + spare)
        spare -= width - least
        grid.add_column(column.header, vertical="top", min_width=width, overflow="fold")
        cells.append([_in_lines(text, width) if text.cell_len > width else text for text in column.cells])
    for column in numbers:
        grid.add_column(column.header, justify=column.justify, vertical="top", no_wrap=True, min_width=column.width)
    for row in zip(*cells, *(column.cells for column in numbers), strict=True):
        grid.add_row(*row)
    return grid


def _in_lines(text: Text, width: int) -> Text:
    """Return a text in lines that end where a name can be broken."""
    lines = [*wrapped(text, width)]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)
