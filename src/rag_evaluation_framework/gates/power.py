"""The power of population gates: which true value would make one fail 4 times in 5."""

from math import isfinite, sqrt
from statistics import NormalDist

import numpy as np

from rag_evaluation_framework.analysis.slices import Slice
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.statistics.means import MeanScore
from rag_evaluation_framework.statistics.paired import LEVEL
from rag_evaluation_framework.statistics.power import POWER, detectable_change

_OF_INTERVAL, _OF_POWER = (NormalDist().inv_cdf(share) for share in ((1 + LEVEL) / 2, POWER))
_STEPS = 20  # halvings


def power_of_drop(gate: Gate, change: Slice) -> str:
    """Return the true drop that would make a gate fail, as people read it.

    Args:
        gate: The gate.
        change: What was measured for it.
    """
    test = change.test
    if not test.changed:
        return "power: not known, as no question changed"
    least = gate.limit + detectable_change(test)
    return _described("drop", least, is_possible=least <= test.largest)


def power_of_mean(gate: Gate, mean: MeanScore, scores: Numbers) -> str:
    """Return the true mean that would make a gate fail, as people read it.

    Scores from 0 to 1 with the mean m have a variance of at most m (1 - m), which those of 0 or 1 have; others are
    taken to keep the share of it that they have now. So the true mean b is that from which the limit L is as far as the
    bound of an interval around L, and the quantile of 4 in 5 around b, for n questions:
    |L - b| = z sqrt(L (1 - L) r / n) + z' sqrt(b (1 - b) r / n) + 1 / 2n.
    """
    if not np.all((scores >= 0) & (scores <= 1)):
        return "power: not known of scores that are not from 0 to 1"
    limit = gate.limit if gate.is_at_least else 1 - gate.limit
    share = 1.0  # of the largest variance there can be: that of scores that are all equal is not known
    if mean.standard_error > 0:
        share = mean.standard_error**2 * mean.clusters / (mean.mean * (1 - mean.mean))
    bound = _OF_INTERVAL * sqrt(max(limit * (1 - limit), 0) * share / mean.clusters)
    room = limit - bound - 0.5 / mean.clusters
    low, high = 0.0, min(max(limit, 0.0), 1.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        fails = middle + _OF_POWER * sqrt(middle * (1 - middle) * share / mean.clusters) <= room
        low, high = (middle, high) if fails else (low, middle)
    return _described("mean", low if gate.is_at_least else 1 - low, is_possible=low > 0)


def _described(what: str, least: float, *, is_possible: bool) -> str:
    if not is_possible or not isfinite(least):
        return "power: with these questions, nothing would make it fail 4 times in 5"
    return f"power: a true {what} of {least:.3f} would make it fail 4 times in 5"
