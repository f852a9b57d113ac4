"""Cosines of texts, to six decimals: the same pair is above or below a threshold on every machine."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._support.coroutines import adapted
from rag_evaluation_framework.contracts.embedder import Embedder, Role, checked_parts, joined
from rag_evaluation_framework.errors import InputError

Directions: TypeAlias = NDArray[np.float64]

_DECIMALS = 6


def directions(embedder: Embedder, texts: Sequence[str], role: Role = "text") -> Directions:
    """Return the vectors of texts at length 1, shape (len(texts), dimension); zeros stay zeros.

    Raises:
        InputError: The embedder returns other than one vector of finite numbers for each text.
    """
    if not texts:
        return np.zeros((0, 0))
    ready = adapted(embedder)
    vectors = joined(checked_parts(ready, texts, role), len(texts)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Directions = vectors / np.where(lengths == 0, 1, lengths)
    return unit


def cosines(some: Directions, others: Directions) -> Directions:
    """Return all cosines, shape (len(some), len(others)); 0 with a text whose vector is zero: nothing is known of it.

    Args:
        some: Directions, one per row.
        others: Directions of the same length, one per row.
    """
    if not (len(some) and len(others)):
        return np.zeros((len(some), len(others)))
    products: Directions = some @ others.T
    return products.clip(-1, 1).round(_DECIMALS)


def check_same_number(questions: Sequence[str], excerpts: Sequence[Sequence[str]]) -> None:
    """Raise InputError if there are not as many lists of excerpts as questions."""
    if len(questions) != len(excerpts):
        raise InputError(
            f"{len(questions)} questions with {len(excerpts)} lists of excerpts; expected one list for each question"
        )
