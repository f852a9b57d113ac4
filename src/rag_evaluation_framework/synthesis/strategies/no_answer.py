"""`NoAnswerQuestions`: questions that the documents do not answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.sections import by_document, shared_out


@dataclass(frozen=True)
class NoAnswerQuestions(QuestionStrategy):
    """Questions on the subjects of the documents that none of them answers.

    A question is kept only if none of the passages that two retrievers find for it answers it, as the second call
    judges: BM25 and a vector search by the generator's embedder, the 20 best of each. It has no labels, so no metric
    counts it: a run tells what was returned for it, and at which scores.
    """

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions."""
        prompt = load_prompt("no_answer")
        return [
            QuestionRequest(
                prompt.filled("wish"),
                (section,),
                questions,
                {"query_type": "no-answer"},
                prompt.version,
                has_answer=False,
            )
            for document in by_document(sections)
            for section, questions in shared_out(document, queries_per_doc)
        ]
