"""Strategies that ask about one document: what its users may ask, in one place or several, or in vain."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.synthesis.forms import load_prompt
from rag_evaluation_framework.synthesis.sections import by_document, shared_out

# `SimpleQuestions`: what users of a document may well ask.


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


# `MultiPassageQuestions`: questions whose answer stands in several places of a document.


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


# `NoAnswerQuestions`: questions that the documents do not answer.


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
