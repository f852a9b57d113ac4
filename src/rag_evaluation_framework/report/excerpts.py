"""Texts in the documents around them in a terminal: line by line as the documents have them, what is meant marked."""

from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import harmless

_INDENT = 4
_MARK = "  ┃ "  # before the lines that hold what is meant, as not every terminal shows bold and colours
_STYLE = "bold green"
_AROUND = 4_000  # characters that are looked at for lines around a text
_TAB = " " * 4


@dataclass(frozen=True)
class ExcerptSize:
    """How much of a text and of its document is shown.

    Attributes:
        characters: Of the text: of a longer one the begin and the end.
        lines: Before it and behind it, at most.
    """

    characters: int
    lines: int


def show_excerpt(console: Console, before: str, text: str, after: str, size: ExcerptSize) -> None:
    """Print a text between what is around it; blank lines around it are left out.

    Args:
        console: Where to print.
        before: What is before it.
        text: The text, which is marked.
        after: What is behind it.
        size: How much is shown.
    """
    whole = Text.assemble(
        (_plain(before[-_AROUND:]), "dim"), (_shortened(_plain(text), size.characters), _STYLE), _behind(after)
    )
    lines = [*whole.wrap(console, max(console.width - _INDENT, 1))]
    meant = [number for number, line in enumerate(lines) if any(span.style == _STYLE for span in line.spans)]
    first, last = (meant[0], meant[-1]) if meant else (0, 0)
    above = [line for line in lines[:first] if line.plain.strip()][-size.lines :]
    below = [line for line in lines[last + 1 :] if line.plain.strip()][: size.lines]
    for mark, shown in ((" " * _INDENT, above), (_MARK, lines[first : last + 1]), (" " * _INDENT, below)):
        for line in shown:
            marked = Text.assemble((mark, "green"), line)
            marked.rstrip()
            console.print(marked)


def _behind(after: str) -> tuple[str, str]:
    return _plain(after[:_AROUND]), "dim"


def _plain(text: str) -> str:
    """Return what a terminal can show of a text, in its lines."""
    return harmless(text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", _TAB))


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    begin, end = text[: most - most // 3], text[-(most // 3) :]
    return f"{begin}\n… {len(text) - most:,} characters left out …\n{end}"
