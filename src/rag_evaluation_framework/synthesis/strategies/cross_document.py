"""`CrossDocumentQuestions`: questions whose answer stands in two documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.synthesis.forms import load_prompt
from rag_evaluation_framework.synthesis.sections import WordOverlap, dealt_out

_Pair = tuple[int, int]


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
        prompt = load_prompt("cross_document")
        shown = self._pairs(sections)
        requests: list[QuestionRequest] = []
        for _, own in groupby(shown, key=lambda pair: pair[0]):
            pairs = [(sections[one], sections[other]) for _, (one, other) in own]
            requests += [
                QuestionRequest(
                    prompt.filled("wish"),
                    pair,
                    questions,
                    {"query_type": "cross-document"},
                    prompt.version,
                    least_documents=2,
                )
                for pair, questions in dealt_out(pairs, queries_per_doc)
            ]
        return requests

    def _pairs(self, sections: Sequence[Section]) -> list[tuple[str, _Pair]]:
        """Return the pairs of each document, nearest first, with its id."""
        overlap = WordOverlap([section.text for section in sections])
        taken: set[_Pair] = set()
        found: list[tuple[str, _Pair]] = []
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
            found += [(doc_id, pair) for pair in chosen]
        return found
