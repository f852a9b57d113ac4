"""How long one question takes: by stage, and in total."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from rag_evaluation_framework.data.columns import Numbers

TOTAL = "total"


def total_seconds(stages: Mapping[str, Numbers], questions: int) -> Numbers:
    """Return the seconds of all stages of each question together, NaN where it was not timed; shape (questions,)."""
    seconds = np.stack([np.full(questions, np.nan), *stages.values()], axis=1)
    return np.where(np.isnan(seconds).all(axis=1), np.nan, np.nansum(seconds, axis=1))


@dataclass(frozen=True, slots=True)
class Duration:
    """The durations of one stage, or of all together, over the questions that were timed.

    Attributes:
        p50: The median, in seconds.
        p95: The duration that 95 of 100 questions do not exceed, in seconds.
        questions: How many questions it is of.
    """

    p50: float
    p95: float
    questions: int

    @classmethod
    def of(cls, seconds: Numbers) -> "Duration":
        """Return the percentiles of at least one duration, by linear interpolation between the two nearest ranks.

        Of n ordered durations, p95 is at the position 0.95 · (n - 1), counted from 0: of 1 s and 2 s it is 1.95 s.
        Source: Hyndman and Fan, The American Statistician 50 (1996), 361, definition 7; NumPy's default.
        """
        p50, p95 = np.percentile(seconds, (50, 95)).tolist()
        return cls(p50, p95, len(seconds))


@dataclass(frozen=True)
class Latency:
    """How long one question takes, asked alone.

    The first question that was timed pays for connections and caches that the others find made. It is kept apart,
    unless it is the only one.

    Attributes:
        stages: Each stage by name, in order.
        total: All stages of a question together, reranking included.
        warm_up: What the first question took in total, in seconds; None if it is the only one, and so counts.
    """

    stages: Mapping[str, Duration]
    total: Duration
    warm_up: float | None

    @classmethod
    def of(cls, stages: Mapping[str, Numbers]) -> Self | None:
        """Return the latency of questions; None if none was timed.

        Args:
            stages: The seconds of each stage, NaN where a question was not timed or has no such stage; shape
                (queries,) each, in the order in which questions are asked.
        """
        totals = total_seconds(stages, len(next(iter(stages.values()), ())))
        timed = np.flatnonzero(~np.isnan(totals))
        if not len(timed):
            return None
        counted = timed[1:] if len(timed) > 1 else timed
        known = {name: column[counted][~np.isnan(column[counted])] for name, column in stages.items()}
        return cls(
            {name: Duration.of(column) for name, column in known.items() if len(column)},
            Duration.of(totals[counted]),
            float(totals[timed[0]]) if len(timed) > 1 else None,
        )

    def record(self) -> dict[str, Any]:
        """Return the latency for JSON, in seconds."""
        stages = {name: asdict(duration) for name, duration in self.stages.items()}
        return {"stages": stages, TOTAL: asdict(self.total), "warm_up": self.warm_up}
