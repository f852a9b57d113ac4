"""What a check of a dataset says of one question that is reviewed, as its review wants it."""

from dataclasses import replace
from typing import Any

from rag_evaluation_framework.annotation.review_session import ReviewSession
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.inspection.findings import Finding
from rag_evaluation_framework.inspection.labelled_text import LabelTexts
from rag_evaluation_framework.inspection.lint import lint_dataset
from rag_evaluation_framework.inspection.question_checks import wording_key


class ReviewChecks:
    """Checks questions of a review one by one, each beside those that are worded like it.

    Args:
        session: The review.
        dataset: The dataset.
        corpus: The documents, if they are at hand.
        registry: The chunks of the labelled chunking, if they are at hand.

    Attributes:
        texts: Reads the labels of the questions.
    """

    def __init__(
        self, session: ReviewSession, dataset: Dataset[Any], corpus: Corpus | None, registry: ChunkRegistry | None
    ) -> None:
        self._session, self._corpus, self._registry = session, corpus, registry
        self.texts = LabelTexts(dataset, corpus, registry)
        self._alone = replace(dataset, skipped=(), metadata={})

    def findings(self, number: int) -> tuple[Finding, ...]:
        """Return the errors and warnings about a question."""
        session, asked = self._session, self._session.wanted(number)
        key = wording_key(asked.query.text)
        alike = [
            session.wanted(other)
            for other in range(len(session.questions))
            if other != number
            and session.review(other).verdict != "dropped"
            and wording_key(session.wording(other)) == key
        ]
        # The one that repeats another is told of it, so this one is the last.
        dataset = replace(self._alone, ground_truth=(*alike, asked))
        found = lint_dataset(dataset, self._corpus, self._registry).problems
        return tuple(finding for finding in found if finding.query is not None and finding.query.id == asked.query.id)
