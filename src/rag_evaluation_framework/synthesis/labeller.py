"""`Labeller`: what differs from level to level while questions are generated."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic

from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, Section
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.retrievers.indexing import DEFAULT_CHUNKER
from rag_evaluation_framework.synthesis.asking import Asker
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection
from rag_evaluation_framework.synthesis.estimate import FollowUp, Messages
from rag_evaluation_framework.synthesis.headings import Headings
from rag_evaluation_framework.synthesis.ranges import Range
from rag_evaluation_framework.synthesis.writing import Written


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
