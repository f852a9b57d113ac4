"""Exact bounds of a proportion."""

from collections.abc import Callable

import numpy as np

from ..data.columns import Integers, Numbers

_STEPS = 55  # halvings: as many as double precision has digits


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a proportion, whose coverage is at least the level for every n and proportion.

    With no success the upper bound of 95 % is 1 - 0.025^(1/n), about 3.7 / n: the rule of three, on both sides.
    Source: Clopper and Pearson, Biometrika 26 (1934), 404-413.

    Args:
        successes: From 0 to `trials`.
        trials: How many there were; (0, 1) is returned for none.
        level: The coverage, between 0 and 1.
    """
    tail = (1 - level) / 2
    chosen = _log_chosen(trials)
    low = 0.0 if successes == 0 else _solved(lambda p: _at_least(successes, chosen, p) < tail)
    high = 1.0 if successes >= trials else _solved(lambda p: 1 - _at_least(successes + 1, chosen, p) > tail)
    return low, high


def probabilities(trials: int, proportion: float) -> Numbers:
    """Return the binomial probabilities of 0, 1, … successes; shape (trials + 1,).

    Args:
        trials: How many there are.
        proportion: The chance of each, from 0 to 1.
    """
    if not 0 < proportion < 1:
        sure: Numbers = np.zeros(trials + 1)
        sure[round(proportion) * trials] = 1.0
        return sure
    return _probabilities(_log_chosen(trials), np.arange(trials + 1), proportion)


def _solved(is_below: Callable[[float], bool]) -> float:
    """Return the proportion that is sought, by halving what is left between 0 and 1."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _log_chosen(trials: int) -> Numbers:
    """Return the logarithms of the binomial coefficients; shape (trials + 1,)."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    logs: Numbers = factorials[-1] - factorials - factorials[::-1]
    return logs


def _probabilities(chosen: Numbers, counts: Integers, proportion: float) -> Numbers:
    """Return the probabilities of some numbers of successes."""
    logs = chosen[counts] + counts * np.log(proportion) + (len(chosen) - 1 - counts) * np.log1p(-proportion)
    found: Numbers = np.exp(logs)
    return found


def _at_least(successes: int, chosen: Numbers, proportion: float) -> float:
    """Return the probability of at least so many successes, by the shorter tail."""
    trials = len(chosen) - 1
    below = successes <= trials * proportion
    counts = np.arange(successes) if below else np.arange(successes, trials + 1)
    total = float(_probabilities(chosen, counts, proportion).sum())
    return 1 - total if below else total
