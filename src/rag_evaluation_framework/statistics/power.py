"""Power: which difference a comparison would find, and how many questions another one takes."""

from math import ceil, inf, nan, sqrt
from statistics import NormalDist

import numpy as np

from rag_evaluation_framework.statistics.paired import LEVEL
from rag_evaluation_framework.statistics.proportions import probabilities

POWER = 0.8
_NORMAL = NormalDist()
_FEW = 100  # changes, up to which power is that of the sign test
_STEPS = 16  # halvings: to a thousandth of a step


def power(difference: float, standard_error: float, clusters: int, step: float = 0.0, level: float = LEVEL) -> float:
    """Return how often a true difference of means is found by `paired_differences`.

    The test compares the mean m of n clusters with flipped ones, whose spread is the root of s^2 + m^2 / n: it rejects
    where m is z / sqrt(1 - z^2 / n) standard errors s from 0, z being the normal quantile. Means are taken as normal.

    Where all changes have one size, it is the sign test of the changed clusters, which finds less than that. Their
    number is binomial, and so are the gains among them; of many changes, one step is taken off the difference.

    Args:
        difference: The true difference.
        standard_error: Of the mean, as `PairedDifference` has it.
        clusters: How many independent groups the pairs are in; the pairs, if each is its own.
        step: What each change moves the mean, if all move it as far; else 0.
        level: The level of the test.

    Returns:
        From 0 to 1; NaN if the standard error is not known.
    """
    critical = _critical(clusters, level)
    if standard_error <= 0 or critical == inf:
        return float(standard_error <= 0 and difference != 0 and critical < inf)
    if step:
        mean = min(abs(difference) / (step * clusters), 1.0)  # more than all cannot change
        changed = min(max((standard_error / (step * clusters)) ** 2 * (clusters - 1) + mean**2, mean), 1.0)
        if changed * clusters <= _FEW:
            return _of_signs(mean, changed, clusters, level)
    shift = max(abs(difference) - step, 0) / standard_error
    return _NORMAL.cdf(shift - critical) + _NORMAL.cdf(-shift - critical)


def _of_signs(mean: float, changed: float, clusters: int, level: float) -> float:
    """Return the power of the sign test.

    Args:
        mean: Gains minus losses, as a share of all clusters.
        changed: Gains and losses.
        clusters: How many there are.
        level: The level of the test.
    """
    reach = 7 * sqrt(clusters * changed) + 7
    most = min(clusters, round(clusters * changed + reach))
    counts, gain = np.arange(most + 1), (changed + mean) / (2 * changed)
    weights = probabilities(clusters, changed)[: most + 1]
    found = 0.0
    for count, weight in zip(counts.tolist(), weights.tolist(), strict=True):
        by_chance = np.cumsum(probabilities(count, 0.5))
        losses = int(np.searchsorted(by_chance, (1 - level) / 2 + 1e-12, side="right"))  # so few are rejected
        gains = probabilities(count, gain)
        found += weight * float(gains[:losses].sum() + gains[count + 1 - losses :].sum())
    return found


def detectable(
    standard_error: float, clusters: int, step: float = 0.0, level: float = LEVEL, wanted: float = POWER
) -> float:
    """Return the smallest true difference that is found as often as wanted.

    Args:
        standard_error: As in `power`.
        clusters: As in `power`.
        step: As in `power`.
        level: As in `power`.
        wanted: How often it is to be found, above (1 - level) / 2.

    Returns:
        Above 0; infinite with fewer than five clusters, and NaN if the standard error is 0 or not known.
    """
    if not standard_error > 0:
        return nan
    least = (_critical(clusters, level) + _NORMAL.inv_cdf(wanted)) * standard_error
    if not step or least == inf:
        return least
    low, high = least, least + 10 * step
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_found = power(middle, standard_error, clusters, step, level) >= wanted
        low, high = (low, middle) if is_found else (middle, high)
    return high


def pairs_needed(
    difference: float, deviation: float, size: float = 0.0, level: float = LEVEL, wanted: float = POWER
) -> int:
    """Return how many pairs are needed to find a true difference as often as wanted.

    Args:
        difference: The true difference, not 0, and not so small that no integer is as large as the answer.
        deviation: The standard deviation of the differences of independent pairs. Of pairs in clusters, the standard
            error times the root of their number: as many more as these need are counted then.
        size: How far each pair that changed did, if all did as far, as where scores are 0 or 1; else 0.
        level: As in `power`.
        wanted: As in `detectable`.
    """
    quantile = _NORMAL.inv_cdf((1 + level) / 2)
    pairs = max(ceil(((quantile + _NORMAL.inv_cdf(wanted)) * deviation / difference) ** 2), ceil(quantile**2) + 1)
    while power(difference, deviation / sqrt(pairs), pairs, size / pairs, level) < wanted:
        pairs += max(1, pairs // 1000)
    return pairs


def _critical(clusters: int, level: float) -> float:
    """Return how many standard errors from 0 a mean is rejected."""
    quantile = _NORMAL.inv_cdf((1 + level) / 2)
    return quantile / sqrt(1 - quantile**2 / clusters) if clusters > quantile**2 else inf
