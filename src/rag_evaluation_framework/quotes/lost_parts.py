"""Which parts of a quote such as "A … B" stand nowhere."""

from rag_evaluation_framework._outside import one_line
from rag_evaluation_framework.quotes.omissions import parts_of
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator

MOST_PARTS = 10
_LONGEST = 40  # characters of a part in a message


def lost_parts(quote: str, locator: QuoteLocator, doc_id: str | None) -> str:
    """Return which parts of "A … B" were not located, in words; "" if it has no parts."""
    parts = [part.strip() for part in parts_of(quote)]
    if not 1 < len(parts) <= MOST_PARTS:
        return ""
    lost = [part for part in parts if not locator.locate(part, doc_id, 1).places]
    if not lost:
        return "its parts were found, but not in this order near each other, with words in between"
    return f"{', '.join(f'“{short(part)}”' for part in lost)} {'was' if len(lost) == 1 else 'were'} not found"


def short(text: str) -> str:
    """Return a part as messages name it."""
    return one_line(text) if len(text) <= _LONGEST else f"{one_line(text[: _LONGEST - 1])}…"
