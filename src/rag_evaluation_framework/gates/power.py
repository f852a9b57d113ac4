"""The power of population gates: which true value would make one fail 4 times in 5."""

from math import isfinite

import numpy as np

from rag_evaluation_framework.analysis.slices import Slice
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.statistics.means import MeanScore
from rag_evaluation_framework.statistics.power import detectable


def power_of_drop(gate: Gate, change: Slice, before: Numbers, after: Numbers) -> str:
    """Return the true drop that would make a gate fail, as people read it.

    Args:
        gate: The gate.
        change: What was measured for it.
        before: The scores of the baseline; NaN where a question has none.
        after: Those of the candidate.
    """
    test = change.test
    if not test.changed:
        return "power: not known, as no question changed"
    least = gate.limit + detectable(test.standard_error, test.clusters, test.step)
    return _told("drop", least, is_possible=least <= 1 or not (_are_shares(before) and _are_shares(after)))


def power_of_mean(gate: Gate, mean: MeanScore, scores: Numbers) -> str:
    """Return the true mean that would make a gate fail, as people read it; the arguments are as in `power_of_drop`."""
    far = detectable(mean.standard_error, mean.clusters)
    if not far > 0:
        return "power: not known, as all questions have the same score"
    bound = gate.limit - far if gate.is_at_least else gate.limit + far
    return _told("mean", bound, is_possible=0 <= bound <= 1 or not _are_shares(scores))


def _are_shares(scores: Numbers) -> bool:
    """Return whether scores are from 0 to 1, so that a mean is, too, and a drop at most 1."""
    return bool(np.all((scores >= 0) & (scores <= 1) | np.isnan(scores)))


def _told(what: str, least: float, *, is_possible: bool) -> str:
    if not is_possible or not isfinite(least):
        return "power: with these questions, nothing would make it fail 4 times in 5"
    return f"power: a true {what} of {least:.3f} would make it fail 4 times in 5"
