"""`TokenLevelDataGenerator`: questions with the spans of text that answer them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, Section
from rag_evaluation_framework.data import TOKEN, CharacterSpan, Level, PositionAwareChunk, Query, TokenLevelGroundTruth
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.answerability import PLACES, choosing, chosen, quoted_plausibly
from rag_evaluation_framework.synthesis.asking import Asker
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.estimate import NUMBERS, FollowUp, Messages, Range, quoted
from rag_evaluation_framework.synthesis.forms import AskedQuestions, Quotes, load_prompt
from rag_evaluation_framework.synthesis.generation import ASKING, Labeller, asking, passages
from rag_evaluation_framework.synthesis.generator import SyntheticDataGenerator
from rag_evaluation_framework.synthesis.quoting import (
    AROUND,
    MOST_PLACES,
    NO_QUOTE,
    Ambiguous,
    Label,
    QuoteVerifier,
    Unverified,
    distinct,
)
from rag_evaluation_framework.synthesis.sections import sections_of

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

    @cached_property
    def _verifier(self) -> QuoteVerifier:
        return QuoteVerifier(self.corpus, self.headings)

    def sections(self) -> list[Section]:
        """Return all documents in parts of whole paragraphs."""
        return sections_of(self.corpus, self.section_size, self.headings)

    def ask(self, requests: Sequence[QuestionRequest], asker: Asker) -> Sequence[AskedQuestions | ProviderError]:
        """Return the questions that are written about the passages of each request, or why there are none."""
        return asker.ask(AskedQuestions, [self.asking(each) for each in requests], ASKING)

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
        return quoted_plausibly([candidate for candidate in found if candidate is not None], rejections)

    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages that ask for questions about passages."""
        return asking(self.writes, request)

    def verifying(self, request: QuestionRequest, mark: Range) -> list[FollowUp]:
        """Return the call for quotes, and those about places of quotes that stand at several."""
        quotes = FollowUp(_quoting("", request), Range(), quoted(request))
        around = Range(most=MOST_AMBIGUOUS * MOST_PLACES * (2 * AROUND + 2) * _BYTES)
        copies = Range(most=MOST_AMBIGUOUS * sum(len(each.text.encode()) for each in request.sections))
        told = around + copies + mark * (MOST_AMBIGUOUS * MOST_PLACES)
        return [quotes, FollowUp(choosing(PLACES, "", ()), told, NUMBERS, Range(most=MOST_AMBIGUOUS))]

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
