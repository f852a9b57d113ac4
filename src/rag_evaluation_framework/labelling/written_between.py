"""Whether something was written between a label and what stood beside it."""

import re

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.labelling.anchors import nearest, tells

_BLOCK_END = re.compile(r"\n\s*(?:\n|[-*+#>|:]|\d{1,3}[.)]\s|\w+:\s)")
_HIDDEN = re.compile(r"\]\([^()\s]*\)|\[\^[^\]\n]*\]|<[^<>\n]*>")  # markup with letters, around a text
FARTHEST = 2_000  # characters: more than what is written between two questions


def is_written_between(anchor: Anchor, content: str, start: int, end: int) -> bool:
    """Return whether the context before a label is before a place, but not beside it, or that behind it in its block.

    Of "the price is" and "5 EUR" became "the price is 7 EUR and the fee 5 EUR"; of "Is there an export?" and "Yes."
    became "Is there an export? No. Is there an import? Yes." What goes before says what a short text is about.

    Args:
        anchor: The label.
        content: The text of a document.
        start: The first character of a place there.
        end: One past its last character.
    """
    if tells(anchor.before):
        ahead = content[max(start - FARTHEST, 0) : start]
        ends = [found.end() for found in _form(nearest(anchor.before, before=True)).finditer(ahead)]
        if ends and any(map(str.isalnum, ahead[ends[-1] :])):
            return True
    if not tells(anchor.after):
        return False
    behind = content[end : end + FARTHEST]
    found = _form(nearest(anchor.after, before=False)).search(behind)
    between = behind[: found.start()] if found else ""
    return any(map(str.isalnum, _HIDDEN.sub("", between))) and not _BLOCK_END.search(between)


def _form(text: str) -> "re.Pattern[str]":
    return re.compile(r"\s+".join(map(re.escape, text.split())))
