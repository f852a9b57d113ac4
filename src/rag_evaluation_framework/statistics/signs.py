"""Random signs of clusters of questions: what sums are by chance, where each might as well have the other sign."""

from collections.abc import Iterator

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers

RESAMPLES = 9_999
NEGLIGIBLE = 1e-10
"""Of the largest sum: what differs by less is equal but for rounding."""
_FEWEST = 999
_MOST_SIGNS = 100_000_000  # drawn at all: about a second
_AT_ONCE = 4_000_000  # signs, for the sake of memory


def pattern_count(clusters: int, resamples: int) -> int:
    """Return how many patterns of signs to draw: of many clusters fewer than wanted, but at least 999."""
    return max(min(resamples, _MOST_SIGNS // max(clusters, 1)), min(resamples, _FEWEST))


def flipped_sums(columns: Numbers, count: int, seed: int) -> Numbers:
    """Return the sums of columns under random signs of their rows; shape (count, columns)."""
    drawn: Numbers = np.concatenate([bits @ columns for bits in _bits(len(columns), count, seed)])
    flipped: Numbers = 2 * drawn - columns.sum(axis=0)
    return flipped


def every_pattern(changed: int) -> Numbers:
    """Return all patterns of signs of so many clusters; shape (2^changed, changed)."""
    bits: Integers = (np.arange(1 << changed)[:, np.newaxis] >> np.arange(changed)) & 1
    patterns: Numbers = 2 * bits.astype(np.float64) - 1
    return patterns


def _bits(width: int, count: int, seed: int) -> Iterator[Numbers]:
    """Yield random bits in blocks of rows, each row so many numbers that are 0 or 1."""
    random = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // max(width, 1))
    for first in range(0, count, step):
        drawn = random.integers(0, 256, size=(min(step, count - first), -(-width // 8)), dtype=np.uint8)
        yield np.unpackbits(drawn, axis=1, count=width).astype(np.float64)
