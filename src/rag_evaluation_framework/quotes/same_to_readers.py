"""Labels that are the same to a reader, however their documents write them."""

from rag_evaluation_framework.data.documents import Corpus, Document
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.text_effects import Effects, effects
from rag_evaluation_framework.quotes.differences import CAPITALS
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.quotes.quoted_text import QuotedText


def show_the_same(one: CharacterSpan, other: CharacterSpan) -> bool:
    """Return whether the texts of two spans differ in nothing but markup, typography and line breaks.

    What is struck out, raised or lowered in one of them only is another text.
    """
    keys = [QuotedText.of(_shown(span)).key for span in (one, other)]
    return (
        keys[0] == keys[1]
        and _effects(one) == _effects(other)
        and _is_shown_by(one, other)
        and _is_shown_by(other, one)
    )


def _is_shown_by(one: CharacterSpan, other: CharacterSpan) -> bool:
    """Return whether all that another span shows is this one as a quote."""
    located = QuoteLocator(Corpus([Document(other.doc_id, other.text)])).locate(_shown(one), limit=2)
    if len(located.places) != 1 or len(located.places[0]) != 1 or CAPITALS in located.ignoring:
        return False
    (place,) = located.places[0]
    return markup_of(other.doc_id, other.text).shown(place.start, place.end).strip() == _shown(other).strip()


def _effects(span: CharacterSpan) -> Effects:
    return effects(markup_of(span.doc_id, span.text), 0, len(span.text))


def _shown(span: CharacterSpan) -> str:
    return markup_of(span.doc_id, span.text).shown(0, len(span.text))
