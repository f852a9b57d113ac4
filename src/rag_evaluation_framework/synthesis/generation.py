"""One generation, from planned requests to the questions that are kept, and what differs in it from level to level."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeAlias

from rag_evaluation_framework.contracts import Chunker, PositionAwareChunker, QuestionRequest, Section
from rag_evaluation_framework.data import ChunkRegistry, Corpus, GroundTruth, Query
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.retrievers.indexing import DEFAULT_CHUNKER, chunk_corpus
from rag_evaluation_framework.synthesis.answerability import (
    ALONE,
    CHECK,
    DEPTH,
    AnswerSearch,
    answered_after_all,
    answered_by_a_part,
    checking,
    choosing,
    flaw_of_wording,
    looking,
    unanswerable,
)
from rag_evaluation_framework.synthesis.asking import AskedQuestions, Asker, CitedQuestions, load_prompt, marked
from rag_evaluation_framework.synthesis.candidates import (
    Candidate,
    Funnel,
    Rejection,
    answered_in_too_few,
    in_order,
    parsed_questions,
    sifted,
)
from rag_evaluation_framework.synthesis.estimate import (
    NUMBERS,
    VERDICT,
    Call,
    Messages,
    Range,
    excerpts_of,
    marks_with,
)
from rag_evaluation_framework.synthesis.filtering import Filter, QualityFilters, contradicted
from rag_evaluation_framework.synthesis.strategies import Headings

# What differs from level to level while questions are generated.


def asking(prompt: str, request: QuestionRequest) -> list[dict[str, str]]:
    """Return the messages that ask for questions about the passages of a request."""
    shown = passages(request.sections, request.wish)
    return load_prompt(prompt).messages(wish=request.wish, passages=shown, count=request.questions)


def passages(sections: Sequence[Section], beside: str) -> str:
    """Return sections as prompts show them, each with its document and heading.

    Args:
        sections: The sections.
        beside: What else is shown.
    """
    told = [{"document": each.doc_id, "heading": each.heading} for each in sections]
    return marked("passage", [each.text for each in sections], beside, told)


class Labeller(ABC, Generic[U]):
    """Asks for questions with labels of one level, and verifies the labels.

    Args:
        corpus: The documents.
        section_size: The most characters that are shown in one piece.

    Attributes:
        headings: The headings of the documents.
        chunk_registry: What answers the questions, as position-aware chunks, or the chunks that are shown.
        passages: How the documents are cut where answers are looked for.
        chunking: The fingerprint of the chunks that are labelled; None where none are.
    """

    level: ClassVar[Level[Any]]
    writes: ClassVar[str]
    """The name of the prompt with which it asks for questions."""
    form: ClassVar[type[AskedQuestions] | type[CitedQuestions]]
    """What questions are asked for as."""
    read: ClassVar[Any] = None
    """Reads the text of an answer, as of `LanguageModel.form`."""

    def __init__(self, corpus: Corpus, section_size: int) -> None:
        self.corpus, self.section_size = corpus, section_size
        self.headings = Headings(corpus)
        self.chunk_registry = ChunkRegistry()
        self.passages: Chunker | PositionAwareChunker = DEFAULT_CHUNKER
        self.chunking: str | None = None

    @abstractmethod
    def sections(self) -> list[Section]:
        """Return all sections of all documents."""

    @abstractmethod
    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages of a request for questions."""

    @abstractmethod
    def verified(
        self, candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]
    ) -> list[Candidate[U]]:
        """Return the questions whose answers are in the documents; put the others among the rejections."""

    @abstractmethod
    def truth(self, query: Query, candidate: Candidate[U]) -> GroundTruth[U]:
        """Return the ground truth of a question."""

    @abstractmethod
    def prompts(self, request: QuestionRequest) -> Sequence[str]:
        """Return the names of the prompts by which it learns what answers the questions of a request."""

    @abstractmethod
    def verifying(self, request: QuestionRequest, mark: Range) -> list[Call]:
        """Return what it asks for each question of a request, to learn what answers it.

        Args:
            request: The request.
            mark: Tokens of the marks around an excerpt.
        """

    def names(self, request: QuestionRequest) -> Sequence[str]:
        """Return the ids of chunks that questions of a request may name."""
        del request
        return ()


# The first step: questions are written for each request, or taken as they are given.

Written: TypeAlias = list[Candidate[U]] | ProviderError
"""The questions of a request, or why there are none."""

ASKING = "Asking for questions"
WITHOUT_ANSWER = "unanswered_questions"
"""The prompt for questions that the documents do not answer."""


def written(requests: Sequence[QuestionRequest], labeller: Labeller[U], asker: Asker) -> list[Written[U]]:
    """Return the questions of each request, in their order, or why there are none."""
    found: dict[int, Written[U]] = {
        number: [Candidate(question, request) for question in request.given]
        for number, request in enumerate(requests)
        if request.given
    }
    with_answer, without = (
        [number for number, each in enumerate(requests) if not each.given and each.has_answer is has_answer]
        for has_answer in (True, False)
    )
    answers = [
        *asker.ask(labeller.form, [labeller.asking(requests[n]) for n in with_answer], ASKING, labeller.read),
        *asker.ask(AskedQuestions, [asking(WITHOUT_ANSWER, requests[n]) for n in without], ASKING),
    ]
    for number, answer in zip([*with_answer, *without], answers, strict=True):
        found[number] = (
            answer
            if isinstance(answer, ProviderError)
            else [Candidate(each.question, requests[number], cited=each.cited) for each in answer.questions]
        )
    return [found[number] for number in range(len(requests))]


# What is asked of the model for the questions of a request, from the first call to the last.


