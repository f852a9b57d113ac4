"""`TokenLevelDataGenerator`: questions with the spans of text that answer them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, Section
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.ground_truth import TokenLevelGroundTruth
from rag_evaluation_framework.data.levels import TOKEN, Level
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.asking import Asker, Form
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.estimate import Messages
from rag_evaluation_framework.synthesis.forms import AskedQuestions, Quotes, read_questions, read_quotes
from rag_evaluation_framework.synthesis.generator import SyntheticDataGenerator
from rag_evaluation_framework.synthesis.marks import free_mark
from rag_evaluation_framework.synthesis.plausibility import quoted_plausibly
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.quoting import NO_QUOTE, QuoteVerifier, Unverified, excerpt
from rag_evaluation_framework.synthesis.sections import sections_of

FAILED = "request for quotes failed"

_Candidate = Candidate[CharacterSpan]


class TokenLevelDataGenerator(SyntheticDataGenerator[CharacterSpan]):
    """Generator of questions with the spans that answer them, independent of any chunker.

    One call writes questions, one more for each question copies out what answers it, verbatim. Code finds these quotes
    in what was shown, as it finds people's: up to white space, typography and markup. What is not found, such as a
    paraphrase, is left out; a question without any quote is rejected.

    The parameters are those of `SyntheticDataGenerator`; its `chunk_registry` has the quotes as position-aware chunks.
    """

    level: ClassVar[Level[Any]] = TOKEN
    prompts: ClassVar[tuple[str, ...]] = ("questions", "quotes")

    def _sections(self) -> list[Section]:
        return sections_of(self.corpus, self.section_size)

    def _proposed(self, requests: Sequence[QuestionRequest], asker: Asker) -> list[list[_Candidate] | ProviderError]:
        asked = [self._asking(request) for request in requests]
        answers = asker.ask(Form(AskedQuestions, read_questions), asked, "Asking for questions")
        return [
            answer
            if isinstance(answer, ProviderError)
            else [Candidate(each.question, request) for each in answer.questions]
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _verified(
        self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]
    ) -> list[_Candidate]:
        verifier = QuoteVerifier(self.corpus)
        asked = [_quoting(each.question, each.request) for each in candidates]
        answers = asker.ask(Form(Quotes, read_quotes), asked, "Asking for quotes")
        found: list[_Candidate] = []
        for candidate, answer in zip(candidates, answers, strict=True):
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", FAILED, str(answer)))
            elif (verified := _with_answers(candidate, answer.quotes, verifier, rejections)) is not None:
                found.append(verified)
        return quoted_plausibly(found, rejections)

    def _asking(self, request: QuestionRequest) -> Messages:
        shown = passages(request.sections, request.wish)
        return load_prompt("questions").messages(wish=request.wish, passages=shown, count=request.questions)

    def _followed_by(self, request: QuestionRequest) -> list[tuple[str, Messages]]:
        return [("quotes", _quoting("", request)), *super()._followed_by(request)]

    def _truth(self, query: Query, candidate: _Candidate) -> TokenLevelGroundTruth:
        truth = TokenLevelGroundTruth(query, candidate.answers)
        for span in truth.labels:
            self.chunk_registry.register_pa_chunk(PositionAwareChunk.of(self.corpus[span.doc_id], span.start, span.end))
        return truth


def _quoting(question: str, request: QuestionRequest) -> Messages:
    return load_prompt("quotes").messages(question=question, passages=passages(request.sections, question))


def _with_answers(
    candidate: _Candidate, quotes: Sequence[str], verifier: QuoteVerifier, rejections: list[Rejection]
) -> _Candidate | None:
    """Return a candidate with the places of its quotes; None, and a rejection, if none of them is found."""
    labels: list[CharacterSpan | Answer[CharacterSpan]] = []
    failed: list[Unverified] = []
    for quote in dict.fromkeys(quotes):
        label = verifier.verified(quote, candidate.request.sections)
        if isinstance(label, Unverified):
            failed.append(label)
        elif label not in labels:
            labels.append(label)
    if not labels:
        first = failed[0] if failed else Unverified(NO_QUOTE, "")
        rejections.append(rejected(candidate, "verified", first.reason, first.detail))
        return None
    rejections += [rejected(candidate, "verified", each.reason, each.detail, questions=0) for each in failed]
    spans = [span for label in labels for span in (label.reference if isinstance(label, Answer) else (label,))]
    return replace(
        candidate,
        answers=tuple(labels),
        excerpts=tuple(map(excerpt, labels)),
        source_docs=tuple(dict.fromkeys(span.doc_id for span in spans)),
    )


def passages(sections: Sequence[Section], beside: str) -> str:
    """Return sections as prompts show them, each with its document, between marks that neither they nor `beside` have.

    Args:
        sections: The sections.
        beside: What else is shown.
    """
    mark = free_mark("passage", [*(section.text for section in sections), beside])
    shown = [f"<{mark} document={quoteattr(each.doc_id)}>\n{each.text}\n</{mark}>" for each in sections]
    return "\n\n".join(shown)
