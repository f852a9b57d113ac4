"""Differences as they are written: in tables short, and never saying other than what was found; in JSON in full."""

from dataclasses import asdict
from math import ceil, isfinite, nan
from typing import Any

from rag_evaluation_framework.statistics.paired import PairedDifference
from rag_evaluation_framework.statistics.power import detectable

_LEAST = 0.001


def written_interval(test: PairedDifference) -> str:
    """Return an interval; where 0 is outside, so is what is printed."""
    low, high = test.low, test.high
    if low > 0:
        low, high = max(low, _LEAST), max(high, _LEAST)
    if high < 0:
        low, high = min(low, -_LEAST), min(high, -_LEAST)
    return f"{written_signed(low)} {written_signed(high)}"


def written_signed(value: float) -> str:
    """Return a difference with three digits, and none before the point where that is 0."""
    return f"{value:+.3f}".replace("+0.", "+.").replace("-0.", "-.")


def written_p_value(value: float) -> str:
    """Return a p-value, rounded up, so that what is above 1 - level is so when it is printed."""
    return "<.001" if value < 0.001 else f"{ceil(1000 * value - 1e-9) / 1000:.3f}".removeprefix("0")


def recorded_test(test: PairedDifference) -> dict[str, Any]:
    """Return a test for JSON, with the smallest difference that is found 4 times in 5; None for what is not known."""
    least = detectable(test.standard_error, test.clusters, test.step) if test.changed else nan
    record = {**asdict(test), "detectable": least}
    return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in record.items()}
