"""Pages as Markdown, for a pull request: what comes from outside is escaped, and never taken for its notation."""

import re
from collections.abc import Iterator, Sequence

from .blocks import MARKED, Chart, Line, Lines, Page, Part, Passages, Table, drawn, is_shown, shortened

# What Markdown makes something of, anywhere and at the beginning of a block. Inside of a word `_` is nothing.
_INLINE = re.compile(r"[\\`*\[\]<>|#~&$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"^(\d*)([-+=:.)])")
_BAR = 25  # characters of a drawn number
_DEEPEST = 6


def rendered(page: Page, depth: int = 1) -> str:
    """Return a page as Markdown.

    Args:
        page: The page.
        depth: The level of the heading that its title is.
    """
    return "\n".join(_lines(page, depth)) + "\n"


def _lines(page: Page, depth: int) -> Iterator[str]:
    yield f"{_heading(depth)} {_in_line(page.title)}{f' {_in_line(page.aside)}' if page.aside else ''}"
    for block in filter(is_shown, page.blocks):
        yield ""
        if isinstance(block, Page):
            yield from _lines(block, depth + 1)
            continue
        if block.title:
            yield f"{_heading(depth + 1)} {_in_line(block.title)}"
            yield ""
        yield from _shown(block.table if isinstance(block, Chart) else block)


def _heading(depth: int) -> str:
    return "#" * min(depth, _DEEPEST)


def _shown(block: Lines | Table | Passages) -> Iterator[str]:
    if isinstance(block, Table):
        for told in block.lines:
            yield from (_literal(told), "")
        yield from _table(block)
    elif isinstance(block, Passages):
        for passage in block.passages:
            label = f"{passage.label} " if passage.label else ""
            where = f"{label}{passage.where}{f', {passage.note}' if passage.note else ''}"
            yield f"- {_literal(where)}: {_parts(shortened(passage))}"
    else:
        listed = bool(block.title) or any(line.indent for line in block.lines)
        for number, line in enumerate(block.lines):
            if not listed and number:
                yield ""
            yield _listed(line) if listed else _paragraph(line)


def _paragraph(line: Line) -> str:
    text = _at_begin(_parts(line.parts))
    return f"**{text}**" if line.parts and all(part.role in ("verdict", "good", "bad") for part in line.parts) else text


def _listed(line: Line) -> str:
    """Return a line as an item of a list; one that is moved in further than signs need is part of the one before."""
    named = bool(re.search(r"\w", line.before))
    text = f"**{_in_line(line.before.strip())}** {_parts(line.parts)}" if named else _parts(line.parts)
    deep = line.indent >= 4 and not named
    return f"{'  ' * deep}- {_at_begin(text.strip())}"


def _parts(parts: Sequence[Part]) -> str:
    between_marks = (_in_line(part.text).join(MARKED.get(part.role, ("", ""))) for part in parts)
    return "".join(between_marks).strip()


def _table(table: Table) -> Iterator[str]:
    has_bars = any(table.bars)
    for number, row in enumerate((table.header, *table.rows)):
        cells = [*map(_in_line, row)]
        if has_bars:
            bar = drawn(table.bars[number - 1], table.scale, _BAR) if number else ""
            cells.append(f"`{bar.replace(' ', '·')}`" if bar.strip() else "")
        yield f"| {' | '.join(cells)} |"
        if not number:
            ends = ["---" if at < table.words else "---:" for at in range(len(row))]
            yield f"|{'|'.join([*ends, *(['---'] * has_bars)])}|"


def _literal(text: str) -> str:
    """Return text of one line escaped so that Markdown shows it as it is, also where a block begins."""
    return _at_begin(_in_line(text))


def _at_begin(escaped: str) -> str:
    """Return escaped text with a sign that begins a block escaped, too."""
    return _BLOCK.sub(r"\1\\\2", escaped)


def _in_line(text: str) -> str:
    """Return text of one line escaped so that Markdown shows it as it is within a line."""
    return _INLINE.sub(r"\\\g<0>", text)
