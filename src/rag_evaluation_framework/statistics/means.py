"""Means of scores and their intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np

from ..data.columns import Integers, Numbers, mean_of
from .paired import LEVEL
from .proportions import clopper_pearson
from .weights import RESAMPLES, Weighed, by_cluster, standard_error

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHARE = (0.0, 1.0)
"""The range of a score, unless its metric says otherwise."""
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

    Of others, it is that of `Weighed`. It holds where a plain bootstrap fails, as scores pile up at an end: 20
    questions of 20 with a recall of 1 leave 0.83 to 1, and so do 20 of .99.

    The range is that of the metric, never that of the sample: scores near an end do not say how far others reach.

    `benchmarks/error_rates.py` measures the coverage.

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
    scores: Numbers, clusters: Integers | None, ranges: Sequence[tuple[float, float]], resamples: int, seed: int
) -> Iterator[MeanScore]:
    """Yield the means of scores that at least one question has."""
    means = [mean_of(column) or 0.0 for column in scores.T]
    scores, scales = _scaled(scores)
    sums, sizes = by_cluster(scores, clusters)
    weighed = Weighed.drawn(sums, sizes, resamples, seed)
    for number, (column, scale, limits) in enumerate(zip(scores.T, scales.tolist(), ranges, strict=True)):
        own, total, size = column[~np.isnan(column)], sums[:, number], sizes[:, number]
        mean = means[number] / scale
        if clusters is None and limits == SHARE and scale == 1 and bool(np.isin(own, (0.0, 1.0)).all()):
            low, high = clopper_pearson(int(own.sum()), len(own), LEVEL)
        else:
            ends = ends_of(own, (limits[0] / scale, limits[1] / scale))
            low, high = weighed.bounds(number, ends, (1 - LEVEL) / 2)
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
