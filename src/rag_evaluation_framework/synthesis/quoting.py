"""Verifying quotes: the model quotes, code finds the quote, by the same rules as for people's quotes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rag_evaluation_framework.annotation.choosing import copies_of, merged
from rag_evaluation_framework.contracts.question_strategy import Section
from rag_evaluation_framework.data import Answer, CharacterSpan, Corpus, DocumentId, PositionAwareChunk
from rag_evaluation_framework.data.documents import DocumentResolver
from rag_evaluation_framework.labelling.locating import locate_quote
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES
from rag_evaluation_framework.markups.markup import struck_out
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.synthesis.candidates import Evidence
from rag_evaluation_framework.synthesis.sections import Headings
from rag_evaluation_framework.text.text_locator import is_long

NO_QUOTE = "no quote"
NOT_FOUND = "quote not in the documents"
ELSEWHERE = "quote not in what was shown"
AMBIGUOUS = "ambiguous quote"
HIDDEN = "quote of text that readers do not see"
STRUCK_OUT = "quote of text that is struck out"

MOST_PLACES = 10
"""At how many places a quote may stand for the model to be asked which are meant."""

AROUND = 200
"""How many characters before and after a place are shown then."""

_Place = tuple[CharacterSpan, ...]
Label: TypeAlias = CharacterSpan | Answer[CharacterSpan]


@dataclass(frozen=True)
class Unverified:
    """Why a quote is not taken.

    Attributes:
        reason: In words that are the same for all of the kind.
        detail: What is particular about it.
    """

    reason: str
    detail: str


@dataclass(frozen=True)
class Ambiguous:
    """A quote that stands at several places, of which not all need answer.

    Attributes:
        quote: The quote.
        places: Where it stands, in the order of what was shown.
        surroundings: Each place with what is around it, itself between ⟦ and ⟧.
    """

    quote: str
    places: tuple[_Place, ...]
    surroundings: tuple[Evidence, ...]

    def resolved(self, numbers: Sequence[int]) -> "Label | Unverified":
        """Return the places with these numbers, from 1: any of them answers; not verified if there are none."""
        meant = [self.places[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(self.places)]
        return _label(meant) if meant else self.unresolved

    @property
    def unresolved(self) -> Unverified:
        """That it is not known which place is meant."""
        return Unverified(AMBIGUOUS, f"{len(self.places)} places in what was shown: {self.quote}")


class QuoteVerifier:
    """Finds quotes in the sections that a model was shown.

    A quote is what stands in these sections once. If it stands there several times, or elsewhere too, and is long
    enough to be the same wherever it stands, each place answers: they are alternatives. A short text that stands in
    the sections several times is ambiguous: what is around each place tells which is meant.

    Args:
        corpus: The documents.
        headings: Their headings.
    """

    def __init__(self, corpus: Corpus, headings: Headings) -> None:
        self.corpus, self.headings = corpus, headings
        self.locator, self.resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)

    def verified(self, quote: str, sections: Sequence[Section]) -> Label | Ambiguous | Unverified:
        """Return where a quote stands, as ground truth takes it; that it is ambiguous; or why it is not taken."""
        docs = tuple(dict.fromkeys(section.doc_id for section in sections))
        found = [place for doc_id in docs for place in self.locator.locate(quote, doc_id, MOST_OCCURRENCES + 1).places]
        inside = [place for place in found if _is_shown(place, sections)]
        if not inside:
            return self._not_inside(quote, docs, found)
        shown = [place for place in inside if not self._is_hidden(place)]
        valid = [place for place in shown if not self._is_struck_out(place)]
        if not valid:
            return Unverified(STRUCK_OUT if shown else HIDDEN, quote)
        return self._answer(quote, valid)

    def evidence(self, label: Label) -> Evidence:
        """Return the text and the position of a label: those of its first place."""
        spans = label.reference if isinstance(label, Answer) else (label,)
        documents = {place[0].doc_id for place in label.places} if isinstance(label, Answer) else {label.doc_id}
        doc_id, start, text = spans[0].doc_id, spans[0].start, " … ".join(span.text for span in spans)
        heading, places = self.headings.at(doc_id, start), label.places if isinstance(label, Answer) else ((label,),)
        everywhere = tuple(span for place in places for span in place)
        return Evidence(text, doc_id, start, spans[-1].end, frozenset(documents), heading, everywhere)

    def _answer(self, quote: str, inside: Sequence[_Place]) -> Label | Ambiguous | Unverified:
        texts = {self._shown(place) for place in inside}
        if len(inside) > 1 and not (len(texts) == 1 and is_long(quote)):
            many = len(inside) > MOST_PLACES
            ambiguous = Ambiguous(quote, tuple(inside), () if many else tuple(map(self._surrounded, inside)))
            return ambiguous.unresolved if many else ambiguous
        if any(len(place) > 1 for place in inside):  # "A … B": of the two together nothing is a copy
            return _label(inside)
        spans = [place[0] for place in inside]
        copies = [
            copy
            for copy in copies_of(spans[0], (), self.corpus)
            if not (any(map(copy.overlaps, spans)) or self._is_hidden((copy,)) or self._is_struck_out((copy,)))
        ]
        return _label([(span,) for span in (*spans, *copies)])

    def _shown(self, place: _Place) -> str:
        """Return the text of a place as readers see it, up to white space."""
        markups = [self.locator.markups[self.locator.numbers[span.doc_id]] for span in place]
        parts = [markup.shown(span.start, span.end) for markup, span in zip(markups, place, strict=True)]
        return " ".join(" ".join(parts).split())

    def _surrounded(self, place: _Place) -> Evidence:
        content = self.corpus[place[0].doc_id].content
        told, reached = "", max(place[0].start - AROUND, 0)
        for span in place:
            told += f"{content[reached : span.start]}⟦{content[span.start : span.end]}⟧"
            reached = span.end
        return replace(self.evidence(_label([place])), text=f"…{told}{content[reached : reached + AROUND]}…")

    def _not_inside(self, quote: str, docs: Sequence[DocumentId], found: Sequence[_Place]) -> Unverified:
        if found or self.locator.locate(quote, None, 1).places:
            return Unverified(ELSEWHERE, quote)
        advice = locate_quote(quote, docs[0], self.locator, self.resolver).advice
        return Unverified(NOT_FOUND, f"{quote}; {advice}" if advice else quote)

    def _is_hidden(self, place: _Place) -> bool:
        markups = [self.locator.markups[self.locator.numbers[span.doc_id]] for span in place]
        return not all(markup.shows(span.start, span.end) for markup, span in zip(markups, place, strict=True))

    def _is_struck_out(self, place: _Place) -> bool:
        markups = [self.locator.markups[self.locator.numbers[span.doc_id]] for span in place]
        parts = [struck_out(markup, span.start, span.end) for markup, span in zip(markups, place, strict=True)]
        return "all" in parts


def _is_shown(place: _Place, sections: Iterable[Section]) -> bool:
    """Return whether all of a place is in one of the sections."""
    return any(
        isinstance(chunk, PositionAwareChunk)
        and all(span.doc_id == chunk.doc_id and chunk.start <= span.start and span.end <= chunk.end for span in place)
        for section in sections
        for chunk in section.chunks
    )


def _label(places: Sequence[_Place]) -> Label:
    """Return any of some places as ground truth takes it."""
    only = places[0] if len(places) == 1 else ()
    return only[0] if len(only) == 1 else Answer(tuple(places))


def distinct(labels: Iterable[Label], corpus: Corpus) -> list[Label]:
    """Return labels of which none is a part of another; those that overlap or touch are one.

    Args:
        labels: The labels of a question, in their order.
        corpus: The documents.
    """
    listed = list(dict.fromkeys(labels))
    singles = merged([(label,) for label in listed if isinstance(label, CharacterSpan)], corpus)
    whole = {span: places[0] for places in singles for span in listed if _covers(places[0], span)}
    kept = dict.fromkeys(whole.get(label, label) if isinstance(label, CharacterSpan) else label for label in listed)
    references = {label: label.reference if isinstance(label, Answer) else (label,) for label in kept}
    return [
        label
        for label, own in references.items()
        if not any(
            other != label and all(any(_covers(theirs, span) for theirs in places) for span in own)
            for other, places in references.items()
        )
    ]


def _covers(outer: CharacterSpan, inner: Label) -> bool:
    return (
        isinstance(inner, CharacterSpan)
        and outer.doc_id == inner.doc_id
        and outer.start <= inner.start
        and inner.end <= outer.end
    )
