"""Power: which difference a comparison would find, and how many questions another one takes."""

from math import ceil, inf, nan, sqrt
from statistics import NormalDist

from rag_evaluation_framework.statistics.paired import LEVEL

POWER = 0.8
_NORMAL = NormalDist()


def power(difference: float, standard_error: float, clusters: int, level: float = LEVEL) -> float:
    """Return how often a true difference of means is found by `paired_differences`.

    The test compares the mean m of n clusters with flipped ones, whose spread is the root of s^2 + m^2 / n: it rejects
    where m is z / sqrt(1 - z^2 / n) standard errors s from 0, z being the normal quantile. Means are taken as normal.

    Args:
        difference: The true difference.
        standard_error: Of the mean, as `PairedDifference` has it.
        clusters: How many independent groups the pairs are in; the pairs, if each is its own.
        level: The level of the test.

    Returns:
        From 0 to 1; NaN if the standard error is not known.
    """
    critical = _critical(clusters, level)
    if standard_error <= 0 or critical == inf:
        return float(standard_error <= 0 and difference != 0 and critical < inf)
    shift = abs(difference) / standard_error
    return _NORMAL.cdf(shift - critical) + _NORMAL.cdf(-shift - critical)


def detectable(standard_error: float, clusters: int, level: float = LEVEL, wanted: float = POWER) -> float:
    """Return the smallest true difference that is found as often as wanted.

    Args:
        standard_error: As in `power`.
        clusters: As in `power`.
        level: As in `power`.
        wanted: How often it is to be found, above (1 - level) / 2.

    Returns:
        Above 0; infinite with fewer than five clusters, and NaN if the standard error is not known.
    """
    if standard_error != standard_error:
        return nan
    return (_critical(clusters, level) + _NORMAL.inv_cdf(wanted)) * standard_error


def pairs_needed(difference: float, deviation: float, level: float = LEVEL, wanted: float = POWER) -> int:
    """Return how many pairs are needed to find a true difference as often as wanted.

    Args:
        difference: The true difference, not 0.
        deviation: The standard deviation of the differences of independent pairs. Of pairs in clusters, the standard
            error times the root of their number: as many more as these need are counted then.
        level: As in `power`.
        wanted: As in `detectable`.
    """
    quantile = _NORMAL.inv_cdf((1 + level) / 2)
    pairs = max(ceil(((quantile + _NORMAL.inv_cdf(wanted)) * deviation / difference) ** 2), ceil(quantile**2) + 1)
    while detectable(deviation / sqrt(pairs), pairs, level, wanted) > abs(difference):
        pairs += max(1, pairs // 1000)
    return pairs


def _critical(clusters: int, level: float) -> float:
    """Return how many standard errors from 0 a mean is rejected."""
    quantile = _NORMAL.inv_cdf((1 + level) / 2)
    return quantile / sqrt(1 - quantile**2 / clusters) if clusters > quantile**2 else inf
