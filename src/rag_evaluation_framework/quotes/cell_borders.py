"""Borders of table cells that are written in a quote: `Team | €49`, as the row of a label reads."""

import re

from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.gaps import CELL
from rag_evaluation_framework.quotes.passages import Passage
from rag_evaluation_framework.quotes.shown_text import ShownText
from rag_evaluation_framework.quotes.word_differences import WordDifferences

_BORDER = re.compile(r"(?<!\S)\|(?!\S)")
_NEAR = 4  # characters


def with_cells_apart(quote: str, passage: Passage, markup: Markup) -> str:
    """Return a quote with line ends for its borders of cells, where cells end in a passage; as it is, if that has none.

    What is `|` in the passage, too, is text: `cat x | grep y`.

    Args:
        quote: The quote.
        passage: The passage that is nearest to it.
        markup: What is shown of the document of the passage.
    """
    if not _BORDER.search(quote):
        return quote
    shown = ShownText.of(markup, passage.start, passage.end)
    found = WordDifferences(quote, shown.text)
    borders = {
        word.start
        for change in (found.changes if found.there else ())
        for word in found.given[slice(*change.given)]
        if _BORDER.match(quote, word.start)
        and any(_ends_cell(markup, shown, found, at) for at in range(change.there[0], change.there[1] + 1))
    }
    return "".join("\n\n" if place in borders else sign for place, sign in enumerate(quote)).strip()


def _ends_cell(markup: Markup, shown: ShownText, found: WordDifferences, at: int) -> bool:
    """Return whether a cell ends before a word of the passage, or behind the one before it."""
    words = found.there
    start = shown.ends[words[at - 1].end - 1] if at else max(shown.starts[words[0].start] - _NEAR, 0)
    end = shown.starts[words[at].start] if at < len(words) else min(start + _NEAR, len(markup.source))
    return "\n" in markup.shown(start, end) and CELL.search(markup.source, start, end) is not None
