"""What a quote that was not found may mean: the most similar passage, or nothing if that is noise.

A suggestion is for a person to accept or to refuse; nothing is located by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import floor

from rapidfuzz import fuzz

from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.markups.characters import flat
from rag_evaluation_framework.markups.text_effects import effects
from rag_evaluation_framework.quotes.cell_borders import with_cells_apart
from rag_evaluation_framework.quotes.copied_markup import read_as
from rag_evaluation_framework.quotes.decisive_words import doubt
from rag_evaluation_framework.quotes.likely_slips import other_than_slips
from rag_evaluation_framework.quotes.lost_parts import MOST_PARTS, short
from rag_evaluation_framework.quotes.omissions import parts_of
from rag_evaluation_framework.quotes.passages import LONGEST, Passage, nearest_passage
from rag_evaluation_framework.quotes.quote_locator import Located, QuoteLocator
from rag_evaluation_framework.quotes.rarity import WordRarity
from rag_evaluation_framework.quotes.shown_text import ShownText
from rag_evaluation_framework.quotes.word_differences import WordDifferences
from rag_evaluation_framework.quotes.words import peeled

# How many times what it takes to tell one word of the corpus from all others the shared words have to tell, and which
# share of what the quote tells (benchmarks/suggestions.py).
_LEAST = ((2.0, 0.55), (4.0, 0.4))
_LEAST_ALIKE = 0.4
_RIVAL = 0.02  # passages whose similarities are as near to each other may both be meant
_MOST_DOCUMENTS = 5
_LIMIT = 20


@dataclass(frozen=True)
class Suggestion:
    """A passage that a quote may mean.

    Attributes:
        quote: The full text of the passage, as the document holds it; of several spans, with " … " in between.
        document: The document.
        spans: The spans, in order: "A … B" has two.
        place: `document:line:column` of the first character; both count from 1, columns in characters.
        copies: The places of all passages with this text, as `place`; more than one is ambiguous. At most 20.
        similarity: How similar quote and passage are, without markup, typography and capitals; in [0, 1].
        difference: In what they differ, in words.
        refusal: Why no threshold is enough to accept it: a number, a sign, a negation or a word differs by more than a
            likely slip, the quote has markup that may be text, part of the passage is struck out, raised or lowered,
            it has copies, another passage is about as similar, or it is in another document than the one that was
            named; "" if nothing speaks against it.
    """

    quote: str
    document: DocumentId
    spans: tuple[CharacterSpan, ...]
    place: str
    copies: tuple[str, ...]
    similarity: float
    difference: str
    refusal: str

    @property
    def percent(self) -> str:
        """The similarity in percent, rounded down, so that no text that differs is said to be the same: "99 %"."""
        return f"{floor(100 * self.similarity)} %"


def suggest(quote: str, locator: QuoteLocator, doc_id: str | None = None) -> Suggestion | None:
    """Return the passage that a quote may mean that was not located; None if nothing is similar enough.

    The words that quote and passage share must tell the passage from all others by far, rare words more than frequent
    ones, and must be more than half of what the quote tells; of a long quote two fifths are enough.

    Args:
        quote: The quote; of one with more than 20,000 characters nothing is suggested.
        locator: Locates quotes in the corpus.
        doc_id: The document that is named; if it has no such passage, the others are searched.
    """
    if len(quote) > LONGEST:
        return None
    parts = [part.strip() for part in parts_of(quote)]
    look = partial(_of_parts, parts) if len(parts) > 1 else partial(_nearest, quote)
    found = look(locator, doc_id)
    if found is None and doc_id is not None:
        other = look(locator, None)
        return other and _elsewhere(other, doc_id)
    return found


def suggest_in_its_place(text: str, span: CharacterSpan, locator: QuoteLocator) -> Suggestion | None:
    """Return what stands where a text stood as a suggestion, however little it tells; None if it is not similar.

    Args:
        text: The text, as it is shown.
        span: What is between the same contexts now.
        locator: The locator of the documents.
    """
    number = locator.numbers[span.doc_id]
    markup = locator.markups[number]
    passage = Passage(number, span.start, span.end, ShownText.of(markup, span.start, span.end).text)
    given = with_cells_apart(peeled(text), passage, markup)
    if _similarity(given, passage) < _LEAST_ALIKE:
        return None
    return _told(given, passage, WordDifferences(given, passage.text), locator, span.doc_id)


def suggest_located(located: Located, locator: QuoteLocator, difference: str, refusal: str = "") -> Suggestion:
    """Return the suggestion to take a place at which a quote was located, though not as it was asked for.

    Args:
        located: At least one place.
        locator: What located it.
        difference: In what the place is not what was asked for.
        refusal: Why no threshold is enough to accept it.
    """
    spans = located.places[0]
    return _suggestion(spans, located.places, locator, 1.0, difference, refusal)


def _elsewhere(found: Suggestion, doc_id: str) -> Suggestion:
    difference = f"{found.difference}; in {found.document}, not in {doc_id}"
    return replace(found, difference=difference, refusal="it is in another document than the row names")


def _nearest(quote: str, locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    number = None if doc_id is None else locator.numbers[DocumentId(doc_id)]
    given = peeled(quote)
    passage = nearest_passage(given, locator.rendered, number)
    if passage is None:
        return None
    row = with_cells_apart(given, passage, locator.markups[passage.number])
    if row != given:
        given, passage = row, nearest_passage(row, locator.rendered, number) or passage
    found = WordDifferences(given, passage.text)
    if _is_noise(found, locator.rarity) or _similarity(given, passage) < _LEAST_ALIKE:
        return None
    return _told(given, passage, found, locator, doc_id)


def _told(
    given: str, passage: Passage, found: WordDifferences, locator: QuoteLocator, doc_id: str | None
) -> Suggestion:
    """Return a passage as a suggestion, with what differs and what speaks against it."""
    number = None if doc_id is None else passage.number
    span = _span(passage, locator)
    copies = locator.locate(span.text, doc_id, _LIMIT).places
    similarity, refusal = _similarity(given, passage), _refusal(found, locator.rarity)
    if not any(place[0] == span for place in copies):  # up to 20 of a text that is repeated
        refusal = refusal or ("" if len(copies) > 1 else "a word, a number or a sign goes on beside the passage")
    shown = read_as(span.doc_id, given)
    if shown != given and (as_shown := _similarity(shown, passage)) > similarity:
        similarity, found = as_shown, WordDifferences(shown, passage.text)
        refusal = refusal and (_refusal(found, locator.rarity) or "the quote has markup, which may be text")
    if not refusal and len(copies) < 2:
        refusal = _rival(given, passage, locator, number)
    if looks := _looks(span, locator):
        return _suggestion((span,), copies, locator, similarity, f"{found.told()}, {looks}", refusal or looks)
    return _suggestion((span,), copies, locator, similarity, found.told(), refusal)


def _looks(span: CharacterSpan, locator: QuoteLocator) -> str:
    """Return how letters of a span are written that a quote does not show: "part of it is struck out"; "" if none."""
    markup = locator.markups[locator.numbers[span.doc_id]]
    names = {name for _, names in effects(markup, span.start, span.end) for name in names}
    return f"part of it is {' and '.join(sorted(names))}" if names else ""


def _similarity(quote: str, passage: Passage) -> float:
    return fuzz.ratio(flat(quote).strip(), flat(passage.text).strip()) / 100


def _rival(quote: str, passage: Passage, locator: QuoteLocator, number: int | None) -> str:
    """Return which other passage is about as similar to a quote, as a reason not to take this one; "" if none is."""
    other = nearest_passage(quote, locator.rendered, number, passage)
    if other is None or _similarity(quote, other) < _similarity(quote, passage) - _RIVAL:
        return ""
    return f"another passage is about as similar: {locator.lines.named(_span(other, locator))}"


def _suggestion(
    spans: tuple[CharacterSpan, ...],
    copies: Sequence[tuple[CharacterSpan, ...]],
    locator: QuoteLocator,
    similarity: float,
    difference: str,
    refusal: str,
) -> Suggestion:
    """Return the suggestion of some spans; several copies are a reason to refuse it, if there is no other."""
    place = locator.lines.named(spans[0])
    places = tuple(locator.lines.named(copy[0]) for copy in copies) or (place,)
    several = f"it occurs {len(copies)} times" if len(copies) > 1 else ""
    text = " … ".join(span.text for span in spans)
    similarity = round(similarity, 4)
    return Suggestion(text, spans[0].doc_id, spans, place, places, similarity, difference, refusal or several)


def _refusal(found: WordDifferences, rarity: WordRarity) -> str:
    """Return what differs that nobody may accept unseen; "" if it is nothing but likely slips."""
    changes = other_than_slips(found, rarity)
    return doubt(found) or (f"a word differs: {found.told_of(changes[0])}" if changes else "")


def _is_noise(found: WordDifferences, rarity: WordRarity) -> bool:
    """Return whether the words that are shared may be shared by chance."""
    told = sum(rarity.of(word.form) * alike for word, alike in found.shared())
    whole = sum(rarity.of(word.form) for word in found.given)
    return not any(told >= times * rarity.bits and told >= share * whole > 0 for times, share in _LEAST)


def _span(passage: Passage, locator: QuoteLocator) -> CharacterSpan:
    document = locator.corpus.documents[passage.number]
    return CharacterSpan(document.id, passage.start, passage.end, document.content[passage.start : passage.end])


def _of_parts(parts: list[str], locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    """Return a suggestion for "A … B" of which parts were not located: these, as suggested, with the others, in order.

    They must be in one document.
    """
    if len(parts) > MOST_PARTS:
        return None
    places = [[place for place in locator.locate(part, doc_id, _LIMIT).places if len(place) == 1] for part in parts]
    documents: list[str | None] = list(dict.fromkeys(place[0].doc_id for found in places for place in found))
    for document in documents[:_MOST_DOCUMENTS] or [doc_id]:
        chain: list[CharacterSpan] = []
        suggested: dict[int, Suggestion] = {}
        for number, (part, found) in enumerate(zip(parts, places, strict=True)):
            at = chain[-1].end if chain else 0
            inside = chain[0].doc_id if chain else document
            spans = [place[0] for place in found if place[0].doc_id == inside and place[0].start >= at]
            if not spans and (similar := _nearest(part, locator, inside)) and similar.spans[0].start >= at:
                suggested[number], spans = similar, [similar.spans[0]]
            if not spans:
                break
            chain.append(spans[0])
        if len(chain) == len(parts) and suggested:
            return _joined(parts, chain, suggested, locator)
    return None


def _joined(
    parts: Sequence[str], chain: Sequence[CharacterSpan], suggested: dict[int, Suggestion], locator: QuoteLocator
) -> Suggestion:
    lengths = [len(part) for part in parts]
    alike = [suggested[number].similarity if number in suggested else 1.0 for number in range(len(parts))]
    told = [f"“{short(parts[number])}” was not found: {part.difference}" for number, part in suggested.items()]
    refusal = next((part.refusal for part in suggested.values() if part.refusal), "")
    copies = locator.locate(" … ".join(span.text for span in chain), chain[0].doc_id, _LIMIT).places
    similarity = sum(length * each for length, each in zip(lengths, alike, strict=True)) / sum(lengths)
    return _suggestion(tuple(chain), copies, locator, similarity, "; ".join(told), refusal)
