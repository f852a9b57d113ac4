"""The thresholds of design document 004, such as `min.recallAtK`, and the gates that they are."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_object
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.gates.gate import Gate, scaled

METRICS: Mapping[str, tuple[str, ...]] = {
    "min.hitAtK": ("hit", "span_hit"),
    "min.recallAtK": ("recall", "chunk_recall", "span_recall"),
    "min.precisionAtK": ("precision", "chunk_precision", "span_precision"),
    "min.mrrAtK": ("mrr",),
    "min.ndcgAtK": ("ndcg",),
}
"""The metrics of which the first that a run has is bounded by a threshold at the k of the run."""

P95 = "max.p95TotalMs"
KEYS = (*METRICS, P95)
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
            problems.append(f"{where}: {_unknown(str(side))}")
        elif not is_object(bounds):
            problems.append(f"{where}.{side}: got {shown(bounds)}; expected an object such as {{recallAtK: 0.75}}")
        for name, value in bounds.items() if side in ("min", "max") and is_object(bounds) else ():
            key = f"{side}.{name}"
            problem = _unknown(key) if key not in KEYS else _problem(key, value)
            if problem:
                problems.append(f"{where}: {problem}")
            else:
                found[key] = float(value)
    return found


def parse_thresholds(texts: Iterable[str], option: str, problems: list[str]) -> dict[str, float]:
    """Return the thresholds of texts such as `min.recallAtK=0.75` by key.

    Args:
        texts: The texts.
        option: What they were given by, for messages.
        problems: What is wrong is added here.
    """
    found: dict[str, float] = {}
    for text in texts:
        key, equals, written = (part.strip() for part in text.partition("="))
        problem = "expected a threshold such as min.recallAtK=0.75" if not equals else None
        value = _number(written)
        problem = problem or (_unknown(key) if key not in KEYS else _problem(key, written if value is None else value))
        if problem is None and key in found:
            problem = f"{key} is given twice"
        if problem:
            problems.append(f"{option} {shown(text)}: {problem}")
        elif value is not None:
            found[key] = value
    return found


def threshold_gate(key: str, value: float, k: Cutoff, names: Sequence[str], source: str) -> Gate:
    """Return the gate that a threshold is at the k of a run, of the first metric that the run has.

    Args:
        key: The threshold.
        value: Its value.
        k: The number of results at which the rankings of the run are cut.
        names: The scores of the run.
        source: Where it was written.
    """
    told = f"{key}, {source}"
    if key == P95:
        return Gate("latency", "", "<=", scaled(value, -3), percentile=95, source=told)
    metrics = [f"{metric}@{k}" for metric in METRICS[key]]
    return Gate("score", next((name for name in metrics if name in names), metrics[0]), ">=", value, source=told)


def _number(written: str) -> float | None:
    try:
        return float(written) if written.isascii() and "_" not in written else None
    except ValueError:
        return None


def _unknown(key: str) -> str:
    near = get_close_matches(key, KEYS, n=1, cutoff=_PROBABLE)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KEYS)}"
    return f"{shown(key)} is not a threshold; {hint}"


def _problem(key: str, value: Any) -> str | None:
    """Return what is wrong with the value of a threshold; None if nothing is."""
    largest, what = (None, "a number of milliseconds of at least 0") if key == P95 else (1.0, "a number from 0 to 1")
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        return f"{key} is {shown(value)}; expected {what}"
    return f"{key} is {value:g}; expected {what}" if value < 0 or (largest is not None and value > largest) else None


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that is larger than every float
        return False
