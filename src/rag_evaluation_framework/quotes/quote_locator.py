"""Locating quotes as people copy them: verbatim, or ignoring what a renderer and a keyboard change."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from weakref import WeakValueDictionary

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.formats import markup_of, with_hidden_elements, with_image_texts
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.differences import CAPITALS, differences, in_order
from rag_evaluation_framework.quotes.ends import is_cut
from rag_evaluation_framework.quotes.keyed_texts import KeyedTexts
from rag_evaluation_framework.quotes.omissions import parts_of
from rag_evaluation_framework.quotes.part_chains import MOST_PLACES, chains
from rag_evaluation_framework.quotes.places import Places
from rag_evaluation_framework.quotes.quote_matcher import Effort, Match, in_document_order, matches, stretches
from rag_evaluation_framework.quotes.quoted_text import QuotedText
from rag_evaluation_framework.quotes.rarity import WordRarity
from rag_evaluation_framework.text.line_places import LinePlaces
from rag_evaluation_framework.text.text_locator import TextLocator

_MOST_OF_A_RESULT = 2_000  # gaps; of 600 letters that stand at 280 places with other signs
NOT_SHOWN = "that it is not shown: it stands in a comment, a script, an attribute or a hidden element"


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
    ligatures, divided words) and in the markup that a renderer of Markdown, HTML or reStructuredText does not show. If
    it is nowhere so, it is located without what people add to its ends, and up to capitals. Letters, numbers and the
    symbols between them have to be the same, and white space beside a symbol has to be on the same side of it. What is
    in a comment, a script, an attribute or a hidden element counts only if nothing that is shown does, and is told.

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
        if not found and not spans:
            found = self._preferred(self._matches(quote, number, effort, (self._with_image_texts,)), limit)
            found = found or self._preferred(self._in_hidden_elements(quote, number, effort), limit)
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
        Other than a quote, it may begin and end within a word. Of places with its letters and other signs, 2,000 are
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
        forms, effort = _forms(text), Effort(_MOST_OF_A_RESULT)
        if not forms or (doc_id is not None and number is None):  # else all documents would be rendered
            return []
        for texts in dict.fromkeys((self.rendered, self._plain, self._with_hidden_elements)):
            for form in forms:
                if found := list(islice(stretches(form, texts, effort, number), limit)):
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
        forms = _forms(quote)
        seen: list[dict[int, Places]] = []
        for texts in views or dict.fromkeys((self._plain, self.rendered)):
            for form in forms[:1] if texts is self._plain is not self.rendered else forms:
                found: dict[int, Places] = {}
                for match in matches(form, texts, effort, number):
                    if texts is self._plain is not self.rendered and self._is_other_as_shown(match, forms[0]):
                        continue
                    if any(
                        earlier[match.number].have(match.start, match.end)
                        for earlier in seen
                        if match.number in earlier
                    ):
                        continue
                    if self._shows_ends(match.number, match):  # what does not may be within a place that does
                        found.setdefault(match.number, Places()).add(match.start, match.end)
                    yield match
                seen.append(found)

    def _in_hidden_elements(self, quote: str, number: int | None, effort: Effort) -> Iterator[Match]:
        """Yield the places of a quote in hidden elements, as these would be shown; not where other text is, too."""
        for match in self._matches(quote, number, effort, (self._with_hidden_elements,)):
            if not self._is_shown(match.number, match):
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
    def rarity(self) -> WordRarity:
        """How rare words are in the documents."""
        return WordRarity(document.content for document in self.corpus)

    @cached_property
    def rendered(self) -> KeyedTexts:
        """The documents as they are shown."""
        if not any(markup.starts for markup in self.markups):
            return self._plain
        return KeyedTexts(self.markups)

    @cached_property
    def _with_image_texts(self) -> KeyedTexts:
        """The documents with images, which are not shown there, but their texts."""
        documents = zip(self.corpus, self.markups, strict=True)
        return KeyedTexts([with_image_texts(document.id, markup) or Markup("") for document, markup in documents])

    @cached_property
    def _with_hidden_elements(self) -> KeyedTexts:
        """The documents with hidden elements, which are shown there."""
        documents = zip(self.corpus, self.markups, strict=True)
        return KeyedTexts([with_hidden_elements(document.id, markup) or Markup("") for document, markup in documents])

    @cached_property
    def markups(self) -> list[Markup]:
        """What is shown of each document."""
        return [markup_of(document.id, document.content) for document in self.corpus]


_shared: WeakValueDictionary[int, QuoteLocator] = WeakValueDictionary()


def _forms(quote: str) -> list[QuotedText]:
    """Return a quote and what else it may be: without list numbers and marks of footnotes, with other signs."""
    whole = QuotedText.of(quote)
    others = (whole.without_numbers(), *whole.without_note_marks(), whole.with_other_signs())
    return [form for form in (whole, *others) if form and form.key]


def _verbatim(quote: str, spans: list[CharacterSpan]) -> Located:
    """Return spans that hold a quote verbatim or up to white space; there may be none."""
    if not spans:
        return Located(())
    text = spans[0].text
    return Located(
        tuple((span,) for span in spans), in_order([] if quote == text else differences(quote.strip(), text))
    )