@dataclass(frozen=True)
class Steps:
    """The steps of a generation.

    Attributes:
        labeller: What is done at the level.
        check_answers: Whether answers are judged by a call of its own.
    """

    labeller: Labeller[Any]
    check_answers: bool

    def prompts(self, request: QuestionRequest) -> list[str]:
        """Return the versions of all prompts that make a question of a request, in the order in which they are used."""
        names = [] if request.given else [self.labeller.writes if request.has_answer else WITHOUT_ANSWER]
        if request.has_answer:
            names += self.labeller.prompts(request)
        if self.check_answers:
            names += [CHECK, ALONE] if needs_parts(request) else [CHECK]
        return [*filter(None, [request.prompt_version]), *(load_prompt(name).version for name in names)]

    def follow_ups(self, request: QuestionRequest) -> list[Call]:
        """Return what is asked for each question of a request, after it is written or given."""
        mark = self._mark(request)
        if not request.has_answer:
            return [looking(self.most_found, self.labeller.section_size, mark)]
        asked = self.labeller.verifying(request, mark)
        if not self.check_answers:
            return asked
        excerpts = excerpts_of(request, self.labeller.names(request), mark)
        asked.append(Call(checking("", ()), excerpts, VERDICT))
        if needs_parts(request):
            asked.append(Call(choosing(ALONE, "", ()), excerpts, NUMBERS))
        return asked

    @cached_property
    def most_found(self) -> list[str]:
        """The longest passages, as many as are judged for a question without an answer."""
        return sorted(self.searched, key=len, reverse=True)[: 2 * DEPTH]

    @cached_property
    def searched(self) -> list[str]:
        """The passages among which answers of questions without an answer are looked for."""
        return [chunk.content for chunk in chunk_corpus(self.labeller.corpus, self.labeller.passages)]

    def _mark(self, request: QuestionRequest) -> Range:
        """Return how many tokens the marks around an excerpt have."""
        headings = self.labeller.headings
        doc_ids = request.doc_ids if request.has_answer else [document.id for document in self.labeller.corpus]
        marks = (marks_with(doc_id, headings.longest(doc_id), "number") for doc_id in doc_ids)
        return max(marks, key=lambda mark: mark.most)


def needs_parts(request: QuestionRequest) -> bool:
    """Return whether questions of a request have to be answered by several places or documents together."""
    return max(request.least_places, request.least_documents) > 1


# One generation: from planned requests to the questions that are kept.


@dataclass
class Generation(Generic[U]):
    """Writes questions, verifies their answers, and filters them.

    Attributes:
        labeller: What is done at the level.
        filters: What rejects verified questions.
        check_answers: Whether answers are judged by a call of its own.
        asker: Asks the model.
        rejections: What was not taken, and why.
        funnel: How many questions were asked for, and where each of the others was lost.
    """

    labeller: Labeller[U]
    filters: QualityFilters
    check_answers: bool
    asker: Asker
    rejections: list[Rejection] = field(default_factory=list[Rejection], init=False)
    funnel: Funnel = field(default_factory=Funnel, init=False)

    def kept(self, planned: Sequence[tuple[str, QuestionRequest]]) -> list[Candidate[U]]:
        """Return the questions that are kept, in the order of the plan.

        Args:
            planned: The requests for questions, each with the name of its strategy.

        Raises:
            MissingDependency: Questions without an answer are asked for, and the embedder needs what is not installed.
            ProviderError: Every request for questions failed, or no other would be answered.
        """
        requests, labeller = [request for _, request in planned], self.labeller
        embedder = None if all(request.has_answer for request in requests) else self.filters.vectors
        search = (
            None
            if embedder is None
            else AnswerSearch(labeller.corpus, labeller.headings, labeller.passages, embedder, labeller.section_size)
        )
        alone, among = self.filters.functions()
        answers = written(requests, labeller, self.asker)
        proposed, extra = parsed_questions(planned, answers, self.rejections)
        parsed = sifted(proposed, "parsed", map(flaw_of_wording, proposed), self.rejections)
        kept = self._answered([each for each in parsed if each.request.has_answer], alone)
        if search is not None:
            absent = [each for each in parsed if not each.request.has_answer]
            searched = partial(answered_after_all, search=search, asker=self.asker)
            kept = in_order([*kept, *self._passing(absent, searched)])
        kept = self._passing(kept, contradicted)
        # Last, so that none is lost to one that is not kept itself, and users' questions first, which give way to none.
        kept = in_order(self._passing(sorted(kept, key=lambda each: not each.request.given), *among))
        self.funnel = Funnel.of(sum(request.questions for request in requests), self.rejections, extra)
        return kept

    def _answered(self, candidates: Sequence[Candidate[U]], filters: Sequence[Filter]) -> list[Candidate[U]]:
        """Return the questions whose answers are in the documents, and are judged to be answers.

        Questions of users go through no filter: they are what they are.
        """
        verified = self.labeller.verified(candidates, self.asker, self.rejections)
        verified = sifted(verified, "verified", map(answered_in_too_few, verified), self.rejections)
        of_users = [each for each in verified if each.request.given]
        others = self._passing([each for each in verified if not each.request.given], *filters)
        kept = in_order([*of_users, *others])
        checks = (unanswerable, answered_by_a_part) if self.check_answers else ()
        return self._passing(kept, *(partial(check, asker=self.asker) for check in checks))

    def _passing(self, candidates: list[Candidate[U]], *filters: Filter) -> list[Candidate[U]]:
        """Return the candidates that pass all filters; each filter sees what those before it kept."""
        for reasons_of in filters:
            candidates = sifted(candidates, "kept", reasons_of(candidates), self.rejections)
        return candidates
