"""Locating quotes as people copy them: verbatim, or ignoring what a renderer and an editor change."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from weakref import WeakValueDictionary

from ..base.outside import one_line
from ..base.progress import progress
from ..data import CharacterSpan, Corpus, DocumentId
from ..text import LinePlaces, TextLocator
from ..text.markups.characters import flat, key
from ..text.markups.formats import markup_of
from ..text.markups.markup import Markup
from .ends import is_cut
from .quote_matcher import (
    CAPITALS,
    MOST_PLACES,
    Effort,
    Match,
    chains,
    differences,
    in_document_order,
    in_order,
    matches,
    parts_of,
    stretches,
)
from .quoted_text import KeyedTexts, QuotedText

_MOST_OF_A_RESULT = 500  # gaps; of 600 letters that stand at 70 places with other signs
NOT_SHOWN = "that it is not shown: it stands in a comment, a script or an attribute"


@dataclass(frozen=True)
class Located:
    """Where a quote stands.

    Attributes:
        places: The places; none if it was not found, several if it is ambiguous. A place is one or more spans of one
            document, in order: "A … B" has two.
        ignoring: In what the quote and the document differ, in the words of a reader, and that it is hidden if it is;
            empty if it stands there verbatim and is shown.
    """

    places: tuple[tuple[CharacterSpan, ...], ...]
    ignoring: tuple[str, ...] = ()


class QuoteLocator:
    """Locates quotes in the documents of a corpus, never by similarity.

    A quote is located where it stands verbatim, its first and last word and number whole, and where it differs only in
    how it is written (white space, quotation marks, dashes, ellipses, invisible characters, Unicode composition,
    ligatures, divided words) and in the markup that a renderer of Markdown or reStructuredText does not show. If
    it is nowhere so, it is located without what people add to its ends, and up to capitals. Letters, numbers and the
    symbols between them have to be the same, and white space beside a symbol has to be on the same side of it. What is
    in a comment, a script or an attribute counts only if nothing that is shown does, and is told.

    In a text that repeats itself a long quote has very many places that have to be compared. After 500,000 words of the
    quote and other places in it at which something stands between letters, no more places are looked for; of a quote
    that has only one until then it is not known whether it has others, so that it is not found.

    Spans begin at the first character of a quote that stands in the document, and end behind the last one: markup
    within is part of them, markup around is not.

    Args:
        corpus: The documents. What a renderer shows of one is decided by the suffix of its id.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.verbatim = TextLocator.of(corpus)
        self._results: dict[tuple[str, str | None, int], list[CharacterSpan]] = {}

    @classmethod
    def of(cls, corpus: Corpus) -> "QuoteLocator":
        """Return the locator of a corpus that all who look for quotes in it share, as long as one has it."""
        locator = _shared.get(id(corpus))  # the locator holds its corpus, so the id is not used again while it lives
        if locator is None:
            locator = _shared[id(corpus)] = cls(corpus)
        return locator

    def locate(self, quote: str, doc_id: str | None = None, limit: int = 20, verbatim_only: bool = False) -> Located:
        """Return where a quote stands.

        Args:
            quote: The quote; a blank one is never found.
            doc_id: Search only this document.
            limit: Stop after this many places.
            verbatim_only: Ignore nothing but white space; a word or a number may go on at the ends.
        """
        if verbatim_only:
            return _verbatim(quote, self.verbatim.places(quote, doc_id, limit))
        if doc_id is not None and doc_id not in self.numbers:
            return Located(())
        located = self._locate(quote, doc_id, limit)
        if all(self.markup(span).shows(span.start, span.end) for place in located.places for span in place):
            return located
        return Located(located.places, (*located.ignoring, NOT_SHOWN))

    def _locate(self, quote: str, doc_id: str | None, limit: int) -> Located:
        spans = self._whole(quote, doc_id, limit)
        if shown := [span for span in spans if not self._are_hidden(self.numbers[span.doc_id], span)]:
            return self._with_others(quote, shown, doc_id, limit)
        effort = Effort()
        ranked = self._ranked(self._matches(quote, doc_id, effort), limit)
        found = in_document_order(next(filter(None, ranked), ranked[0]))
        if effort.is_spent and len(found) == 1:  # whether it is the only one is not known
            return Located(())
        if found and not (spans and self._hides_ends(found[0])):
            return self._located([[match] for match in found])
        parts = parts_of(quote)
        if spans or len(parts) < 2:
            return _verbatim(quote, spans)
        of_part = {
            part: self._ranked(self._matches(part, doc_id, effort), MOST_PLACES + 1) for part in dict.fromkeys(parts)
        }
        ways = chains([of_part[part] for part in parts], self._rank, self.markups, limit)
        if effort.is_spent or not ways:
            return Located(())
        located = self._located(ways)
        return Located(located.places, in_order([*located.ignoring, "what the quote leaves out"]))

    def _whole(self, quote: str, doc_id: str | None, limit: int) -> list[CharacterSpan]:
        """Return the verbatim places of a quote at whose ends no word or number goes on."""

        def is_whole(span: CharacterSpan) -> bool:
            return not is_cut(self.markup(span), span.start, span.end)

        spans = self.verbatim.places(quote, doc_id, limit)
        whole = [*filter(is_whole, spans)]
        if len(whole) < len(spans) == limit:
            return list(islice(filter(is_whole, self.verbatim.occurrences(quote, doc_id)), limit))
        return whole

    def places_of_result(self, text: str, doc_id: str | None = None, limit: int = 20) -> list[CharacterSpan]:
        """Return where a text stands that a retriever returned: verbatim or, if it is nowhere so, by its words.

        It is then located where all that differs is what is ignored for quotes, or white space, which may be gone.
        Other than a quote, it may begin and end within a word. Of places with its letters and other signs, 500 are
        compared at most, and fewer of a text of more than 100 letters.

        Args:
            text: The text; one without letters and numbers is found verbatim only.
            doc_id: Search only this document.
            limit: Stop after this many places.
        """
        known = self._results.get((text, doc_id, limit))
        if known is None:
            known = self.verbatim.places(text, doc_id, limit) or self._by_words(text, doc_id, limit)
            self._results[text, doc_id, limit] = known
        return known

    def _by_words(self, text: str, doc_id: str | None, limit: int) -> list[CharacterSpan]:
        quoted, effort = QuotedText.of(text), Effort(_MOST_OF_A_RESULT)
        if not quoted.key or (
            doc_id is not None and doc_id not in self.numbers
        ):  # else all documents would be rendered
            return []
        for texts in dict.fromkeys((self.rendered, self._plain)):
            if found := list(islice(stretches(quoted, texts, effort, self._number(doc_id)), limit)):
                return [self._span(match) for match in found]
        return []

    def _with_others(self, quote: str, spans: list[CharacterSpan], doc_id: str | None, limit: int) -> Located:
        """Return verbatim places and those that only look the same, in order; capitals and all at the ends count.

        If not all places were compared, whether there are others of the single one is not known: then there is none.
        """
        effort, verbatim = Effort(), _verbatim(quote, spans)
        taken = {end for span in spans for end in self._ends(self.numbers[span.doc_id], span)}
        as_written = all(self.markup(span).shown(span.start, span.end) == span.text for span in spans)
        same = (
            [match]
            for match in self._matches(quote, doc_id, effort, (self.rendered,) if as_written else None)
            if not (match.added or CAPITALS in match.ignoring or self._hides_ends(match))
            and not taken & self._ends(match.number, match)
        )
        others = self._located(islice(same, limit - len(spans)))
        if effort.is_spent and len(spans) + len(others.places) == 1:
            return Located(())
        places = sorted(
            [*verbatim.places, *others.places], key=lambda place: (self.numbers[place[0].doc_id], place[0].start)
        )
        return Located(tuple(places), in_order([*verbatim.ignoring, *others.ignoring]))

    def _ranked(self, found: Iterable[Match], limit: int) -> list[list[Match]]:
        """Return matches by their rank, so many of each, and not all others if there are so many of the first."""
        ranked: list[list[Match]] = [[], [], [], []]
        for match in found:
            rank = ranked[self._rank(match)]
            if len(rank) < limit:
                rank.append(match)
            if len(ranked[0]) == limit:
                break
        return ranked

    def _rank(self, match: Match) -> int:
        """Return 0 for a match that is shown and has the capitals of the quote, 1 without these, 2 and 3 if hidden."""
        return 2 * self._hides_ends(match) + (CAPITALS in match.ignoring)

    def _hides_ends(self, match: Match) -> bool:
        return self._are_hidden(match.number, match)

    def _are_hidden(self, number: int, place: Match | CharacterSpan) -> bool:
        """Return whether a renderer hides the first or the last letter or number of a place."""
        return any(self.markups[number].hides(offset) for _, offset, _ in self._ends(number, place))

    def _ends(self, number: int, place: Match | CharacterSpan) -> set[tuple[int, int, bool]]:
        """Return the first and the last letter or number of a place: neither is that of another place.

        Each as the number of its document, its offset, and whether it is the first.
        """
        source, inside = self.markups[number].source, range(place.start, place.end)
        return {
            (number, next((at for at in side if key(source[at])), place.start), is_first)
            for side, is_first in ((inside, True), (reversed(inside), False))
        }

    def _matches(
        self, quote: str, doc_id: str | None, effort: Effort, views: Sequence[KeyedTexts] | None = None
    ) -> Iterator[Match]:
        """Yield the places of a quote: as the documents stand, then as they are shown, each place once."""
        quoted = QuotedText.of(quote)
        as_written = set[tuple[int, int, bool]]()
        for texts in (views or dict.fromkeys((self._plain, self.rendered))) if quoted.key else ():
            for match in matches(quoted, texts, effort, self._number(doc_id)):
                if texts is self.rendered:
                    if as_written & self._ends(match.number, match):
                        continue
                elif self._is_other_as_shown(match, quoted):
                    continue
                elif not self._hides_ends(match):  # what does may be within a place that does not
                    as_written |= self._ends(match.number, match)
                yield match

    def _is_other_as_shown(self, match: Match, quote: QuotedText) -> bool:
        """Return whether a place in the source is none as shown: a word goes on, or it ends in markup of another sign.

        That is markup that the quote lacks and only has something like it: ' for `.
        """
        markup = self.markups[match.number]
        return is_cut(markup, match.start, match.end) or any(
            not key(sign := markup.source[offset]) and sign not in given and not markup.shown(offset, offset + 1)
            for offset, given in ((match.start, quote.before), (match.end - 1, quote.behind))
        )

    def _located(self, found: Iterable[list[Match]]) -> Located:
        found = list(found)
        places = tuple(tuple(map(self._span, matched)) for matched in found)
        return Located(places, in_order(name for matched in found for match in matched for name in match.ignoring))

    def _span(self, match: Match) -> CharacterSpan:
        document = self.corpus.documents[match.number]
        return CharacterSpan(document.id, match.start, match.end, document.content[match.start : match.end])

    def _number(self, doc_id: str | None) -> int | None:
        return None if doc_id is None else self.numbers[DocumentId(doc_id)]

    def markup(self, span: CharacterSpan) -> Markup:
        """Return what is shown of the document of a span."""
        return self.markups[self.numbers[span.doc_id]]

    @cached_property
    def numbers(self) -> dict[DocumentId, int]:
        """The number of each document in the corpus."""
        return {document.id: number for number, document in enumerate(self.corpus)}

    @cached_property
    def _plain(self) -> KeyedTexts:
        return KeyedTexts([Markup(document.content) for document in self.corpus])

    @cached_property
    def lines(self) -> LinePlaces:
        """The lines and columns of spans."""
        return LinePlaces(self.corpus)

    @cached_property
    def rendered(self) -> KeyedTexts:
        """The documents as they are shown."""
        if not any(markup.parts for markup in self.markups):
            return self._plain
        return KeyedTexts(self.markups)

    @cached_property
    def markups(self) -> list[Markup]:
        """What is shown of each document."""
        documents = progress(self.corpus, "Indexing documents", "document")
        return [markup_of(document.id, document.content) for document in documents]


