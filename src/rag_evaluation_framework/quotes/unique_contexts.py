"""The places of a quote that occurs several times, and the words beside each that no other place has."""

import re
from collections.abc import Iterator, Sequence

from rag_evaluation_framework._outside import one_line
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.characters import flat
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator

_MOST_PLACES = 3
_AROUND = 120  # characters of the source that are read on each side
_MOST_WORDS = 8
_WORD = re.compile(r"\S+")


def told_places(places: Sequence[tuple[CharacterSpan, ...]], locator: QuoteLocator, limit: int) -> str:
    """Return the first three places of a quote, each with the words before or behind it that only it has.

    Args:
        places: All places, or as many as the limit.
        locator: What located the quote.
        limit: If there are as many places, there may be others, and no words are told.
    """
    spans = [place[0] for place in places]
    alone = 1 < len(places) < limit and all(len(place) == 1 for place in places)
    beside = [_beside(span, locator) for span in spans] if alone else []
    told = [
        f"{locator.lines.named(span)}{_unique(number, beside) if beside else ''}"
        for number, span in enumerate(spans[:_MOST_PLACES])
    ]
    more = len(places) - _MOST_PLACES
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def _beside(span: CharacterSpan, locator: QuoteLocator) -> tuple[list[str], list[str]]:
    """Return the words that readers are shown before a span, the nearest first, and those behind it."""
    markup = locator.markups[locator.numbers[span.doc_id]]
    before = _WORD.findall(markup.shown(max(span.start - _AROUND, 0), span.start))
    behind = _WORD.findall(markup.shown(span.end, min(span.end + _AROUND, len(markup.source))))
    return before[::-1], behind


def _unique(number: int, beside: list[tuple[list[str], list[str]]]) -> str:
    """Return the fewest words before or behind a place that no other place has there, as a remark; "" if none."""
    found = [(len(words), side, words) for side in (0, 1) for words in _fewest(number, [pair[side] for pair in beside])]
    if not found:
        return ""
    _, side, words = min(found)
    text = one_line(" ".join(words if side else words[::-1]))
    return f" (before “{text}”)" if side else f" (behind “{text}”)"


def _fewest(number: int, texts: list[list[str]]) -> Iterator[list[str]]:
    for count in range(1, min(_MOST_WORDS, len(texts[number])) + 1):
        mine = [flat(word) for word in texts[number][:count]]
        if all([flat(word) for word in text[:count]] != mine for at, text in enumerate(texts) if at != number):
            yield texts[number][:count]
            return
