"""Pages in a terminal of any width, with colours or without; outside text is printed literally."""

import io
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from . import blocks
from .blocks import Block, Chart, Lines, Page, Part, Passage, Passages, Role, Table, axis, drawn, pieces

_STYLES: Mapping[Role, str] = {
    "": "",
    "verdict": "bold",
    "good": "green",
    "bad": "bold red",
    "warning": "yellow",
    "muted": "dim",
    "label": "bold",
    "place": "cyan",
    "found": "bold green",
    "missed": "bold red",
    "read": "",
    "word": "bold yellow",
}
_RELEVANT = {_STYLES[role] for role in ("found", "missed", "good", "bad")}
_SIGN = "  ┃ "  # before the lines that hold relevant text, as not every terminal shows bold and colours
_INDENT = 4  # of passages
_WIDTH, _NARROWEST = 100, 60
_BAR = (13, 33)  # characters of a drawn number, at least and at most; odd, so that 0 is in the middle
_EDGES, _GAP = 2, 2  # characters that SIMPLE_HEAD adds around all columns, and between two
_LONGEST_WORDS = 32  # characters that a column of words gets, also beside numbers that need the room


Column = list[Text]
"""A column of a table: its header, of one or several lines, and a text per row."""


def _wide(column: Column) -> int:
    """Return the width of the widest line of a column, in terminal cells."""
    return max((line.cell_len for text in column for line in text.split("\n")), default=0)


def rendered(page: Page, width: int | None = None) -> str:
    """Return a page as a terminal without colours shows it.

    Args:
        page: The page.
        width: How wide it is; by default as the terminal.
    """
    wide = shutil.get_terminal_size((_WIDTH, 24)).columns if width is None else width
    file = io.StringIO()
    console = Console(
        file=file,
        width=max(wide, _NARROWEST),
        markup=False,
        emoji=False,
        highlight=False,
        color_system=None,
        force_jupyter=False,  # which would show it there and then
    )
    show(console, page)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def show(console: Console, block: Block) -> None:
    """Print a page, or a block of one."""
    block = block.table if isinstance(block, Chart) else block
    if block.title:
        aside = f" {block.aside}" if isinstance(block, Page) and block.aside else ""
        print_wrapped(console, Text.assemble((block.title, "bold"), (aside, "dim")), 0)
    if isinstance(block, Page):
        is_apart = False
        for inner in filter(blocks.is_shown, block.blocks):
            if inner.title and not is_apart:
                console.print()
            is_apart = isinstance(inner, Table | Chart)  # whose last line is empty
            show(console, inner)
    elif isinstance(block, Lines):
        for line in block.lines:
            print_wrapped(console, _text(console, line.parts), line.indent, line.before, _STYLES[line.role])
    elif isinstance(block, Table):
        _show_table(console, block)
    else:
        _show_passages(console, block)


def _show_table(console: Console, table: Table) -> None:
    """Print a table, in as many below each other as the width of the console requires.

    Words are repeated in each, and wrap if they are long. Headers and numbers are never cut. If they do not fit,
    headers are broken where a name can be; if not even one column fits, lines are longer than the console.
    """
    for told in table.lines:
        print_wrapped(console, Text(told, "dim"), 0)
    for broken in (False, True):
        words, numbers = _columns(table, broken=broken)
        room = console.width - _EDGES - sum(min(_wide(column), _LONGEST_WORDS) + _GAP for column in words)
        spare = room - sum(_wide(column) + _GAP for column in numbers)
        if spare >= 0:
            break
    if any(table.bars) and spare >= _BAR[0]:
        width, plain = min(spare, _BAR[1]), console.options.ascii_only
        bars = (Text(drawn(bar, table.scale, width, plain=plain), justify="left") for bar in table.bars)
        numbers.append([Text(axis(table.scale, width), "dim", justify="left"), *bars])
    if not numbers:
        for row in [*zip(*words, strict=True)][1:]:
            print_wrapped(console, Text("  ").join(row), 2)
    while numbers:
        count, taken = 1, _wide(numbers[0])
        while count < len(numbers) and taken + _GAP + _wide(numbers[count]) <= room:
            taken, count = taken + _GAP + _wide(numbers[count]), count + 1
        console.print(_grid(words, numbers[:count], max(room - taken - _GAP, 0)), crop=False)
        numbers = numbers[count:]


