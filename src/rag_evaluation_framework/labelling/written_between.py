"""Whether something was written between a label and what stood beside it."""

import re

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.labelling.anchors import TELLING, tells

FARTHEST = 400  # characters: longer than what is written into a line
_BLOCK_END = re.compile(r"\n\s*(?:\n|[-*+#>|]|\d{1,3}[.)]\s)")


def is_written_between(anchor: Anchor, content: str, start: int, end: int) -> bool:
    """Return whether a context of a label stands in the paragraph of a place, but not beside it.

    Of "the price is" and "5 EUR" became "the price is 7 EUR and the fee 5 EUR".

    Args:
        anchor: The label.
        content: The text of a document.
        start: The first character of a place there.
        end: One past its last character.
    """
    between: list[str] = []
    if tells(anchor.before):
        ahead = content[max(start - FARTHEST, 0) : start]
        ends = [found.end() for found in nearest_form(anchor.before, before=True).finditer(ahead)]
        between += [ahead[end:].lstrip() for end in ends[-1:]]
    if tells(anchor.after):
        behind = content[end : end + FARTHEST]
        found = nearest_form(anchor.after, before=False).search(behind)
        between += [behind[: found.start()].rstrip()] if found else []
    return any(text and not _BLOCK_END.search(text) for text in between)


def nearest_form(context: str, before: bool) -> "re.Pattern[str]":
    """Return what finds those 16 characters of a context that are nearest to its label, up to white space.

    Args:
        context: The context.
        before: Whether it is the one before the label.
    """
    whole = " ".join(context.split())
    nearest = whole[-TELLING:] if before else whole[:TELLING]
    return re.compile(r"\s+".join(map(re.escape, nearest.split())))
