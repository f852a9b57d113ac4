"""The thresholds of design document 004, such as `min.recallAtK`, as files have them."""

from difflib import get_close_matches
from math import isfinite
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_object

P95 = "max.p95TotalMs"
KEYS = ("min.hitAtK", "min.recallAtK", "min.precisionAtK", "min.mrrAtK", "min.ndcgAtK", P95)
"""All thresholds; but for the last, the metrics of `gates.thresholds.METRICS`."""

_PROBABLE = 0.6


def read_thresholds(given: Any, where: str, problems: list[str]) -> dict[str, float]:
    """Return the thresholds of a file by key, such as `min.recallAtK`.

    Args:
        given: What the file says: `{"min": {"recallAtK": 0.75}}`, or None.
        where: Where it is, for messages.
        problems: What is wrong is added here.
    """
    if given is None:
        return {}
    if not is_object(given):
        problems.append(f"{where}: got {shown(given)}; expected an object such as {{min: {{recallAtK: 0.75}}}}")
        return {}
    found: dict[str, float] = {}
    for side, bounds in given.items():
        if side in KEYS:
            group, _, name = str(side).partition(".")
            problems.append(f"{where}: {side} is written as {{{group}: {{{name}: …}}}} in a file")
        elif side not in ("min", "max"):
            problems.append(f"{where}: {threshold_problem(str(side), None)}")
        elif not is_object(bounds):
            problems.append(f"{where}.{side}: got {shown(bounds)}; expected an object such as {{recallAtK: 0.75}}")
        for name, value in bounds.items() if side in ("min", "max") and is_object(bounds) else ():
            key = f"{side}.{name}"
            problem = threshold_problem(key, value)
            if problem:
                problems.append(f"{where}: {problem}")
            else:
                found[key] = float(value)
    return found


def threshold_problem(key: str, value: Any) -> str | None:
    """Return why a threshold is none, or what is wrong with its value; None if nothing is."""
    if key not in KEYS:
        near = get_close_matches(key, KEYS, n=1, cutoff=_PROBABLE)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KEYS)}"
        return f"{shown(key)} is not a threshold; {hint}"
    largest, what = (None, "a number of milliseconds of at least 0") if key == P95 else (1.0, "a number from 0 to 1")
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        return f"{key} is {shown(value)}; expected {what}"
    return f"{key} is {value:g}; expected {what}" if value < 0 or (largest is not None and value > largest) else None


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that is larger than every float
        return False
