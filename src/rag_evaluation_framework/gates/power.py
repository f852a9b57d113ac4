"""The power of population gates: which true value would make one fail 4 times in 5."""

from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from rag_evaluation_framework.analysis.slices import Slice
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.statistics.means import MeanScore
from rag_evaluation_framework.statistics.paired import LEVEL
from rag_evaluation_framework.statistics.power import POWER, detectable_change

_OF_INTERVAL, _OF_POWER = (NormalDist().inv_cdf(share) for share in ((1 + LEVEL) / 2, POWER))
_STEPS = 20  # halvings


@dataclass(frozen=True)
class Power:
    """Which true value would make a gate fail 4 times in 5.

    Attributes:
        what: What the gate is about.
        least: The value, the nearest to its limit; None if none would, or it is not known.
        unknown: Why it is not known; "" if it is.
    """

    what: Literal["mean", "drop"]
    least: float | None = None
    unknown: Literal["", "unchanged", "no share"] = ""


def power_of_drop(gate: Gate, change: Slice) -> Power:
    """Return the true drop that would make a gate fail.

    Args:
        gate: The gate.
        change: What was measured for it.
    """
    test = change.test
    if not test.changed:
        return Power("drop", unknown="unchanged")
    least = gate.limit + detectable_change(test)
    return Power("drop", least if least <= test.largest and isfinite(least) else None)


def power_of_mean(gate: Gate, mean: MeanScore, scores: Numbers) -> Power:
    """Return the true mean that would make a gate fail.

    Scores from 0 to 1 with the mean m have a variance of at most m (1 - m), which those of 0 or 1 have; others are
    taken to keep the share of it that they have now. So the true mean b is that from which the limit L is as far as the
    bound of an interval around L, and the quantile of 4 in 5 around b, for n questions:
    |L - b| = z sqrt(L (1 - L) r / n) + z' sqrt(b (1 - b) r / n) + 1 / 2n.
    """
    if not np.all((scores >= 0) & (scores <= 1)):
        return Power("mean", unknown="no share")
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
    return Power("mean", (low if gate.is_at_least else 1 - low) if low > 0 else None)
