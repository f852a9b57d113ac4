"""Random weights of clusters of questions: what a mean may be where others are drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.statistics.clustered import distinct_columns

_FEWEST = 999
_MOST = 10_000_000  # weights drawn at all: about a tenth of a second
_AT_ONCE = 4_000_000  # weights, for the sake of memory


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
        sums: Of the values, shape (weights, columns).
        sizes: How many values that is, of the distinct columns of sizes only.
        column_of: Which of these each column has.
        one_more: The sizes of the one more, shape (weights, distinct columns).
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
        drawn = np.concatenate([weights @ beside for weights in _weights(rows + 1, count, seed)])
        usual = np.sqrt((distinct**2).sum(axis=0) / np.maximum((distinct > 0).sum(axis=0), 1))
        return cls(drawn[:, :width], drawn[:, width:-1], column_of, drawn[:, -1:] * usual)

    def bounds(self, column: int, ends: tuple[float, float], tail: float) -> tuple[float, float]:
        """Return the bounds of a mean of values in a range, each of which is missed by a tail."""
        own = self.column_of[column]
        sums, sizes, one_more = self.sums[:, column], self.sizes[:, own], self.one_more[:, own]
        low = _quantile((sums + one_more * ends[0]) / (sizes + one_more), tail)
        return low, -_quantile(-(sums + one_more * ends[1]) / (sizes + one_more), tail)


def _weights(width: int, count: int, seed: int) -> Iterator[Numbers]:
    """Yield random weights in blocks of rows.

    They are exponential: divided by their sum they are as Dirichlet's with all parameters 1.
    """
    random = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // width)
    for first in range(0, count, step):
        yield random.standard_exponential((min(step, count - first), width))


def _quantile(values: Numbers, tail: float) -> float:
    """Return the value that a tail of random ones is at most, of B values the one of rank tail (B + 1)."""
    rank = max(floor(tail * (len(values) + 1) + 1e-9), 1) - 1
    return float(np.partition(values, rank)[rank])
