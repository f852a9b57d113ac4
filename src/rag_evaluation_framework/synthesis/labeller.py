"""`Labeller`: what differs from level to level while questions are generated, after they are written."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeAlias

from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, Section
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.retrievers.indexing import DEFAULT_CHUNKER
from rag_evaluation_framework.synthesis.asking import Asker
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection
from rag_evaluation_framework.synthesis.estimate import FollowUp, Messages, Range
from rag_evaluation_framework.synthesis.forms import AskedQuestions, load_prompt, marked
from rag_evaluation_framework.synthesis.sections import Headings

# The first step: questions are written for each request, or taken as they are given.

Written: TypeAlias = list[Candidate[U]] | ProviderError
"""The questions of a request, or why there are none."""

WITHOUT_ANSWER = "unanswered_questions"
"""The prompt for questions that the documents do not answer."""


def written(
    requests: Sequence[QuestionRequest],
    asker: Asker,
    with_answers: Callable[[Sequence[QuestionRequest]], Sequence[Written[U]]],
) -> list[Written[U]]:
    """Return the questions of each request, in their order, or why there are none.

    Args:
        requests: The requests.
        asker: Asks the model for questions that have no answer.
        with_answers: Asks for those that have one.
    """
    found: dict[int, Written[U]] = {
        number: [Candidate(question, request) for question in request.given]
        for number, request in enumerate(requests)
        if request.given
    }
    for has_answer in (True, False):
        numbers = [n for n, each in enumerate(requests) if not each.given and each.has_answer is has_answer]
        asked = [requests[number] for number in numbers]
        answers: Sequence[Written[U]] = with_answers(asked) if has_answer else questions(WITHOUT_ANSWER, asked, asker)
        found.update(zip(numbers, answers, strict=True))
    return [found[number] for number in range(len(requests))]


def questions(prompt: str, requests: Sequence[QuestionRequest], asker: Asker) -> list[Written[U]]:
    """Return the questions that a model writes about the passages of each request, or why there are none."""
    asked = [asking(prompt, request) for request in requests]
    answers = asker.ask(AskedQuestions, asked, "Asking for questions")
    return [
        answer
        if isinstance(answer, ProviderError)
        else [Candidate(each.question, request) for each in answer.questions]
        for request, answer in zip(requests, answers, strict=True)
    ]


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


# `Labeller`: what differs from level to level while questions are generated.


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
    def written(self, requests: Sequence[QuestionRequest], asker: Asker) -> list[Written[U]]:
        """Return the questions of each request that have an answer, or why there are none."""

    @abstractmethod
    def verified(
        self, candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]
    ) -> list[Candidate[U]]:
        """Return the questions whose answers are in the documents; put the others among the rejections."""

    @abstractmethod
    def truth(self, query: Query, candidate: Candidate[U]) -> GroundTruth[U]:
        """Return the ground truth of a question."""

    def prompts(self, request: QuestionRequest) -> Sequence[str]:
        """Return the names of the prompts by which it learns what answers the questions of a request."""
        del request
        return ()

    def verifying(self, request: QuestionRequest, mark: Range) -> list[FollowUp]:
        """Return what it asks for each question of a request, to learn what answers it.

        Args:
            request: The request.
            mark: Tokens of the marks around an excerpt.
        """
        del request, mark
        return []

    def names(self, request: QuestionRequest) -> Sequence[str]:
        """Return the ids of chunks that questions of a request may name."""
        del request
        return ()
