"""Whether the text of a label is struck out now, so that it is no longer shown as valid."""

import re

from rag_evaluation_framework.labelling.anchors import Anchor
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.text_effects import STRUCK_OUT, effects

_SIGN = re.compile(r"~~|<(?:del|s|strike)[\s/>]", re.IGNORECASE)
_AROUND = 2_000  # characters that are read before and behind a place


def is_newly_struck_out(anchor: Anchor, doc_id: str, content: str, start: int, end: int) -> bool:
    """Return whether other parts of a label are struck out at a place than were where it was labelled.

    Args:
        anchor: The label.
        doc_id: The id of a document, which tells its format.
        content: Its text.
        start: The first character of the place.
        end: One past its last character.
    """
    first = content.rfind("\n", 0, max(start - _AROUND, 0)) + 1
    now = _struck_out(doc_id, content[first : end + _AROUND], start - first, end - first)
    if not any(struck for _, struck in now):
        return False
    before = len(anchor.before)
    source = f"{anchor.before}{anchor.text}{anchor.after}"
    return now != _struck_out(anchor.doc_id, source, before, before + len(anchor.text))


def _struck_out(doc_id: str, source: str, start: int, end: int) -> list[tuple[int, bool]]:
    """Return the letters and digits at which strikethrough may begin or end, and whether it does."""
    if not _SIGN.search(source):
        return []
    return [(place, STRUCK_OUT in names) for place, names in effects(markup_of(doc_id, source), start, end)]
