"""`RealQuestions`: questions like those that users have asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import checked_path, read_text
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.data.plain import gives_items
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.sections import by_document, shared_out
from rag_evaluation_framework.synthesis.word_overlap import WordOverlap


@dataclass(frozen=True)
class RealQuestions(QuestionStrategy):
    """Questions grounded in those of users: for each section the ones that are nearest to it are examples.

    Attributes:
        questions: What users have asked, from a log for instance. It is sent to the model.
        examples: How many of them are shown with each request; those with the most rare words of the section first.

    Raises:
        ConfigError: There is no question, or `examples` is below 1.
    """

    questions: tuple[str, ...] = field(repr=False)
    examples: int = 5

    def __post_init__(self) -> None:
        check_count("RealQuestions", "examples", self.examples)
        given: Any = self.questions
        listed: list[Any] = [*given] if gives_items(given, str) else []
        if not listed or not all(isinstance(each, str) for each in listed) or not any(map(str.strip, listed)):
            raise ConfigError(f"RealQuestions: questions={shown(given)}; expected a list of questions")
        texts = (" ".join(each.split()) for each in listed)
        object.__setattr__(self, "questions", tuple(dict.fromkeys(filter(None, texts))))

    @classmethod
    def from_file(cls, path: str | Path, examples: int = 5) -> "RealQuestions":
        """Return the strategy of a text file with a question on each line.

        Raises:
            ConfigError: It cannot be read, or has no questions.
        """
        path = checked_path(path, ConfigError)
        lines = read_text(path, ConfigError).splitlines()
        if not any(map(str.strip, lines)):
            raise ConfigError(f"{path}: is empty; expected a question on each line")
        return cls(tuple(lines), examples)

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions, with its examples."""
        prompt, overlap = load_prompt("real_questions"), WordOverlap(self.questions)
        requests: list[QuestionRequest] = []
        for document in by_document(sections):
            for section, questions in shared_out(document, queries_per_doc):
                near = [self.questions[number] for number, _ in overlap.nearest(section.text)]
                examples = list(dict.fromkeys([*near, *self.questions]))[: self.examples]
                wish = prompt.filled("wish", examples="\n".join(f"- {each}" for each in examples))
                requests.append(QuestionRequest(wish, (section,), questions, {}, prompt.version))
        return requests
