"""Where labels are shown as they were, in their documents whose markup and typography have changed."""

from collections.abc import Callable

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.shown_anchor import ShownAnchor
from rag_evaluation_framework.quotes.differences import in_order
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator

MayBe = Callable[[Anchor, CharacterSpan], bool]
ShownPlace = dict[CharacterSpan, tuple[str, ...]]


class ShownPlaces:
    """Finds labels by what a renderer shows of them and of their contexts.

    Args:
        corpus: The documents as they are now.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._locators: dict[str, QuoteLocator] = {}

    def places(self, anchor: Anchor, limit: int, may_be: MayBe) -> ShownPlace:
        """Return the places of a label in its document, and what is ignored at each.

        Args:
            anchor: The label; of a text that was unique.
            limit: A text that is shown so often is not looked at.
            may_be: Whether a place of the text is possible.
        """
        if anchor.doc_id not in self.corpus:
            return {}
        quotes = self._quotes(anchor.doc_id)
        readings = (_places(label, quotes, limit, may_be) for label in ShownAnchor.readings(anchor))
        nowhere: ShownPlace = {}
        return next(filter(None, readings), nowhere)

    def _quotes(self, doc_id: str) -> QuoteLocator:
        if doc_id not in self._locators:
            self._locators[doc_id] = QuoteLocator.of(Corpus([self.corpus[doc_id]]))
        return self._locators[doc_id]


def _places(label: ShownAnchor, quotes: QuoteLocator, limit: int, may_be: MayBe) -> ShownPlace:
    found = quotes.places_as_shown(label.text, limit=limit)
    possible = [(span, names) for span, names in found if may_be(label.anchor, span)] if len(found) < limit else []
    unique = len(possible) == 1
    places: ShownPlace = {}
    for span, names in possible:
        markup = quotes.markups[quotes.numbers[span.doc_id]]
        if label.is_at(markup, span, unique):
            start, end = label.widened(markup, span.start, span.end)
            whole = CharacterSpan(span.doc_id, start, end, markup.source[start:end])
            places[whole] = in_order((*label.ignoring, *names))
    return places
