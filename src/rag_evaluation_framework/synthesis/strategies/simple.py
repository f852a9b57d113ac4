"""`SimpleQuestions`: what users of a document may well ask."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.sections import by_document, shared_out


@dataclass(frozen=True)
class SimpleQuestions(QuestionStrategy):
    """Questions about one section each, spread over each document from its begin to its end."""

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions."""
        prompt = load_prompt("simple")
        return [
            QuestionRequest(prompt.filled("wish"), (section,), questions, prompt_version=prompt.version)
            for document in by_document(sections)
            for section, questions in shared_out(document, queries_per_doc)
        ]
