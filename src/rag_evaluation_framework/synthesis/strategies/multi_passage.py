"""`MultiPassageQuestions`: questions whose answer stands in several places of a document."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.sections import by_document, shared_out


@dataclass(frozen=True)
class MultiPassageQuestions(QuestionStrategy):
    """Questions that need at least two places of a document. Of one with several sections two neighbours are shown.

    A question of whose places fewer are verified is rejected.
    """

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each pair of neighbouring sections that gets questions."""
        prompt = load_prompt("multi_passage")
        requests: list[QuestionRequest] = []
        for document in by_document(sections):
            shown: list[tuple[Section, ...]] = [*pairwise(document)] or [(document[0],)]
            requests += [
                QuestionRequest(
                    prompt.filled("wish"),
                    pair,
                    questions,
                    {"query_type": "multi-passage"},
                    prompt.version,
                    least_places=2,
                )
                for pair, questions in shared_out(shown, queries_per_doc)
            ]
        return requests
