"""Which questions a language model is asked to write, and from which parts of the documents."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..data import AnyChunk, DocumentId
from ..data.values import copy_metadata
from ..errors import ConfigError
from .component import Component, check_count, check_truth


@dataclass(frozen=True)
class Section:
    """A part of a document that is shown to a model in one piece.

    Attributes:
        doc_id: The document.
        chunks: What is shown, in reading order: one chunk where spans are labelled, several where chunks are cited.
        heading: The headings under which it begins, from the outermost: `Billing > Refunds`; "" without any.
    """

    doc_id: DocumentId
    chunks: tuple[AnyChunk, ...]
    heading: str = ""

    @property
    def text(self) -> str:
        """The texts of its chunks."""
        return "\n\n".join(chunk.content for chunk in self.chunks)


@dataclass(frozen=True)
class QuestionRequest:
    """One request for questions.

    Attributes:
        wish: What kind of questions is wanted, in words for the model; it follows the general instructions.
        sections: What is shown, in one or several documents.
        questions: How many questions are asked for.
        metadata: What is kept with each question, such as `{"persona": "a new user", "difficulty": "hard"}`; copied.
        prompt_version: By what the wording of the wish is known again, such as `simple@1-0123456789ab`.
        least_documents: In how many documents a question has to be answered; with fewer it is rejected, and so is one
            that a single document answers.
        given: The questions, if they are not to be written: those of users.
        has_answer: Whether the documents answer. If not, a question is kept only if no passage is found that does.

    Raises:
        ConfigError: There is no section, a number is below 1, or not that of the questions that are given.
        DatasetError: The metadata is none.
    """

    wish: str
    sections: tuple[Section, ...]
    questions: int
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    prompt_version: str = ""
    least_documents: int = 1
    given: tuple[str, ...] = ()
    has_answer: bool = True

    def __post_init__(self) -> None:
        for name in ("questions", "least_documents"):
            check_count("QuestionRequest", name, getattr(self, name))
        check_truth("QuestionRequest", "has_answer", self.has_answer)
        object.__setattr__(self, "sections", tuple(self.sections))
        if not self.sections:
            raise ConfigError("QuestionRequest: sections=(); expected at least one section to ask about")
        object.__setattr__(self, "given", tuple(self.given))
        if self.given and len(self.given) != self.questions:
            raise ConfigError(f"QuestionRequest: questions={self.questions}; expected {len(self.given)}, as given")
        copy_metadata(self, ConfigError)

    @property
    def doc_ids(self) -> tuple[DocumentId, ...]:
        """The documents of the sections, each once."""
        return tuple(dict.fromkeys(section.doc_id for section in self.sections))


class QuestionStrategy(Component, ABC):
    """A way of asking: which questions are put to which sections."""

    @abstractmethod
    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> Sequence[QuestionRequest]:
        """Return the requests, the same ones each time; nothing is asked yet.

        Args:
            sections: All sections of all documents, in their order.
            queries_per_doc: How many questions are wanted for each document.
        """
