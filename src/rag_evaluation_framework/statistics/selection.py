"""Choosing the best of many scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def top_k(scores: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Return the positions of the `k` highest scores, best first; of equal scores the earlier position is better."""
    candidates = np.arange(len(scores) if k > 0 else 0)
    if 0 < k < len(scores):
        lowest = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= lowest)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:k]]
