"""Which questions are no independent evidence: those that are answered by the same document."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.spans import CharacterSpan

FEWEST = 20
"""Of fewer clusters the spread is not known well: questions are then taken as independent."""


def by_document(relevant: Sequence[tuple[Any, ...]], evaluation_type: EvaluationType) -> Integers | None:
    """Return the cluster of each question, from 0: the document of its first label, shape (questions,).

    Questions without a label are clusters of their own. None where the labels are in fewer than 20 documents, or do not
    tell their documents, as those of chunks.

    Args:
        relevant: The relevant units of each question.
        evaluation_type: The level of these.
    """
    if evaluation_type == "chunk-level":
        return None
    numbers = Numbering()
    found = [numbers[_document(units[0])] if units else -1 for units in relevant]
    if len(numbers) < FEWEST:
        return None
    clusters = np.array(found, dtype=np.int64)
    alone = clusters < 0
    clusters[alone] = len(numbers) + np.arange(int(alone.sum()))
    return clusters


def _document(unit: Any) -> str:
    return str(unit.doc_id if isinstance(unit, CharacterSpan) else unit)
