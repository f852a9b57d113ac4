"""What is asked of the model for the questions of a request, from the first call to the last."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest
from rag_evaluation_framework.retrievers.indexing import chunk_corpus
from rag_evaluation_framework.synthesis.answer_search import DEPTH, looking
from rag_evaluation_framework.synthesis.answerability import CHECK, checking
from rag_evaluation_framework.synthesis.choosing import ALONE, choosing
from rag_evaluation_framework.synthesis.estimate import NUMBERS, VERDICT, FollowUp, excerpts_of, marks_with
from rag_evaluation_framework.synthesis.labeller import Labeller
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.ranges import Range
from rag_evaluation_framework.synthesis.writing import WITHOUT_ANSWER


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

    def follow_ups(self, request: QuestionRequest) -> list[FollowUp]:
        """Return what is asked for each question of a request, after it is written or given."""
        mark = self._mark(request)
        if not request.has_answer:
            return [looking(self.most_found, self.labeller.section_size, mark)]
        asked = self.labeller.verifying(request, mark)
        if not self.check_answers:
            return asked
        excerpts = excerpts_of(request, self.labeller.names(request), mark)
        asked.append(FollowUp(checking("", ()), excerpts, VERDICT))
        if needs_parts(request):
            asked.append(FollowUp(choosing(ALONE, "", ()), excerpts, NUMBERS))
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
