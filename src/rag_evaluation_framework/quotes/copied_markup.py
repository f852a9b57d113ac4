"""Quotes that were copied from the source of a document, with its markup."""

from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.text_effects import effects

_INLINE = frozenset({"emphasis", "code", "links", "escapes", "headings", "block quotes", "list markers"})


def read_as(doc_id: str, quote: str) -> str:
    """Return what is shown of a quote if it is read as the source of a document.

    The quote as it is, if that hides anything but emphasis, code, links, escapes and the beginnings of lines, or if
    anything is struck out, raised or lowered.

    Args:
        doc_id: The id of the document, which tells its format.
        quote: The quote.
    """
    markup = markup_of(doc_id, quote)
    hidden = {what for _, _, what, _ in markup.parts(0, len(quote))}
    if not hidden or not hidden <= _INLINE or effects(markup, 0, len(quote)):
        return quote
    return markup.shown(0, len(quote)).strip() or quote
