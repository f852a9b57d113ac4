"""`TokenLevelDataGenerator`: questions with the spans of text that answer them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from ...contracts.roles import QuestionRequest, Section
from ...data import (
    TOKEN,
    Answer,
    CharacterSpan,
    Corpus,
    DocumentId,
    Level,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
)
from ...data.documents import DocumentResolver
from ...errors import ProviderError
from ...labels.quote_locator import QuoteLocator
from ...labels.quote_table import MOST_OCCURRENCES, locate_quote
from ...text.markups.markup import struck_out
from ...text.text_locator import is_long
from ..people.passages import copies_of, merged
from .asking import AskedQuestions, Asker, Quotes, load_prompt
from .candidates import Candidate, Evidence, Reason, Rejection, rejected, sifted
from .filters import flaw_of_quotes, without_question
from .generator import Messages, SyntheticDataGenerator, passages
from .strategies import sections_of

QUOTES = "quotes"
FAILED = "request for quotes failed"
NO_QUOTE = "no quote"
NOT_FOUND = "quote not in the documents"
ELSEWHERE = "quote not in what was shown"
AMBIGUOUS = "ambiguous quote"
HIDDEN = "quote of text that readers do not see"
STRUCK_OUT = "quote of text that is struck out"

_Place = tuple[CharacterSpan, ...]
_Candidate = Candidate[CharacterSpan]
Label: TypeAlias = CharacterSpan | Answer[CharacterSpan]


class TokenLevelDataGenerator(SyntheticDataGenerator[CharacterSpan]):
    """Generator of questions with the spans that answer them, independent of any chunker.

    One call writes questions, one more for each question copies out what answers it, verbatim. Code finds these quotes
    in what was shown, as it finds people's: up to white space, typography and markup. What is not found, such as a
    paraphrase, is left out, and so is a short text that stands there several times; a question without any quote is
    rejected.

    The parameters are those of `SyntheticDataGenerator`; its `chunk_registry` has the quotes as position-aware chunks.
    """

    level: ClassVar[Level[Any]] = TOKEN
    prompt: ClassVar[str] = "questions"
    form = AskedQuestions

    @cached_property
    def _locator(self) -> tuple[QuoteLocator, DocumentResolver]:
        return QuoteLocator.of(self.corpus), DocumentResolver(self.corpus)

    def sections(self) -> list[Section]:
        """Return all documents in parts of whole paragraphs."""
        return sections_of(self.corpus, self.section_size, self.headings)

    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages that ask for questions about passages."""
        given = passages(request.sections, request.wish)
        return load_prompt(self.prompt).messages(wish=request.wish, passages=given, count=request.questions)

    def verifying(self, request: QuestionRequest, question: str) -> tuple[str, Messages]:
        """Return the call for the quotes that answer a question."""
        given = passages(request.sections, question)
        return QUOTES, load_prompt(QUOTES).messages(question=question, passages=given)

    def verified(self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]) -> list[_Candidate]:
        """Return the questions with the places of their quotes; those of which no quote is found are rejected."""
        asked = [self.verifying(each.request, each.question)[1] for each in candidates]
        found: list[_Candidate] = []
        for candidate, answer in zip(candidates, asker.ask(Quotes, asked, "Asking for quotes"), strict=True):
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", FAILED, str(answer)))
                continue
            quotes = dict.fromkeys(filter(str.strip, answer.quotes))
            placed = [self._located(quote, candidate.request.sections) for quote in quotes]
            labels = distinct((each for each in placed if not isinstance(each, tuple)), self.corpus)
            failed = [each for each in placed if isinstance(each, tuple)]
            if not labels:
                rejections.append(rejected(candidate, "verified", *(failed[0] if failed else (NO_QUOTE, ""))))
                continue
            rejections += [rejected(candidate, "verified", *reason, questions=0) for reason in failed]
            evidence = tuple(map(self._evidence, labels))
            found.append(without_question(replace(candidate, answers=tuple(labels), evidence=evidence), rejections))
        return sifted(found, "verified", map(flaw_of_quotes, found), rejections)

    def truth(self, query: Query, candidate: _Candidate) -> TokenLevelGroundTruth:
        """Return the ground truth of a question, and keep its spans in the registry."""
        truth = TokenLevelGroundTruth(query, candidate.answers)
        for span in truth.labels:
            self.chunk_registry.register_pa_chunk(PositionAwareChunk.of(self.corpus[span.doc_id], span.start, span.end))
        return truth

    def _located(self, quote: str, sections: Sequence[Section]) -> Label | Reason:
        """Return where a quote stands in the sections, as ground truth takes it; or why it is not taken.

        If it stands there several times, or elsewhere too, and is long enough to be the same wherever it stands, each
        place answers: they are alternatives.
        """
        locator, _ = self._locator
        docs = tuple(dict.fromkeys(section.doc_id for section in sections))
        found = [place for doc_id in docs for place in locator.locate(quote, doc_id, MOST_OCCURRENCES + 1).places]
        inside = [place for place in found if _is_shown(place, sections)]
        if not inside:
            return self._not_inside(quote, docs, is_elsewhere=bool(found))
        valid = [place for place in inside if not self._flaw(place)]
        if not valid:
            return self._flaw(inside[-1]), quote
        if len(valid) > 1 and not (is_long(quote) and len({self._text_shown(place) for place in valid}) == 1):
            return AMBIGUOUS, f"{len(valid)} places in what was shown: {quote}"
        if any(len(place) > 1 for place in valid):  # "A … B": of the two together nothing is a copy
            return _label(valid)
        spans = [place[0] for place in valid]
        copies = [
            copy
            for copy in copies_of(spans[0], locator.verbatim)
            if not (any(map(copy.overlaps, spans)) or self._flaw((copy,)))
        ]
        return _label([(span,) for span in (*spans, *copies)])

    def _not_inside(self, quote: str, docs: Sequence[DocumentId], is_elsewhere: bool) -> Reason:
        locator, resolver = self._locator
        if is_elsewhere or locator.locate(quote, None, 1).places:
            return ELSEWHERE, quote
        advice = locate_quote(quote, docs[0], locator, resolver).advice
        return NOT_FOUND, f"{quote}; {advice}" if advice else quote

    def _flaw(self, place: _Place) -> str:
        """Return why a place answers nothing: a part of it is not shown, or is struck out; "" if it is all right."""
        markups = [(self._locator[0].markup(span), span.start, span.end) for span in place]
        if not all(markup.shows(start, end) for markup, start, end in markups):
            return HIDDEN
        return STRUCK_OUT if any(struck_out(*each) == "all" for each in markups) else ""

    def _text_shown(self, place: _Place) -> str:
        """Return the text of a place as readers see it, up to white space."""
        parts = [self._locator[0].markup(span).shown(span.start, span.end) for span in place]
        return " ".join(" ".join(parts).split())

    def _evidence(self, label: Label) -> Evidence:
        """Return the text and the places of a label: the text of its first place."""
        places = label.places if isinstance(label, Answer) else ((label,),)
        first, everywhere = places[0], tuple(span for place in places for span in place)
        heading, documents = self.headings.at(first[0].doc_id, first[0].start), {place[0].doc_id for place in places}
        text = " … ".join(span.text for span in first)
        return Evidence(text, first[0].doc_id, frozenset(documents), heading, everywhere)


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
    listed = list(labels)
    whole = [places[0] for places in merged([(each,) for each in listed if isinstance(each, CharacterSpan)], corpus)]
    kept = dict.fromkeys(
        label if isinstance(label, Answer) else next(span for span in whole if _covers((span,), (label,)))
        for label in listed
    )
    references = {label: label.reference if isinstance(label, Answer) else (label,) for label in kept}
    return [
        label
        for label, own in references.items()
        if not any(other != label and _covers(theirs, own) for other, theirs in references.items())
    ]


def _covers(outer: _Place, inner: _Place) -> bool:
    return all(
        any(one.doc_id == span.doc_id and one.start <= span.start and span.end <= one.end for one in outer)
        for span in inner
    )
