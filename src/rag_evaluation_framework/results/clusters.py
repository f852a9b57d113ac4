"""Which questions are no independent evidence: those that are answered by the same document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.statistics.paired import LEVEL

Cluster = Literal["question", "document"]
"""What is taken as independent."""

FEWEST = 6
"""Of fewer clusters no change is more than chance: 2 of the 2^5 patterns of five signs are as far from 0."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which questions count together: those whose first label is in the same document.

    Attributes:
        numbers: The cluster of each question, from 0, shape (questions,); None if each question counts by itself.
        few: Number of documents of the labels, where these are too few to count by document, so that what is found is
            about these documents only; else 0.
        fewest: Of fewer documents, each question counts by itself.
        unknown: Whether each question counts by itself as a report alone does not tell the documents of its labels.
    """

    numbers: Integers | None = None
    few: int = 0
    fewest: int = FEWEST
    unknown: bool = False

    @classmethod
    def of(
        cls, relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType, cluster: Cluster | None = None
    ) -> "Clusters":
        """Return the clusters of questions; one without a label is a cluster of its own.

        Args:
            relevant: The relevant units of each question; none at all if they are not known.
            evaluation_type: The level of these; chunks do not tell their documents.
            cluster: What is taken as independent; by default documents where there are at least six, else questions.
        """
        found = None if cluster == "question" else documents(relevant, evaluation_type)
        fewest = 1 if cluster == "document" else FEWEST
        count = 0 if found is None else int(found.max(initial=-1)) + 1
        if found is None or count < fewest:
            return cls(None, count, fewest)
        alone = found < 0
        found[alone] = count + np.arange(int(alone.sum()))
        return cls(found, 0, fewest)

    def among(self, rows: Integers) -> "Clusters":
        """Return those of some of the questions."""
        if self.numbers is None:
            return self
        found, numbers = np.unique(self.numbers[rows], return_inverse=True)
        few = len(found) < self.fewest
        return replace(self, numbers=None if few else numbers, few=len(found) if few else 0)

    def record(self, seed: int) -> dict[str, Any]:
        """Return how intervals are made, for JSON: their level, the seed, and what is taken as independent."""
        return {"level": LEVEL, "seed": seed, "independent": "questions" if self.numbers is None else "documents"}


def documents(relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType) -> Integers | None:
    """Return the number of the document of the first label of each question, from 0; -1 where there is none.

    None where documents are not known: of chunks, and where labels are not.

    Args:
        relevant: As in `Clusters.of`.
        evaluation_type: As in `Clusters.of`.
    """
    if evaluation_type == "chunk-level" or not relevant:
        return None
    numbers = Numbering()
    return np.array([numbers[document_of(units[0])] if units else -1 for units in relevant], dtype=np.int64)


def document_of(unit: Any) -> str:
    """Return the document of a span, or the id that a document is."""
    return str(unit.doc_id if isinstance(unit, CharacterSpan) else unit)
