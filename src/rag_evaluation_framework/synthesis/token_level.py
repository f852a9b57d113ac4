"""`TokenLevelDataGenerator`: questions with the spans of text that answer them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, TypeAlias

from rag_evaluation_framework.annotation.choosing import copies_of, merged
from rag_evaluation_framework.contracts.roles import QuestionRequest, Section
from rag_evaluation_framework.data import (
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
from rag_evaluation_framework.data.documents import DocumentResolver
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.labelling.locating import locate_quote
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES
from rag_evaluation_framework.markups.markup import struck_out
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.synthesis.answerability import PLACES, choosing, chosen, flaw_of_quotes, without_question
from rag_evaluation_framework.synthesis.asking import AskedQuestions, Asker, Quotes, load_prompt
from rag_evaluation_framework.synthesis.candidates import Candidate, Evidence, Rejection, rejected, sifted
from rag_evaluation_framework.synthesis.estimate import NUMBERS, Call, Messages, Range, quoted
from rag_evaluation_framework.synthesis.generation import Labeller, asking, passages
from rag_evaluation_framework.synthesis.generator import SyntheticDataGenerator
from rag_evaluation_framework.synthesis.strategies import Headings, sections_of
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
        markups = [self.locator.markup(span) for span in place]
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
        markups = [self.locator.markup(span) for span in place]
        return not all(markup.shows(span.start, span.end) for markup, span in zip(markups, place, strict=True))

    def _is_struck_out(self, place: _Place) -> bool:
        markups = [self.locator.markup(span) for span in place]
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


# Spans as labels: the model quotes what answers a question, and code finds the quote.

QUOTES = "quotes"
FAILED = "request for quotes failed"

MOST_AMBIGUOUS = 3
"""Of how many quotes of a question it is asked which of several places is meant."""

_BYTES = 4  # of a character, at most

_Candidate = Candidate[CharacterSpan]


class TokenLabeller(Labeller[CharacterSpan]):
    """Asks for quotes of what answers a question, and labels where they stand.

    Its `chunk_registry` has the quotes as position-aware chunks.
    """

    level: ClassVar[Level[Any]] = TOKEN
    writes: ClassVar[str] = "questions"
    form = AskedQuestions

    @cached_property
    def _verifier(self) -> QuoteVerifier:
        return QuoteVerifier(self.corpus, self.headings)

    def sections(self) -> list[Section]:
        """Return all documents in parts of whole paragraphs."""
        return sections_of(self.corpus, self.section_size, self.headings)

    def verified(self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]) -> list[_Candidate]:
        """Return the questions with the places of their quotes; those of which no quote is found are rejected."""
        asked = [_quoting(each.question, each.request) for each in candidates]
        answers = asker.ask(Quotes, asked, "Asking for quotes")
        labelled: list[tuple[_Candidate, list[Label | Ambiguous | Unverified]]] = []
        for candidate, answer in zip(candidates, answers, strict=True):
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", FAILED, str(answer)))
                continue
            sections = candidate.request.sections
            quotes = [
                self._verifier.verified(each, sections) for each in dict.fromkeys(filter(str.strip, answer.quotes))
            ]
            labelled.append((candidate, _few_ambiguous(quotes)))
        meant = _resolved([(each.question, label) for each, labels in labelled for label in labels], asker)
        found = [
            _with_answers(each, [*islice(meant, len(labels))], self._verifier, rejections) for each, labels in labelled
        ]
        distinct = [without_question(candidate, rejections) for candidate in found if candidate is not None]
        return sifted(distinct, "verified", map(flaw_of_quotes, distinct), rejections)

    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages that ask for questions about passages."""
        return asking(self.writes, request)

    def verifying(self, request: QuestionRequest, mark: Range) -> list[Call]:
        """Return the call for quotes, and those about places of quotes that stand at several."""
        quotes = Call(_quoting("", request), Range(), quoted(request))
        around = Range(most=MOST_AMBIGUOUS * MOST_PLACES * (2 * AROUND + 2) * _BYTES)
        copies = Range(most=MOST_AMBIGUOUS * sum(len(each.text.encode()) for each in request.sections))
        told = around + copies + mark * (MOST_AMBIGUOUS * MOST_PLACES)
        return [quotes, Call(choosing(PLACES, "", ()), told, NUMBERS, Range(most=MOST_AMBIGUOUS))]

    def prompts(self, request: QuestionRequest) -> Sequence[str]:
        """Return the prompts for quotes and for their places."""
        del request
        return (QUOTES, PLACES)

    def truth(self, query: Query, candidate: _Candidate) -> TokenLevelGroundTruth:
        """Return the ground truth of a question, and keep its spans in the registry."""
        truth = TokenLevelGroundTruth(query, candidate.answers)
        for span in truth.labels:
            self.chunk_registry.register_pa_chunk(PositionAwareChunk.of(self.corpus[span.doc_id], span.start, span.end))
        return truth


def _quoting(question: str, request: QuestionRequest) -> Messages:
    return load_prompt(QUOTES).messages(question=question, passages=passages(request.sections, question))


def _few_ambiguous(labels: Sequence[Label | Ambiguous | Unverified]) -> list[Label | Ambiguous | Unverified]:
    """Return labels of which so many are ambiguous as is asked about for one question."""
    many = [label for label in labels if isinstance(label, Ambiguous)][MOST_AMBIGUOUS:]
    return [label.unresolved if isinstance(label, Ambiguous) and label in many else label for label in labels]


def _resolved(
    labels: Sequence[tuple[str, Label | Ambiguous | Unverified]], asker: Asker
) -> Iterator[Label | Unverified]:
    """Yield labels in their order, the ambiguous ones as a call says that looks at what is around them.

    Args:
        labels: Each with its question.
        asker: Asks the model.
    """
    asked = [
        choosing(PLACES, question, label.surroundings) for question, label in labels if isinstance(label, Ambiguous)
    ]
    answers = iter(chosen(asked, asker, "Choosing places"))
    for _, label in labels:
        if isinstance(label, Ambiguous):
            answer = next(answers)
            yield label.unresolved if isinstance(answer, ProviderError) else label.resolved(answer)
        else:
            yield label


def _with_answers(
    candidate: _Candidate, found: Sequence[Label | Unverified], verifier: QuoteVerifier, rejections: list[Rejection]
) -> _Candidate | None:
    """Return a candidate with the places of its quotes; None, and a rejection, if none of them is found."""
    labels = distinct((label for label in found if not isinstance(label, Unverified)), verifier.corpus)
    failed = [label for label in found if isinstance(label, Unverified)]
    if not labels:
        first = failed[0] if failed else Unverified(NO_QUOTE, "")
        rejections.append(rejected(candidate, "verified", first.reason, first.detail))
        return None
    rejections += [rejected(candidate, "verified", each.reason, each.detail, questions=0) for each in failed]
    return replace(candidate, answers=tuple(labels), evidence=tuple(map(verifier.evidence, labels)))


class TokenLevelDataGenerator(SyntheticDataGenerator[CharacterSpan]):
    """Generator of questions with the spans that answer them, independent of any chunker.

    One call writes questions, one more for each question copies out what answers it, verbatim. Code finds these quotes
    in what was shown, as it finds people's: up to white space, typography and markup. What is not found, such as a
    paraphrase, is left out; a question without any quote is rejected.

    The parameters are those of `SyntheticDataGenerator`; its `chunk_registry` has the quotes as position-aware chunks.
    """

    def labeller(self) -> Labeller[CharacterSpan]:
        """Return what labels spans."""
        return TokenLabeller(self.corpus, self.section_size)
