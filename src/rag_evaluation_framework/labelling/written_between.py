"""Whether something was written between a label and what stood beside it."""

import re

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.labelling.anchors import nearest, tells

_BLOCK_END = re.compile(r"\n\s*(?:\n|[-*+#>|:]|\d{1,3}[.)]\s|\w+:\s)")
_HIDDEN = re.compile(r"\]\([^()\s]*\)|\[\^[^\]\n]*\]|<[^<>\n]*>")  # markup with letters, around a text
_MARKERS = " \t|>*+-#0123456789.)"  # of a block
_MARKER = re.compile(r"\s*(?:[-*+>#]\s|\||\d{1,3}[.)]\s)")
_UNDERLINE = re.compile(r"([=~^\"'`*+#-])\1{2,}")
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
        between = ahead[ends[-1] :] if ends else ""
        if any(map(str.isalnum, between)) and (_is_introduced(anchor) or not _BLOCK_END.search(between)):
            return True
    if not tells(anchor.after):
        return False
    behind = content[end : end + FARTHEST]
    found = _form(nearest(anchor.after, before=False)).search(behind)
    between = behind[: found.start()] if found else ""
    return any(map(str.isalnum, _HIDDEN.sub("", between))) and not _BLOCK_END.search(between)


def _is_introduced(anchor: Anchor) -> bool:
    """Return whether what stands before a label says what it is about: not so the row or paragraph before it."""
    above, _, beside = anchor.before.rpartition("\n")
    begins_block = beside or _MARKER.match(anchor.text) or not above.rpartition("\n")[2].strip()
    if beside.strip(_MARKERS) or not begins_block:
        return True
    line = above.rstrip().rpartition("\n")[2].strip()
    return line.endswith(("?", ":", "**")) or line.startswith("#") or _UNDERLINE.fullmatch(line) is not None


def _form(text: str) -> "re.Pattern[str]":
    return re.compile(r"\s+".join(map(re.escape, text.split())))