_shared: WeakValueDictionary[int, QuoteLocator] = WeakValueDictionary()


def _verbatim(quote: str, spans: list[CharacterSpan]) -> Located:
    """Return spans that hold a quote verbatim or up to white space; there may be none."""
    if not spans:
        return Located(())
    text = spans[0].text
    return Located(
        tuple((span,) for span in spans), in_order([] if quote == text else differences(quote.strip(), text))
    )


# The places of a quote that occurs several times, and the words beside each that no other place has.

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
    beside = [_beside(span, locator) for span in spans if alone]
    told = [
        f"{locator.lines.named(span)}{_unique(number, beside) if alone else ''}"
        for number, span in enumerate(spans[:_MOST_PLACES])
    ]
    more = len(places) - _MOST_PLACES
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def _beside(span: CharacterSpan, locator: QuoteLocator) -> tuple[list[str], list[str]]:
    """Return the words that readers are shown before a span, the nearest first, and those behind it."""
    markup = locator.markup(span)
    before = _WORD.findall(markup.shown(max(span.start - _AROUND, 0), span.start))
    return before[::-1], _WORD.findall(markup.shown(span.end, span.end + _AROUND))


def _unique(number: int, beside: list[tuple[list[str], list[str]]]) -> str:
    """Return the fewest words before or behind a place that no other place has there, as a remark; "" if none."""
    for count, side in product(range(1, _MOST_WORDS + 1), (0, 1)):
        words = beside[number][side][:count]
        forms = [[flat(word) for word in pair[side][:count]] for pair in beside]
        if len(words) == count and forms.count(forms[number]) == 1:
            text = one_line(" ".join(words if side else words[::-1]))
            return f" (before “{text}”)" if side else f" (behind “{text}”)"
    return ""
