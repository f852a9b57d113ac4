"""How long is waited before a provider is asked again."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import uniform
from typing import Any

from rag_evaluation_framework._support.coroutines import stop_if_cancelled
from rag_evaluation_framework._support.interrupts import stop_if_interrupted

LONGEST_WAIT = 120.0
"""Seconds that a provider may ask to wait; if it asks for more, the call fails at once."""

_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
_FIRST_BUSY_WAIT = 2.0  # seconds: limits are of a minute, which the attempts of one call should outlast
_LONGEST_OWN_WAIT = 30.0
_SPREAD = 0.1  # of the time that is asked for: who was told the same time need not come at the same moment
_STEP = 0.1  # seconds of sleep after which is seen whether there is still something to wait for


def wait_before(attempt: int, asked: float, *, is_busy: bool) -> float:
    """Return how many seconds to wait before asking again.

    At least as long as the provider asks. Else a random time below a bound that doubles with each attempt ("full
    jitter"); of a provider that is busy, between half of a higher bound and all of it ("equal jitter": both Brooker,
    Exponential Backoff and Jitter, AWS 2015), which makes about a minute in six attempts.

    Args:
        attempt: How many times it was asked.
        asked: How many seconds it asks to wait; 0 if it does not.
        is_busy: Whether it says that it was asked too often.
    """
    if asked:
        return asked * uniform(1, 1 + _SPREAD)  # noqa: S311  nobody has to be kept from guessing it
    bound = min(_LONGEST_OWN_WAIT, (_FIRST_BUSY_WAIT if is_busy else _FIRST_WAIT) * 2**attempt)
    return uniform(bound / 2 if is_busy else 0, bound)  # noqa: S311


def asked_to_wait(error: Exception) -> float:
    """Return how many seconds the answer that an SDK's error is about asks to wait, at least a moment; 0 if none."""
    headers = _headers(error)
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            return max(_STEP / 100, float(headers[name]) * scale)
        except (KeyError, ValueError):
            continue
    try:
        return max(_STEP / 100, (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds())
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0


def pause(seconds: float) -> None:
    """Wait, unless the program is interrupted, or what it is for was cancelled."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        stop_if_cancelled()
        stop_if_interrupted()
        time.sleep(min(_STEP, left))


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the headers of the answer, by their names in lower case."""
    given: Any = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in given.items()}