def _columns(table: Table, *, broken: bool) -> tuple[list[Column], list[Column]]:
    """Return the columns of words and those of numbers; a header is one line, or broken where a name can be."""
    columns: list[Column] = []
    for at, name in enumerate(table.header):
        header = Text(name)
        if broken:  # in lines no wider than the longest part of its name and the numbers below it
            width = max(map(cell_len, (*pieces(name), *(row[at] for row in table.rows))))
            header = Text("\n").join(wrapped(header, max(width, 1)))
        cells = [Text(row[at], _STYLES[table.roles.get((number, at), "")]) for number, row in enumerate(table.rows)]
        columns.append([header, *cells])
    return columns[: table.words], columns[table.words :]


def _grid(words: Sequence[Column], numbers: Sequence[Column], spare: int) -> Grid:
    """Return columns side by side; long words get the room that is to spare, and lines that end where a name can."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    cells: list[Sequence[Text]] = []
    for header, *texts in words:
        wide = _wide([header, *texts])
        least = min(wide, _LONGEST_WORDS)
        width = min(wide, least + spare)
        spare -= width - least
        grid.add_column(header, vertical="top", min_width=width, overflow="fold")
        cells.append([text if text.cell_len <= width else Text("\n").join(_lines(text, width)) for text in texts])
    for column in numbers:
        grid.add_column(column[0], justify="right", vertical="top", no_wrap=True, min_width=_wide(column))
        cells.append(column[1:])
    for row in zip(*cells, strict=True):
        grid.add_row(*row)
    return grid


def _lines(text: Text, width: int) -> Iterator[Text]:
    for line in wrapped(text, width):
        line.rstrip()
        yield line


def _show_passages(console: Console, block: Passages) -> None:
    for passage in block.passages:
        label, where, note = passage.label, passage.where, passage.note
        if where or note:
            head = Text.assemble((where, "cyan"), (", " if where and note else "", "dim"), (note, "dim"))
            if len(label) >= _INDENT:  # an id
                head, label = Text.assemble((label, "bold"), " ", head), ""
            print_wrapped(console, head, _INDENT, label, "bold")
            label = ""
        if block.around is block.rows is None:
            print_wrapped(console, _text(console, blocks.shortened(passage)), _INDENT, label, "bold")
        elif passage.parts:
            _show_in_lines(console, passage, label, block)


def _show_in_lines(console: Console, passage: Passage, label: str, block: Passages) -> None:
    """Print a passage in the lines of its document, a sign before those with relevant text; what is far away is not."""
    lines = [*wrapped(_text(console, passage.parts), max(console.width - _INDENT, 1))]
    relevant = [at for at, line in enumerate(lines) if any(span.style in _RELEVANT for span in line.spans)]
    first, last = (relevant[0], relevant[-1] + 1) if relevant else (0, 0)
    around = (block.around or 0) if block.rows is None else max((block.rows - last + first) // 2, 1)
    above = [line for line in lines[:first] if line.plain.strip()][-around:]
    below = [line for line in lines[last:] if line.plain.strip()][: around if relevant else None]
    signs = [*[""] * len(above), *[_SIGN] * (last - first), *[""] * len(below)]
    for sign, line in zip(signs, (*above, *lines[first:last], *below), strict=True):
        before = (f"{sign:<{_INDENT}}", "green") if sign else f"{label:<{_INDENT}}"
        whole, label = Text.assemble(before, line), ""
        whole.rstrip()
        console.print(whole)


def _text(console: Console, parts: Sequence[Part]) -> Text:
    """Return parts with their styles; without colours, what is marked is between » and «."""
    coloured = console.is_terminal and not console.no_color and console.color_system is not None
    text = Text()
    for part in parts:
        before, after = ("", "") if coloured or console.options.ascii_only else blocks.MARKED.get(part.role, ("", ""))
        text.append(f"{before}{part.text}{after}", _STYLES[part.role])
    return text


# Text of any length: its lines begin below each other, whatever stands before the first.

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
    lines = wrapped(Text(text) if isinstance(text, str) else text, max(console.width - indent, 1))
    for number, line in enumerate(lines):
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
