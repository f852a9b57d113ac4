"""Whether the text of a label is withdrawn now: it still stands in its document, and is no longer shown as valid."""

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.hidden_elements import WHAT
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.markups.text_effects import STRUCK_OUT, effects

_MANY_LINES = ("comments", "directives", WHAT)  # what is hidden as such, may be so from far away


class Withdrawn:
    """Tells which labels are struck out or hidden by now: in a comment, a script or another part that is not shown.

    Args:
        corpus: The documents as they are now.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._markups: dict[DocumentId, Markup] = {}

    def how(self, anchor: Anchor, span: CharacterSpan) -> str:
        """Return how a label is withdrawn at a place, in words; "" if it is not, or was so when it was labelled.

        Args:
            anchor: The label.
            span: A place that holds its text, or shows it.
        """
        now = self.markup(span.doc_id)
        start = len(anchor.before)
        end = start + len(anchor.text)
        then = markup_of(anchor.doc_id, f"{anchor.before}{anchor.text}{anchor.after}")
        struck_out = _struck_out(now, span.start, span.end)
        if any(struck for _, struck in struck_out) and struck_out != _struck_out(then, start, end):
            return STRUCK_OUT
        if now.shows(span.start, span.end) or not then.shows(start, end):
            return ""
        from_afar = now.hidden_as(span.start).startswith(_MANY_LINES)
        return "hidden, as in a comment or an attribute" if from_afar or _hides_itself(now, span) else ""

    def markup(self, doc_id: DocumentId) -> Markup:
        """Return what is shown of a document."""
        if doc_id not in self._markups:
            self._markups[doc_id] = markup_of(doc_id, self.corpus[doc_id].content)
        return self._markups[doc_id]


def _hides_itself(markup: Markup, span: CharacterSpan) -> bool:
    """Return whether a place is hidden by what stands beside it, as near as the context of a label."""
    first = max(span.start - CONTEXT, 0)
    near = markup_of(span.doc_id, markup.source[first : span.end + CONTEXT])
    return not near.shows(span.start - first, span.end - first)


def _struck_out(markup: Markup, start: int, end: int) -> list[tuple[int, bool]]:
    """Return the letters and digits at which strikethrough may begin or end, and whether it does."""
    return [(place, STRUCK_OUT in names) for place, names in effects(markup, start, end)]
