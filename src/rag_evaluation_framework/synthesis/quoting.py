"""Verifying quotes: the model quotes, code finds the quote, by the same rules as for people's quotes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_evaluation_framework.annotation.copies import copies_of
from rag_evaluation_framework.contracts.question_strategy import Section
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.document_resolver import DocumentResolver
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.locating import locate_quote
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES
from rag_evaluation_framework.labelling.telling import is_long
from rag_evaluation_framework.markups.text_effects import struck_out
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator

NO_QUOTE = "no quote"
NOT_FOUND = "quote not in the documents"
ELSEWHERE = "quote not in what was shown"
AMBIGUOUS = "ambiguous quote"
HIDDEN = "quote of text that readers do not see"
STRUCK_OUT = "quote of text that is struck out"

_Place = tuple[CharacterSpan, ...]


@dataclass(frozen=True)
class Unverified:
    """Why a quote is not taken.

    Attributes:
        reason: In words that are the same for all of the kind.
        detail: What is particular about it.
    """

    reason: str
    detail: str


class QuoteVerifier:
    """Finds quotes in the sections that a model was shown.

    A quote is what stands in these sections once. If it stands there several times, or elsewhere too, and is long
    enough to be the same wherever it stands, each place answers: they are alternatives. A short text that stands in
    the sections several times is ambiguous.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.locator, self.resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)

    def verified(self, quote: str, sections: Sequence[Section]) -> CharacterSpan | Answer[CharacterSpan] | Unverified:
        """Return where a quote stands, as ground truth takes it, or why it is not taken."""
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

    def _answer(self, quote: str, inside: Sequence[_Place]) -> CharacterSpan | Answer[CharacterSpan] | Unverified:
        texts = {" ".join(" ".join(span.text for span in place).split()) for place in inside}
        if len(inside) > 1 and not (len(texts) == 1 and is_long(quote)):
            return Unverified(AMBIGUOUS, f"{len(inside)} places in what was shown: {quote}")
        if any(len(place) > 1 for place in inside):  # "A … B": of the two together nothing is a copy
            return Answer(tuple(inside))
        spans = [place[0] for place in inside]
        copies = [
            copy
            for copy in copies_of(spans[0], (), self.corpus)
            if not (any(map(copy.overlaps, spans)) or self._is_hidden((copy,)) or self._is_struck_out((copy,)))
        ]
        places = [(span,) for span in (*spans, *copies)]
        return Answer(tuple(places)) if len(places) > 1 else spans[0]

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
        return set(parts) == {"all"}


def _is_shown(place: _Place, sections: Iterable[Section]) -> bool:
    """Return whether all of a place is in one of the sections."""
    return any(
        isinstance(chunk, PositionAwareChunk)
        and all(span.doc_id == chunk.doc_id and chunk.start <= span.start and span.end <= chunk.end for span in place)
        for section in sections
        for chunk in section.chunks
    )


def excerpt(label: CharacterSpan | Answer[CharacterSpan]) -> str:
    """Return the text of a label: that of its first place."""
    return " … ".join(span.text for span in label.reference) if isinstance(label, Answer) else label.text
