"""The tables of pages as LaTeX, for a paper: what comes from outside is escaped, and never taken for its notation."""

import re
from collections.abc import Iterator, Sequence

from .blocks import Chart, Page, Table

_SIGN = re.compile(r"[\\{}$&#%_^~]")
_WORDS = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
"""Signs for which a backslash before them would mean something else."""


def rendered(page: Page) -> str:
    """Return the tables of a page, those of pages inside of it and of charts included; "" if it has none."""
    return "\n".join(line for title, table in _tables(page) for line in _table(title, table))


def _tables(page: Page) -> Iterator[tuple[str, Table]]:
    """Yield the tables of a page, each with the title of the page that it is in."""
    for block in page.blocks:
        if isinstance(block, Page):
            yield from _tables(block)
        elif isinstance(block, Chart | Table):
            yield page.title, block.table if isinstance(block, Chart) else block


def _table(title: str, table: Table) -> Iterator[str]:
    """Yield the lines of a table; bars are not drawn."""
    yield r"\begin{table}"
    yield r"\centering"
    if caption := ". ".join(filter(None, (title, table.title, *table.lines))):
        yield rf"\caption{{{_escaped(caption)}}}"
    yield rf"\begin{{tabular}}{{{'l' * table.words}{'r' * (len(table.header) - table.words)}}}"
    yield r"\toprule"
    yield _row(table.header)
    yield r"\midrule"
    yield from map(_row, table.rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"
    yield ""


def _row(cells: Sequence[str]) -> str:
    """Return a row; `{}` in front keeps the end of the row before from taking a star or a bracket as its own."""
    return rf"{'{}' * cells[0].startswith(('[', '*'))}{' & '.join(map(_escaped, cells))} \\"


def _escaped(text: str) -> str:
    return _SIGN.sub(lambda sign: _WORDS.get(sign[0], f"\\{sign[0]}"), text)
