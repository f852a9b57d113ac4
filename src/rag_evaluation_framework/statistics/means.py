"""Means of scores, and what chance makes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, inf, nan, sqrt

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers, mean_of
from rag_evaluation_framework.statistics.clustered import by_cluster, distinct_columns, standard_error
from rag_evaluation_framework.statistics.paired import LEVEL
from rag_evaluation_framework.statistics.proportions import clopper_pearson
from rag_evaluation_framework.statistics.signs import RESAMPLES

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHARE = (0.0, 1.0)
"""The range of a score, unless its metric says otherwise."""
_FEWEST = 999
_MOST_WEIGHTS = 10_000_000  # drawn at all: about a tenth of a second
_AT_ONCE = 4_000_000  # weights, for the sake of memory
_COLUMNS = 64  # at once, for the sake of memory


@dataclass(frozen=True, slots=True)
class MeanScore:
    """The mean of a score over questions, and where that of very many such questions may be.

    Attributes:
        mean: The mean over the questions that have the score: each counts the same (macro).
        low: The lower bound of its interval; infinite where the score has no least value, or scores lie outside their
            range.
        high: The upper bound.
        questions: How many have the score.
        clusters: How many independent groups they are in.
        standard_error: That of the mean, by the spread of the clusters; NaN of one cluster.
        deviation: The standard deviation of the score, with n - 1; NaN of one question.
        quantiles: Of the score, at 0.05, 0.25, 0.5, 0.75 and 0.95, interpolated linearly; the third is the median.
    """

    mean: float
    low: float
    high: float
    questions: int
    clusters: int
    standard_error: float
    deviation: float
    quantiles: tuple[float, ...]


def mean_scores(
    scores: Numbers,
    clusters: Integers | None = None,
    *,
    ranges: Sequence[tuple[float, float]] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[MeanScore | None]:
    """Return the means of scores with intervals of 95 % that hold those of very many questions like these.

    Of scores that are 0 or 1, and of independent questions, the interval is the exact one (`clopper_pearson`).

    Of others, the questions are weighed at random (Rubin, Ann. Stat. 9 (1981), 130-134), beside one more question that
    has the least score there can be for the lower bound, and the greatest for the upper one; the bounds are quantiles
    of these means. This is the interval of Gaffke (J. Stat. Plan. Inference 128 (2005), 501-513; Learned-Miller and
    Thomas, arXiv:1905.06208), which for scores of 0 or 1 is the exact one. It holds where a plain bootstrap fails, as
    scores pile up at an end: 20 questions of 20 with a recall of 1 leave 0.83 to 1, and so do 20 of .99.

    The range is that of the metric, never that of the sample: scores near an end do not say how far others reach.

    Clusters are weighed as a whole, and their means are what was seen. The one more is as large as the root mean square
    of their sizes, as large ones count for more. `benchmarks/error_rates.py` measures the coverage of all of this.

    Args:
        scores: Shape (questions, scores); NaN where a question lacks a score.
        clusters: The number of the cluster of each question, from 0, shape (questions,); None if each is its own.
        ranges: The least and the greatest value of each score, which may be infinite; by default 0 and 1.
        resamples: How many random weights; fewer, but at least 999, where there are more than 1,000 clusters.
        seed: Of the weights, which all scores share.

    Returns:
        One per score; None where no question has it.
    """
    found: list[MeanScore | None] = [None] * scores.shape[1]
    limits = [SHARE] * len(found) if ranges is None else ranges
    known = np.flatnonzero((~np.isnan(scores)).any(axis=0)).tolist()
    for first in range(0, len(known), _COLUMNS):
        some = known[first : first + _COLUMNS]
        means = _means(scores[:, some], clusters, [limits[number] for number in some], resamples, seed)
        for number, mean in zip(some, means, strict=True):
            found[number] = mean
    return found


def ends_of(scores: Numbers, limits: tuple[float, float]) -> tuple[float, float]:
    """Return the range of a score; infinite if scores, shape (questions,), NaN for none, lie outside of it."""
    within = np.isnan(scores) | (limits[0] <= scores) & (scores <= limits[1])
    return limits if within.all() else (-inf, inf)


def group_means(scores: Numbers, groups: Integers) -> Numbers:
    """Return the mean of each score over the means of groups, each of which counts the same; shape (scores,).

    Args:
        scores: Shape (questions, scores); NaN where a question lacks a score.
        groups: The number of the group of each question, from 0, shape (questions,).

    Returns:
        NaN where no question has the score.
    """
    scaled, scales = _scaled(scores)
    sums, sizes = by_cluster(scaled, groups)
    with np.errstate(invalid="ignore"):
        means: Numbers = np.nansum(sums / sizes, axis=0) / (sizes > 0).sum(axis=0)
    return means * scales


def _scaled(scores: Numbers) -> tuple[Numbers, Numbers]:
    """Return scores divided by the greatest of their column, where it is beyond 1, so that no sum overflows."""
    scales: Numbers = np.nanmax(np.abs(scores), axis=0, initial=1.0)
    return scores / scales, scales


def _means(
    scores: Numbers,
    clusters: Integers | None,
    ranges: Sequence[tuple[float, float]],
    resamples: int,
    seed: int,
) -> Iterator[MeanScore]:
    """Yield the means of scores that at least one question has."""
    means = [mean_of(column) or 0.0 for column in scores.T]
    scores, scales = _scaled(scores)
    sums, sizes = by_cluster(scores, clusters)
    distinct, column_of = distinct_columns(sizes)
    count = max(min(resamples, _MOST_WEIGHTS // len(sums)), min(resamples, _FEWEST))
    drawn = _weighed(np.hstack([sums, distinct]), count, seed)
    for number, (column, scale, limits) in enumerate(zip(scores.T, scales.tolist(), ranges, strict=True)):
        own, total, size = column[~np.isnan(column)], sums[:, number], sizes[:, number]
        mean = means[number] / scale
        if clusters is None and limits == SHARE and scale == 1 and bool(np.isin(own, (0.0, 1.0)).all()):
            low, high = clopper_pearson(int(own.sum()), len(own), LEVEL)
        else:
            weights = drawn[:, scores.shape[1] + column_of[number]]
            one_more = drawn[:, -1] * sqrt(float(size @ size) / float((size > 0).sum()))
            ends = ends_of(own, (limits[0] / scale, limits[1] / scale))
            low, high = _bounds(drawn[:, number], weights, one_more, ends, (1 - LEVEL) / 2)
        yield MeanScore(
            mean=means[number],
            low=min(low, mean) * scale,
            high=max(high, mean) * scale,
            questions=len(own),
            clusters=int((size > 0).sum()),
            standard_error=standard_error(total, size) * scale,
            deviation=float(own.std(ddof=1)) * scale if len(own) > 1 else nan,
            quantiles=tuple(value * scale for value in np.quantile(own, QUANTILES).tolist()),
        )


def _bounds(
    weighed: Numbers, weights: Numbers, one_more: Numbers, ends: tuple[float, float], tail: float
) -> tuple[float, float]:
    """Return the bounds of a mean: quantiles of weighed means, beside one more score at the end of the range."""
    low = _quantile((weighed + one_more * ends[0]) / (weights + one_more), tail)
    return low, -_quantile(-(weighed + one_more * ends[1]) / (weights + one_more), tail)


def _weighed(columns: Numbers, count: int, seed: int) -> Numbers:
    """Return the sums of columns under random weights of their rows, and the weight of one row more in the last column.

    Weights are exponential: divided by their sum they are as Dirichlet's with all parameters 1.
    """
    rows, width = columns.shape
    beside: Numbers = np.zeros((rows + 1, width + 1))
    beside[:rows, :width], beside[rows, width] = columns, 1.0
    return np.concatenate([weights @ beside for weights in _weights(rows + 1, count, seed)])


def _weights(width: int, count: int, seed: int) -> Iterator[Numbers]:
    """Yield random weights in blocks of rows."""
    random = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // width)
    for first in range(0, count, step):
        yield random.standard_exponential((min(step, count - first), width))


def _quantile(values: Numbers, tail: float) -> float:
    """Return the value that a tail of random ones is at most, of B values the one of rank tail (B + 1)."""
    rank = max(floor(tail * (len(values) + 1) + 1e-9), 1) - 1
    return float(np.partition(values, rank)[rank])
