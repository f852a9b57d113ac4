"""Locating quotes as people copy them: verbatim, or ignoring what a renderer and an editor change."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from weakref import WeakValueDictionary

from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.base.progress import progress
from rag_evaluation_framework.data import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.markups.characters import flat, key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import Effects, Markup, effects
from rag_evaluation_framework.quotes.ends import is_cut
from rag_evaluation_framework.quotes.keyed_texts import KeyedTexts
from rag_evaluation_framework.quotes.part_chains import MOST_PLACES, chains, parts_of
from rag_evaluation_framework.quotes.quote_matcher import (
    CAPITALS,
    Effort,
    Match,
    differences,
    in_document_order,
    in_order,
    matches,
    stretches,
)
from rag_evaluation_framework.quotes.quoted_text import QuotedText
from rag_evaluation_framework.text import LinePlaces, TextLocator

# Places in a document that were found already.


class Places:
    """Places in a document, of which none is within another, in order."""

    def __init__(self) -> None:
        self._starts, self._ends = list[int](), list[int]()

    def add(self, start: int, end: int) -> None:
        """Add a place that begins and ends behind all others."""
        self._starts.append(start)
        self._ends.append(end)

    def have(self, start: int, end: int) -> bool:
        """Return whether a place is within one of these or one of them within it: one place, seen twice."""
        around, within = bisect_right(self._starts, start) - 1, bisect_left(self._starts, start)
        return (around >= 0 and end <= self._ends[around]) or (within < len(self._ends) and self._ends[within] <= end)


# Locating quotes as people copy them: verbatim, or ignoring what a renderer and a keyboard change.

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
        located = self._locate(quote, doc_id, limit)
        spans = [span for place in located.places for span in place]
        if all(self._is_shown(self.numbers[span.doc_id], span) for span in spans):
            return located
        return Located(located.places, (*located.ignoring, NOT_SHOWN))

    def _locate(self, quote: str, doc_id: str | None, limit: int) -> Located:
        number = None if doc_id is None else self.numbers.get(DocumentId(doc_id))
        if doc_id is not None and number is None:
            return Located(())
        spans = self._whole(quote, doc_id, limit)
        if shown := [span for span in spans if self._shows_ends(self.numbers[span.doc_id], span)]:
            return self._with_others(quote, shown, number, limit)
        effort = Effort()
        found = self._preferred(self._matches(quote, number, effort), limit)
        if effort.is_spent and len(found) == 1:  # whether it is the only one is not known
            return Located(())
        if found and (not spans or self._shows_ends(found[0].number, found[0])):
            return self._located([[match] for match in found])
        if spans:
            return _verbatim(quote, spans)
        parts = parts_of(quote)
        if len(parts) < 2:
            return Located(())
        ranked = {
            part: self._ranked(self._matches(part, number, effort), MOST_PLACES + 1) for part in dict.fromkeys(parts)
        }
        if effort.is_spent:
            return Located(())
        located = self._located(chains([ranked[part] for part in parts], self._rank, self.markups, limit))
        return Located(
            located.places, in_order([*located.ignoring, "what the quote leaves out"]) if located.places else ()
        )

    def _whole(self, quote: str, doc_id: str | None, limit: int) -> list[CharacterSpan]:
        """Return the verbatim places of a quote at whose ends no word or number goes on."""
        spans = self.verbatim.places(quote, doc_id, limit)
        whole = [span for span in spans if self._is_whole(span)]
        if len(whole) < len(spans) == limit:
            return list(islice(filter(self._is_whole, self.verbatim.occurrences(quote, doc_id)), limit))
        return whole

    def _is_whole(self, span: CharacterSpan) -> bool:
        return not is_cut(self.markups[self.numbers[span.doc_id]], span.start, span.end)

    def places_as_shown(
        self, text: str, doc_id: str | None = None, limit: int = 20
    ) -> list[tuple[CharacterSpan, tuple[str, ...]]]:
        """Return where a text is shown, verbatim or not, and what was ignored at each place.

        Other than for `locate`, capitals count, and so does everything at the ends of the text.

        Args:
            text: The text, as a renderer shows it; a blank one is never found.
            doc_id: Search only this document.
            limit: Stop after this many places.
        """
        number = None if doc_id is None else self.numbers.get(DocumentId(doc_id))
        if doc_id is not None and number is None:
            return []
        effort = Effort()
        same = (
            match
            for match in self._matches(text, number, effort)
            if not match.added and CAPITALS not in match.ignoring and self._is_shown_whole(match, text)
        )
        found = [(self._span(match), match.ignoring) for match in islice(same, limit)]
        return [] if effort.is_spent and len(found) == 1 else found

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
        number = None if doc_id is None else self.numbers.get(DocumentId(doc_id))
        quoted, effort = QuotedText.of(text), Effort(_MOST_OF_A_RESULT)
        if not quoted.key or (doc_id is not None and number is None):  # else all documents would be rendered
            return []
        for texts in dict.fromkeys((self.rendered, self._plain)):
            if found := list(islice(stretches(quoted, texts, effort, number), limit)):
                return [self._span(match) for match in found]
        return []

    def _is_shown_whole(self, match: Match, text: str) -> bool:
        shown = self.markups[match.number].shown(match.start, match.end)
        return "".join(map(key, shown)) == "".join(map(key, text))

    def _with_others(self, quote: str, spans: list[CharacterSpan], number: int | None, limit: int) -> Located:
        """Return verbatim places and those that only look the same, in order; capitals and all at the ends count.

        If not all places were compared, whether there are others of the single one is not known: then there is none.
        """
        effort = Effort()
        verbatim = _verbatim(quote, spans)
        taken: dict[int, Places] = {}
        for span in spans:
            taken.setdefault(self.numbers[span.doc_id], Places()).add(span.start, span.end)
        as_written = all(
            self.markups[self.numbers[span.doc_id]].shown(span.start, span.end) == span.text for span in spans
        )
        same = (
            match
            for match in self._matches(quote, number, effort, (self.rendered,) if as_written else None)
            if not match.added
            and CAPITALS not in match.ignoring
            and self._shows_ends(match.number, match)
            and not (match.number in taken and taken[match.number].have(match.start, match.end))
        )
        others = self._located([[match] for match in islice(same, limit - len(spans))])
        if effort.is_spent and len(spans) + len(others.places) == 1:
            return Located(())
        places = sorted(
            [*verbatim.places, *others.places], key=lambda place: (self.numbers[place[0].doc_id], place[0].start)
        )
        return Located(tuple(places), in_order([*verbatim.ignoring, *others.ignoring]))

    def _preferred(self, found: Iterable[Match], limit: int) -> list[Match]:
        """Return the matches that are shown and have the capitals of the quote; else without these, else any."""
        ranked = self._ranked(found, limit)
        return in_document_order(next(filter(None, ranked), ranked[0]))

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
        return 2 * (not self._shows_ends(match.number, match)) + (CAPITALS in match.ignoring)

    def _is_shown(self, number: int, place: Match | CharacterSpan) -> bool:
        """Return whether a renderer shows anything of a place; not so in comments, scripts and attributes."""
        return self.markups[number].shows(place.start, place.end)

    def _shows_ends(self, number: int, place: Match | CharacterSpan) -> bool:
        """Return whether a renderer shows the first and the last letter or number of a place."""
        markup = self.markups[number]
        inside = range(place.start, place.end)
        ends = [next((at for at in side if key(markup.source[at])), place.start) for side in (inside, reversed(inside))]
        return not any(map(markup.hides, ends))

    def _matches(
        self, quote: str, number: int | None, effort: Effort, views: Sequence[KeyedTexts] | None = None
    ) -> Iterator[Match]:
        """Yield the places of a quote: as the documents stand, then as they are shown, each place once."""
        quoted = QuotedText.of(quote)
        as_written: dict[int, Places] = {}
        for texts in (views or dict.fromkeys((self._plain, self.rendered))) if quoted.key else ():
            for match in matches(quoted, texts, effort, number):
                if texts is self.rendered:
                    if match.number in as_written and as_written[match.number].have(match.start, match.end):
                        continue
                elif self._is_other_as_shown(match, quoted):
                    continue
                elif self._shows_ends(match.number, match):  # what does not may be within a place that does
                    as_written.setdefault(match.number, Places()).add(match.start, match.end)
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

    def _located(self, found: list[list[Match]]) -> Located:
        places = tuple(tuple(map(self._span, matched)) for matched in found)
        return Located(places, in_order(name for matched in found for match in matched for name in match.ignoring))

    def _span(self, match: Match) -> CharacterSpan:
        document = self.corpus.documents[match.number]
        return CharacterSpan(document.id, match.start, match.end, document.content[match.start : match.end])

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
        if not any(markup.starts for markup in self.markups):
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


# Labels that are the same to a reader, however their documents write them.


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
