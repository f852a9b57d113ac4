"""Strategies that ask about documents: what their users may ask, in one place or several, or in vain."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import Any

from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.synthesis.forms import load_prompt
from rag_evaluation_framework.synthesis.sections import WordOverlap, by_document, dealt_out, shared_out

_Shown = tuple[Section, ...]
_Pair = tuple[int, int]


@dataclass(frozen=True)
class SimpleQuestions(QuestionStrategy):
    """Questions about one section each, spread over each document from its begin to its end."""

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions."""
        return _requests("simple", _section_by_section(sections, queries_per_doc))


@dataclass(frozen=True)
class MultiPassageQuestions(QuestionStrategy):
    """Questions that need at least two places of a document. Of one with several sections two neighbours are shown.

    A question of whose places fewer are verified is rejected.
    """

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each pair of neighbouring sections that gets questions."""
        shares = (
            share
            for document in by_document(sections)
            for share in shared_out([*pairwise(document)] or [(document[0],)], queries_per_doc)
        )
        return _requests("multi_passage", shares, metadata={"query_type": "multi-passage"}, least_places=2)


@dataclass(frozen=True)
class NoAnswerQuestions(QuestionStrategy):
    """Questions on the subjects of the documents that none of them answers.

    A question is kept only if none of the passages that two retrievers find for it answers it, as the second call
    judges: BM25 and a vector search by the generator's embedder, the 20 best of each. It has no labels, so no metric
    counts it: a run tells what was returned for it, and at which scores.
    """

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions."""
        shares = _section_by_section(sections, queries_per_doc)
        return _requests("no_answer", shares, metadata={"query_type": "no-answer"}, has_answer=False)


@dataclass(frozen=True)
class CrossDocumentQuestions(QuestionStrategy):
    """Questions that need two documents: those sections of each are shown that share the most rare words.

    A question that is not answered in both is rejected. No pair of sections is asked about twice; a document that has
    nothing in common with others gets no questions.

    Attributes:
        pairs: How many pairs of sections are asked about for each document, at most.

    Raises:
        ConfigError: `pairs` is below 1.
    """

    pairs: int = 2

    def __post_init__(self) -> None:
        check_count("CrossDocumentQuestions", "pairs", self.pairs)

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each pair of sections that gets questions."""
        shares = (share for pairs in self._pairs(sections) for share in dealt_out(pairs, queries_per_doc))
        return _requests("cross_document", shares, metadata={"query_type": "cross-document"}, least_documents=2)

    def _pairs(self, sections: Sequence[Section]) -> Iterator[list[_Shown]]:
        """Yield the pairs of each document, nearest first."""
        overlap = WordOverlap([section.text for section in sections])
        taken: set[_Pair] = set()
        for doc_id, own in groupby(range(len(sections)), key=lambda number: sections[number].doc_id):
            near = [
                (-score, one, other)
                for one in own
                for other, score in overlap.nearest(sections[one].text)
                if sections[other].doc_id != doc_id
            ]
            ordered = (
                pair for _, one, other in sorted(near) if (pair := (min(one, other), max(one, other))) not in taken
            )
            chosen = list(islice(dict.fromkeys(ordered), self.pairs))
            taken.update(chosen)
            yield [(sections[one], sections[other]) for one, other in chosen]


def _section_by_section(sections: Sequence[Section], queries_per_doc: int) -> Iterator[tuple[_Shown, int]]:
    """Yield the sections of each document that get questions, and how many."""
    for document in by_document(sections):
        for section, questions in shared_out(document, queries_per_doc):
            yield (section,), questions


def _requests(prompt: str, shares: Iterable[tuple[_Shown, int]], **promised: Any) -> list[QuestionRequest]:
    """Return a request for each share of the questions.

    Args:
        prompt: The name of the prompt with the wish.
        shares: What is shown, and how many questions are asked for.
        promised: What else a request says of its questions.
    """
    wish = load_prompt(prompt)
    return [
        QuestionRequest(wish.filled("wish"), shown, questions, prompt_version=wish.version, **promised)
        for shown, questions in shares
    ]
