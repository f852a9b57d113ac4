"""What readers are shown of labels, and where else they are shown the same."""

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.markups.text_effects import struck_out
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator

_RAW = (".rst", ".rest")  # in which HTML and what directives hold may be shown, too
_COMMENTS = "comments"


class ShownLabels:
    """Reads labels as a renderer shows them.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._quotes = QuoteLocator.of(corpus)
        self._found: dict[str, list[CharacterSpan]] = {}

    def hidden(self, span: CharacterSpan) -> str:
        """Return as what a span is hidden from readers: "comments and scripts"; "" if any letter or digit is shown."""
        markup = self._markup(span)
        if markup.shows(span.start, span.end):
            return ""
        what = markup.hidden_as(span.start) or "markup"
        return what if what == _COMMENTS or not span.doc_id.lower().endswith(_RAW) else ""

    def struck_out(self, span: CharacterSpan) -> str:
        """Return how much of a span is struck out: "all" or "part"; "" if nothing is."""
        return struck_out(self._markup(span), span.start, span.end)

    def places(self, span: CharacterSpan, limit: int) -> list[CharacterSpan]:
        """Return where readers are shown the same as at a span, and it is not struck out: of many the first ones."""
        text = " ".join(self._markup(span).shown(span.start, span.end).split())
        if text not in self._found:
            found = self._quotes.places_as_shown(text, None, limit) if text else []
            self._found[text] = [place for place, _ in found if not self.struck_out(place)]
        return self._found[text]

    def _markup(self, span: CharacterSpan) -> Markup:
        return self._quotes.markups[self._quotes.numbers[span.doc_id]]
