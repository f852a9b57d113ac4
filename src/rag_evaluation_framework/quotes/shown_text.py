"""A stretch of a document as a renderer shows it, and where each of its characters stands in the source."""

from dataclasses import dataclass

from rag_evaluation_framework.markups.characters import CALL
from rag_evaluation_framework.markups.markup import LINE_END, Markup

_PARAGRAPH = "\n\n"


@dataclass(frozen=True)
class ShownText:
    """What is shown of a stretch of a document.

    Attributes:
        text: What is shown; a blank line where a block, a line of a table or a cell ends.
        starts: Where each of its characters stands in the document.
        ends: One past that; more than one character for an entity.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, markup: Markup, start: int, end: int) -> "ShownText":
        """Return what is shown between two offsets of a document."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for character, first, behind in markup.characters(max(start, 0), min(end, len(markup.source))):
            hidden = character == LINE_END and markup.source[first:behind] != LINE_END
            part = _PARAGRAPH if hidden else "()" if character == CALL else character
            parts.append(part)
            starts.extend([first] * len(part))
            ends.extend([behind] * len(part))
        return cls("".join(parts), starts, ends)
