"""Which questions are no independent evidence: those that are answered by the same document."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.spans import CharacterSpan

Cluster = Literal["question", "document"]
"""What is taken as independent."""

FEWEST = 20
"""Of fewer clusters the spread is not known well: questions are then taken as independent."""


def by_document(
    relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType, fewest: int = FEWEST
) -> Integers | None:
    """Return the cluster of each question, from 0: the document of its first label, shape (questions,).

    Questions without a label are clusters of their own. None where the labels are in too few documents, or do not tell
    their documents, as those of chunks.

    Args:
        relevant: The relevant units of each question; none at all if they are not known.
        evaluation_type: The level of these.
        fewest: In how many documents the labels have to be.
    """
    clusters = documents(relevant, evaluation_type)
    if clusters is None or (count := int(clusters.max()) + 1) < fewest:
        return None
    alone = clusters < 0
    clusters[alone] = count + np.arange(int(alone.sum()))
    return clusters


def documents(relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType) -> Integers | None:
    """Return the number of the document of the first label of each question, from 0; -1 where there is none.

    None where documents are not known: of chunks, and where labels are not.

    Args:
        relevant: As in `by_document`.
        evaluation_type: As in `by_document`.
    """
    if evaluation_type == "chunk-level" or not relevant:
        return None
    numbers = Numbering()
    return np.array([numbers[document_of(units[0])] if units else -1 for units in relevant], dtype=np.int64)


def clusters_among(clusters: Integers | None, rows: Integers, fewest: int = FEWEST) -> Integers | None:
    """Return the clusters of some questions, from 0; None where they are so few that questions are independent.

    Args:
        clusters: The cluster of each question, or None if they are independent.
        rows: The questions.
        fewest: In how many clusters these have to be.
    """
    if clusters is None:
        return None
    found, numbers = np.unique(clusters[rows], return_inverse=True)
    return None if len(found) < fewest else numbers


def taken(together: bool, clusters: int) -> str:
    """Say how questions were taken: as independent, or together if they are on one document."""
    return (
        f"questions on one document taken together ({clusters} documents)"
        if together
        else "questions taken as independent"
    )


def document_of(unit: Any) -> str:
    """Return the document of a span, or the id that a document is."""
    return str(unit.doc_id if isinstance(unit, CharacterSpan) else unit)
