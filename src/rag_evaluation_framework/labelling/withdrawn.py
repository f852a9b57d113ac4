"""Whether the text of a label is withdrawn now: it still stands in its document, and is no longer shown as valid."""

import re
from bisect import bisect_right
from pathlib import PurePosixPath

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.html_markup import HIDDEN_ELEMENT
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.markups.text_effects import STRUCK_OUT, effects

_STRIKES = re.compile(r"~~|<(?:del|s|strike)[\s/>]", re.IGNORECASE)
_AROUND = 2_000  # characters that are read before and behind a place
_HIDES = {suffix: re.compile(r"^[ \t]*\.\.(?!\S).*(?:\n(?:[ \t]+.*)?$)*", re.MULTILINE) for suffix in (".rst", ".rest")}


class Withdrawn:
    """Tells which labels are struck out or hidden by now: in a comment, a script or another part that is not shown.

    Args:
        corpus: The documents as they are now.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._hidden: dict[DocumentId, tuple[list[int], list[int]]] = {}
        self._markups: dict[DocumentId, Markup] = {}

    def how(self, anchor: Anchor, span: CharacterSpan) -> str:
        """Return how a label is withdrawn at a place, in words; "" if it is not, or was so when it was labelled.

        Args:
            anchor: The label.
            span: A place that holds its text, or shows it.
        """
        content = self.corpus[span.doc_id].content
        if _is_newly_struck_out(anchor, span.doc_id, content, span.start, span.end):
            return STRUCK_OUT
        return "hidden, as in a comment" if self._is_newly_hidden(anchor, span) else ""

    def _is_newly_hidden(self, anchor: Anchor, span: CharacterSpan) -> bool:
        starts, ends = self._may_be_hidden(span.doc_id)
        number = bisect_right(starts, span.start) - 1
        if number < 0 or ends[number] < span.end or self._markup(span.doc_id).shows(span.start, span.end):
            return False
        before = len(anchor.before)
        known = markup_of(anchor.doc_id, f"{anchor.before}{anchor.text}{anchor.after}")
        return known.shows(before, before + len(anchor.text))

    def _may_be_hidden(self, doc_id: DocumentId) -> tuple[list[int], list[int]]:
        """Return the parts of a document that are not shown unless they stand in code."""
        if doc_id not in self._hidden:
            form = _HIDES.get(PurePosixPath(doc_id).suffix.lower(), HIDDEN_ELEMENT)
            places = [found.span() for found in form.finditer(self.corpus[doc_id].content)]
            self._hidden[doc_id] = [start for start, _ in places], [end for _, end in places]
        return self._hidden[doc_id]

    def _markup(self, doc_id: DocumentId) -> Markup:
        if doc_id not in self._markups:
            self._markups[doc_id] = markup_of(doc_id, self.corpus[doc_id].content)
        return self._markups[doc_id]


def _is_newly_struck_out(anchor: Anchor, doc_id: str, content: str, start: int, end: int) -> bool:
    """Return whether other parts of a label are struck out at a place than were where it was labelled."""
    first = content.rfind("\n", 0, max(start - _AROUND, 0)) + 1
    now = _struck_out(doc_id, content[first : end + _AROUND], start - first, end - first)
    if not any(struck for _, struck in now):
        return False
    before = len(anchor.before)
    source = f"{anchor.before}{anchor.text}{anchor.after}"
    return now != _struck_out(anchor.doc_id, source, before, before + len(anchor.text))


def _struck_out(doc_id: str, source: str, start: int, end: int) -> list[tuple[int, bool]]:
    """Return the letters and digits at which strikethrough may begin or end, and whether it does."""
    if not _STRIKES.search(source):
        return []
    return [(place, STRUCK_OUT in names) for place, names in effects(markup_of(doc_id, source), start, end)]
