"""Power: which difference a comparison would find, and how many questions another one takes."""

from math import ceil, floor, inf, nan, sqrt
from statistics import NormalDist

import numpy as np

from .paired import LEVEL, PairedDifference
from .proportions import probabilities

POWER = 0.8
_NORMAL = NormalDist()
_FEW = 100  # changes, up to which their number is drawn, and power is that of the sign test where all have one size
_RARE = 1e-6
_STEPS = 20  # halvings of an interval


def power(difference: float, standard_error: float, clusters: int, *, changed: float = 1.0, step: float = 0.0) -> float:
    """Return the power of `paired_differences`: how often it finds a true difference of means.

    A test by signs knows only the clusters that change: of five or fewer, all the same way, chance makes one pattern in
    16. So the number of changes is drawn (binomial), and the power of each number is that of a t-test at the level
    that so many signs can reach. The changes are as far apart as the standard error says, less half of what their
    varying number adds to it: all of it is right where changes are normal, and too much where they pile up at an end.
    Where all changes have one size, it is the sign test of the changed clusters.

    `benchmarks/error_rates.py` compares it with what is found, from 6 clusters on.

    Args:
        difference: The true difference.
        standard_error: Of the mean, as `PairedDifference` has it.
        clusters: Number of independent groups of pairs; the pairs, if each is its own.
        changed: Share of the clusters that change; more do where the difference takes more.
        step: What each change moves the mean, if all move it as far; else 0.

    Returns:
        From 0 to 1; NaN if the standard error is not known, or if it is 0 and no change has a size.
    """
    wanted, variance = abs(difference), standard_error**2 * clusters
    if not (standard_error > 0 or (standard_error == 0 and step)):
        return nan
    if step:
        mean = min(wanted / (step * clusters), 1.0)  # more than all cannot change
        share = min(max((standard_error / (step * clusters)) ** 2 * (clusters - 1) + mean**2, mean), 1.0)
        if share * clusters <= _FEW:
            return _power_of_signs(mean, share, clusters)
        wanted = max(wanted - step, 0)
    share = min(max(changed, wanted**2 / (variance + wanted**2), _RARE), 1.0)
    spread = variance / share - (1 - share) * (wanted / share) ** 2 / 2
    spread = max(spread, variance / share / 2)  # by rounding it would be less
    shift = wanted / share / sqrt(spread) if spread else inf
    if share * clusters > _FEW:
        return _power_of_t(shift, round(share * clusters))
    weights = probabilities(clusters, share)
    likely = np.flatnonzero(weights > _RARE).tolist()
    return float(sum(weights[count] * _power_of_t(shift, count) for count in likely))


def _power_of_t(shift: float, count: int) -> float:
    """Return the power of a two-sided t-test at the level that the signs of so many changes can reach.

    Source: the normal approximation of the noncentral t distribution (Johnson and Welch, Biometrika 31 (1940),
    362-389).

    Args:
        shift: The mean change in standard deviations of the changes.
        count: The number of changes.
    """
    patterns = 2.0 ** min(count - 1, 50)  # on either side
    reached = floor((1 - LEVEL) * patterns + 1e-9) / patterns
    if not reached:
        return 0.0
    quantile, free = -_NORMAL.inv_cdf(reached / 2), count - 1
    shrink = 1 - 1 / (4 * free)
    critical = quantile / sqrt(shrink**2 - quantile**2 / (2 * free))
    width = sqrt(1 + critical**2 / (2 * free))
    mean = shift * sqrt(count)
    return sum(_NORMAL.cdf((side * mean - critical * shrink) / width) for side in (1, -1))


def _power_of_signs(mean: float, changed: float, clusters: int) -> float:
    """Return the power of the sign test.

    Args:
        mean: Gains minus losses, as a share of all clusters.
        changed: Gains and losses.
        clusters: How many there are.
    """
    reach = 7 * sqrt(clusters * changed) + 7
    most = min(clusters, round(clusters * changed + reach))
    counts, gain = np.arange(most + 1), (changed + mean) / (2 * changed) if changed else 0.5
    weights = probabilities(clusters, changed)[: most + 1]
    found = 0.0
    for count, weight in zip(counts.tolist(), weights.tolist(), strict=True):
        by_chance = np.cumsum(probabilities(count, 0.5))
        losses = int(np.searchsorted(by_chance, (1 - LEVEL) / 2, side="right"))  # so few are rejected
        gains = probabilities(count, gain)
        found += weight * float(gains[:losses].sum() + gains[count + 1 - losses :].sum())
    return found


def detectable(standard_error: float, clusters: int, *, changed: float = 1.0, step: float = 0.0) -> float:
    """Return the smallest true difference that is found 4 times in 5.

    Args:
        standard_error: As in `power`.
        clusters: As in `power`.
        changed: As in `power`.
        step: As in `power`.

    Returns:
        Above 0; infinite if no difference is found so often, as with fewer than six clusters; NaN as in `power`.
    """

    def is_found(difference: float) -> bool:
        return power(difference, standard_error, clusters, changed=changed, step=step) >= POWER

    least = standard_error + step
    if not least > 0:
        return nan if clusters > 1 else inf
    if not is_found(1e6 * clusters * least):
        return inf
    low, high = 0.0, least
    while not is_found(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


def detectable_change(test: PairedDifference) -> float:
    """Return the smallest true difference that a comparison like this one finds 4 times in 5, as `detectable` does.

    It is infinite if no difference of these scores can be so large.
    """
    least = detectable(test.standard_error, test.clusters, changed=test.changed / test.clusters, step=test.step)
    return inf if least > test.largest else least


def pairs_needed(difference: float, deviation: float, *, changed: float = 1.0, size: float = 0.0) -> int:
    """Return how many pairs are needed to find a true difference 4 times in 5.

    Args:
        difference: The true difference, not 0, and not so small that no integer is as large as the answer.
        deviation: The standard deviation of the differences of independent pairs: the standard error times the root of
            their number. Of pairs in clusters, these are the pairs.
        changed: Share of the pairs that change, as in `power`.
        size: How far each pair that changed did, if all did as far, as where scores are 0 or 1; else 0.
    """
    quantile = _NORMAL.inv_cdf((1 + LEVEL) / 2)
    pairs = max(ceil(((quantile + _NORMAL.inv_cdf(POWER)) * deviation / difference) ** 2), 6)
    while power(difference, deviation / sqrt(pairs), pairs, changed=changed, step=size / pairs) < POWER:
        pairs += max(1, pairs // 1000)
    return pairs
