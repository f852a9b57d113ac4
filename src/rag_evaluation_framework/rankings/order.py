"""Comparing the rank column of rankings with their scores."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ranked = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""Question numbers, ranks and scores, with one row per result."""


def contradicted(ranked: Sequence[Ranked]) -> int:
    """Return the number of questions in which a document with a better rank has a lower score."""
    if not ranked:
        return 0
    query, rank, score = (np.concatenate(column) for column in zip(*ranked, strict=True))
    if _is_orderly(query, rank, score):
        return 0
    known = ~np.isnan(rank)
    query, rank, score = query[known], rank[known], score[known]
    # Equal ranks contradict nothing: sorting them by falling score leaves rises only between different ranks.
    order = np.lexsort((-score, rank, query))
    query, score = query[order], score[order]
    return len(np.unique(query[1:][(query[1:] == query[:-1]) & (score[1:] > score[:-1])]))


def _is_orderly(query: NDArray[np.int64], rank: NDArray[np.float64], score: NDArray[np.float64]) -> bool:
    """Return whether each question is contiguous, with rising ranks and no rising scores: fast, true of most files."""
    same = query[1:] == query[:-1]
    fits = (rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])
    return bool((fits | ~same).all()) and int((~same).sum()) == int(query.max(initial=0))
