"""Places of a quote in documents of which it is known what a renderer shows: found by key, checked in every gap."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.differences import differences, in_order
from rag_evaluation_framework.quotes.ends import OUTER_MARKS, End, end_of, is_whole, start_of
from rag_evaluation_framework.quotes.gaps import gap_difference
from rag_evaluation_framework.quotes.keyed_texts import KeyedTexts, Offsets
from rag_evaluation_framework.quotes.quoted_text import QuotedText

_DIVISION = re.compile(r"(?<=[^\W\d_])[-‐‑\u00ad]\s+(?=[^\W\d_])")


@dataclass(frozen=True)
class Match:
    """A place at which a quote stands.

    Attributes:
        number: The number of the document.
        start: The first character.
        end: One past the last character.
        ignoring: What was ignored.
        added: Whether any of that is at the ends of the quote, where people add something.
    """

    number: int
    start: int
    end: int
    ignoring: tuple[str, ...]
    added: bool


def matches(quote: QuotedText, texts: KeyedTexts, number: int | None = None) -> Iterator[Match]:
    """Yield the places of a quote, in order.

    Args:
        quote: The quote; at least one letter or number.
        texts: The documents.
        number: Search only the document of this number.
    """
    for found, place in texts.occurrences(quote.key, number):
        keyed, markup = texts.offsets(found), texts.markups[found]
        offsets = keyed[place : place + len(quote.key)]
        first, last = int(offsets[0]), int(offsets[-1])
        if _splits(keyed, place, place + len(quote.key)) or not is_whole(markup, first, last):
            continue
        ignored = _gaps(quote, markup, offsets)
        if ignored is None:
            continue
        start = start_of(markup, first, quote.before, quote.text[quote.places[0]])
        end = end_of(markup, last, quote.behind, quote.text[quote.places[-1]])
        if start is not None and end is not None:
            ignoring = _ignoring(quote, markup, (start, end), (first, last), ignored)
            yield Match(found, start.offset, end.offset, ignoring, bool(start.ignoring or end.ignoring))


def in_document_order(found: Iterable[Match]) -> list[Match]:
    """Return matches in the order of the corpus."""
    return sorted(found, key=lambda match: (match.number, match.start))


def _splits(keyed: Offsets, first: int, end: int) -> bool:
    """Return whether one character of the document would be inside and outside."""
    return bool((first and keyed[first - 1] == keyed[first]) or (end < len(keyed) and keyed[end] == keyed[end - 1]))


def _gaps(quote: QuotedText, markup: Markup, offsets: Offsets) -> set[str] | None:
    """Return what had to be ignored in the gaps of a quote, or None if one differs from that of the document."""
    ignored: set[str] = set()
    steps = np.diff(offsets)
    for number in np.flatnonzero((steps != 1) | quote.has_gap).tolist():
        gap = quote.gap(number)
        first, last = int(offsets[number]), int(offsets[number + 1])
        first = markup.end_of(first) if first < last else first  # ﬁ: two letters of the quote are one character here
        shown = markup.shown(first, last)
        if shown == gap:
            continue
        before, after = quote.around(number)
        difference = gap_difference(gap, shown, markup.source[first:last], before, after)
        if difference is None:
            return None
        ignored.add(difference)
    return ignored - {""}


def _ignoring(
    quote: QuotedText, markup: Markup, ends: tuple[End, End], letters: tuple[int, int], ignored: set[str]
) -> tuple[str, ...]:
    """Return what was ignored: the markup, what differs within, and what was peeled off the ends."""
    (start, end), (first, last) = ends, letters
    markups = [what for _, _, what, _ in markup.parts(start.offset, end.offset)]
    text, from_start, to_end = quote.text, quote.places[0], quote.places[-1] + 1
    shown = markup.shown(start.offset if not start.ignoring else first, markup.end_of(last))
    shown += "" if end.ignoring else markup.shown(markup.end_of(last), end.offset)
    given = text[0 if not start.ignoring else from_start : None if not end.ignoring else to_end].strip()
    if "hyphenation" in ignored:
        given, shown = (_DIVISION.sub("", text) for text in (given, shown))
    within = [] if "list markers" in ignored else differences(given, shown)
    peeled = [*start.ignoring, *end.ignoring]
    return in_order(
        [*markups, *within, *sorted(ignored), *(name for name in peeled if name != OUTER_MARKS)]
        + ([OUTER_MARKS] if OUTER_MARKS in peeled else [])
    )
