"""Clusters of questions that are no independent evidence: their sums, random signs and random weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import floor, nan, sqrt

import numpy as np

from ..data.columns import Integers, Numbers

# Sums over clusters: questions that are no independent evidence are taken together.


def by_cluster(values: Numbers, clusters: Integers | None) -> tuple[Numbers, Numbers]:
    """Return the sum of the values of each cluster and how many they are, shape (clusters, columns) each.

    Args:
        values: One row per question; NaN where it has none.
        clusters: The number of the cluster of each question, from 0, shape (questions,); None if each is its own.
    """
    known = ~np.isnan(values)
    given = np.where(known, values, 0.0)
    if clusters is None:
        return given, known.astype(np.float64)
    count = int(clusters.max(initial=-1)) + 1
    sums, sizes = (np.zeros((count, given.shape[1])) for _ in range(2))
    np.add.at(sums, clusters, given)
    np.add.at(sizes, clusters, known)
    return sums, sizes


def distinct_columns(values: Numbers) -> tuple[Numbers, list[int]]:
    """Return the columns that differ, in their order, and for each column the number of the one that it is."""
    numbers: dict[bytes, int] = {}
    number_of = [numbers.setdefault(column.tobytes(), len(numbers)) for column in values.T]
    first = [number_of.index(number) for number in range(len(numbers))]
    return values[:, first], number_of


def standard_error(sums: Numbers, sizes: Numbers) -> float:
    """Return the standard error of the mean of all values by the spread of the clusters; NaN of one cluster.

    Source: the cluster-robust variance of a mean (Cameron, Gelbach and Miller, Rev. Econ. Stat. 90 (2008), 414-427),
    with n / (n - 1) of n clusters.

    Args:
        sums: The sum of the values of each cluster, shape (clusters,).
        sizes: How many these are; clusters without any do not count.
    """
    count, total = int((sizes > 0).sum()), float(sizes.sum())
    if count < 2:
        return nan
    errors = (sums - sums.sum() / total * sizes) / total
    return sqrt(float(errors @ errors) * count / (count - 1))


# Random signs of clusters of questions: what sums are by chance, where each might as well have the other sign.

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


# Random weights of clusters of questions: what a mean may be where others are drawn.

_MOST = 10_000_000  # weights drawn at all: about a tenth of a second
_MOST_KEPT = 1_000_000  # weights that are drawn once: 8 MB


@dataclass(frozen=True, eq=False)
class Weighed:
    """Means of values that lie in a range, under random weights, and their bounds.

    The clusters are weighed at random (Rubin, Ann. Stat. 9 (1981), 130-134), beside one more that has the least value
    there can be for the lower bound, and the greatest for the upper one; the bounds are quantiles of these means. This
    is the interval of Gaffke (J. Stat. Plan. Inference 128 (2005), 501-513; Learned-Miller and Thomas,
    arXiv:1905.06208), which for values of 0 or 1 is the exact one (`clopper_pearson`).

    Clusters are weighed as a whole, and their means are what was seen. The one more is as large as the root mean square
    of their sizes, as large ones count for more.

    Attributes:
        sums: Of the values, shape (columns, weights).
        sizes: How many values that is, of the distinct columns of sizes only.
        column_of: Which of these each column has.
        one_more: The sizes of the one more, shape (distinct columns, weights).
    """

    sums: Numbers
    sizes: Numbers
    column_of: list[int]
    one_more: Numbers

    @classmethod
    def drawn(cls, sums: Numbers, sizes: Numbers, count: int, seed: int) -> "Weighed":
        """Weigh the sums of clusters and their sizes, shape (clusters, columns) each.

        Args:
            sums: Of the values of each cluster.
            sizes: How many these are.
            count: How many weights; fewer, but at least 999, where there are more than 1,000 clusters.
            seed: Of the weights, which all columns share.
        """
        distinct, column_of = distinct_columns(sizes)
        rows, width = sums.shape
        beside: Numbers = np.zeros((rows + 1, width + distinct.shape[1] + 1))
        beside[:rows, :width], beside[:rows, width:-1], beside[rows, -1] = sums, distinct, 1.0
        count = max(min(count, _MOST // rows), min(count, _FEWEST))
        drawn = np.concatenate([weights @ beside for weights in _weights(rows + 1, count, seed)]).T.copy()
        usual = np.sqrt((distinct**2).sum(axis=0) / np.maximum((distinct > 0).sum(axis=0), 1))
        return cls(drawn[:width], drawn[width:-1], column_of, drawn[-1] * usual[:, np.newaxis])

    def bounds(self, column: int, ends: tuple[float, float], tail: float) -> tuple[float, float]:
        """Return the bounds of a mean of values in a range, each of which is missed by a tail."""
        own = self.column_of[column]
        sums, one_more = self.sums[column], self.one_more[own]
        sizes = self.sizes[own] + one_more
        low = _quantile((sums + one_more * ends[0]) / sizes, tail)
        return low, -_quantile(-(sums + one_more * ends[1]) / sizes, tail)


def _weights(width: int, count: int, seed: int) -> Iterator[Numbers]:
    """Yield random weights in blocks of rows.

    They are exponential: divided by their sum they are as Dirichlet's with all parameters 1.
    """
    if width * count <= _MOST_KEPT:
        yield _few_weights(width, count, seed)
        return
    random = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // width)
    for first in range(0, count, step):
        yield random.standard_exponential((min(step, count - first), width))


@lru_cache(maxsize=16)
def _few_weights(width: int, count: int, seed: int) -> Numbers:
    """Return weights that are drawn once: thousands of cells of a sweep ask the same questions."""
    return np.random.default_rng(seed).standard_exponential((count, width))


def _quantile(values: Numbers, tail: float) -> float:
    """Return the value that a tail of random ones is at most, of B values the one of rank tail (B + 1)."""
    rank = max(floor(tail * (len(values) + 1) + 1e-9), 1) - 1
    return float(np.partition(values, rank)[rank])
