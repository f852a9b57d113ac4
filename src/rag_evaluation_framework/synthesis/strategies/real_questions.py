"""`RealQuestions`: questions that users have asked, and others like them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_evaluation_framework.annotation.questions import read_wordings
from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.component import check_count, check_truth
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.data import Corpus, Document, DocumentId
from rag_evaluation_framework.data.values import gives_items
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.retrievers.bm25 import BM25Retriever
from rag_evaluation_framework.synthesis.forms import load_prompt, marked
from rag_evaluation_framework.synthesis.sections import WordOverlap, by_document, shared_out

_SECTIONS = 3  # in which the answer to a user's question is looked for


@dataclass(frozen=True)
class RealQuestions(QuestionStrategy):
    """Questions of users, as they asked them, and others like them.

    A user's question is asked about the three sections that BM25 finds for it, and belongs to the document of the
    first. What is still wanted for a document is written like the questions that are nearest to it. Questions of
    users go through no filter but near-duplicates: they are what users ask. What answers them is verified as of all.
    `query_source` is `user` in their metadata.

    Attributes:
        questions: What users have asked, from a log for instance, the ones that matter most first; of those that are
            the same up to capitals and punctuation the first. The model sees them.
        examples: How many of them are shown with each request for others like them; those with the most rare words of
            the section first.
        verbatim: Whether they are asked themselves; if not, all questions are written.

    Raises:
        ConfigError: There is no question, or `examples` is below 1.
    """

    questions: tuple[str, ...] = field(repr=False)
    examples: int = 5
    verbatim: bool = True

    def __post_init__(self) -> None:
        check_count("RealQuestions", "examples", self.examples)
        check_truth("RealQuestions", "verbatim", self.verbatim)
        given: Any = self.questions
        listed: list[Any] = [*given] if gives_items(given, str) else []
        if not listed or not all(isinstance(each, str) for each in listed) or not any(map(str.strip, listed)):
            raise ConfigError(f"RealQuestions: questions={shown(given)}; expected a list of questions")
        first: dict[str, str] = {}
        for text in filter(None, (" ".join(each.split()) for each in listed)):
            first.setdefault(wording_key(text) or text, text)
        object.__setattr__(self, "questions", tuple(first.values()))

    @classmethod
    def from_file(cls, path: str | Path, examples: int = 5, verbatim: bool = True) -> "RealQuestions":
        """Return the strategy of a file: a question on each line or, in a `.csv` or `.tsv`, in a column `question`.

        Raises:
            ConfigError: It cannot be read, or has no questions.
        """
        try:
            questions = read_wordings(checked_path(path, ConfigError))
        except DatasetError as error:
            raise ConfigError(str(error)) from error
        return cls(tuple(questions), examples, verbatim)

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return for each document the requests for questions of users, and those for others like them."""
        prompt, overlap = load_prompt("real_questions"), WordOverlap(self.questions)
        asked: dict[DocumentId, list[QuestionRequest]] = {}
        if self.verbatim:
            asked = self._asked(sections)
            self._note_unasked([len(own) for own in asked.values()], queries_per_doc)
        requests: list[QuestionRequest] = []
        for document in by_document(sections):
            own = asked.get(document[0].doc_id, [])[:queries_per_doc]
            requests += own
            for section, questions in shared_out(document, queries_per_doc - len(own)):
                near = [self.questions[number] for number, _ in overlap.nearest(section.text)]
                examples = list(dict.fromkeys([*near, *self.questions]))[: self.examples]
                wish = prompt.filled("wish", examples=marked("user-question", examples))
                requests.append(QuestionRequest(wish, (section,), questions, {}, prompt.version))
        return requests

    def _asked(self, sections: Sequence[Section]) -> dict[DocumentId, list[QuestionRequest]]:
        """Return the requests that ask users' questions, by the document in which an answer is looked for first."""
        found: dict[DocumentId, list[QuestionRequest]] = {}
        retriever = BM25Retriever(lambda text: [text])
        retriever.index(Corpus(Document(DocumentId(str(n)), each.text) for n, each in enumerate(sections)))
        for question in self.questions:
            hits = retriever.retrieve(question, _SECTIONS).hits
            shown = tuple(sections[int(hit.doc_id)] for hit in hits if hit.doc_id is not None)
            if shown:
                request = QuestionRequest("", shown, 1, {"query_source": "user"}, given=(question,))
                found.setdefault(shown[0].doc_id, []).append(request)
        return found

    def _note_unasked(self, found: Sequence[int], most: int) -> None:
        """Note how many questions of users are not asked.

        Args:
            found: For how many of them a section of each document is found.
            most: How many of these are asked for each document.
        """
        count, beyond = len(self.questions), sum(max(own - most, 0) for own in found)
        told = f"of {count} questions of users are not asked"
        if beyond:
            note(f"{beyond} {told}, as queries_per_doc={most}; raise it to ask more")
        if unknown := count - sum(found):
            note(f"{unknown} {told}: BM25 finds none of their words in a document")
