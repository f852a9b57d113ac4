"""At which rank the first relevant result is; and what was returned for questions without an answer."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.results.query_result import Returned

# At which rank the first relevant result is, over the questions that were scored.


@dataclass(frozen=True, slots=True)
class FirstRelevant:
    """The rank of the first relevant result, counted from 1; results that repeat a document count.

    Attributes:
        questions: How many questions were scored.
        found: Of how many a result is relevant, however deep the cutoffs reach.
        median: The median rank; questions without a relevant result count as later than any. None if the median is
            there, as of one with a relevant result and one without.
    """

    questions: int
    found: int
    median: float | None

    @classmethod
    def of(cls, table: ScoreTable, returned: Returned) -> Self | None:
        """Return at which rank the first relevant result is; None if no question was scored.

        Args:
            table: The scores, which tell what became of each question.
            returned: What was returned.
        """
        scored = table.with_status("scored")
        if not scored.any():
            return None
        ranks = returned.first_relevant[scored]
        found = ~np.isnan(ranks)
        median = float(np.median(np.where(found, ranks, np.inf)))
        return cls(len(ranks), int(found.sum()), median if np.isfinite(median) else None)

    def record(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


# What was returned for questions without an answer: how many got results, and at which scores.

_KEPT = (95, 50)
"""The percentages of good first results that thresholds keep, at least."""


@dataclass(frozen=True, slots=True)
class FalseReturns:
    """What a threshold on the score would do: answer only where the first result has at least this score.

    Attributes:
        threshold: The score.
        kept: Of the questions whose first result is relevant, the share that has at least this score.
        rate: Of the questions without an answer, the share that has at least this score: the false-return rate.
    """

    threshold: float
    kept: float
    rate: float


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """What was returned for the questions without an answer that were asked.

    These have no score: there is nothing to recall. But a system that should say "I do not know" has to tell them from
    the others, and all that it has is the score of the best result. So the false-return rate is told at two thresholds,
    which come from this run and not from taste: the highest scores that at least 95 %, and half, of the questions have
    whose first result is relevant. The first is the false positive rate at a true positive rate of 95 % (Liang, Li and
    Srikant, ICLR 2018, arXiv:1706.02690). Range [0, 1]; a retriever whose scores tell nothing has about the share kept.

    Attributes:
        asked: How many there are; those whose retrieval failed are left out.
        returned: How many of them got any result.
        good: The questions with an answer whose first result is relevant, and has a score.
        false_returns: At each threshold, of which two may be one; none if that is not defined.
        undefined: Why not; "" if it is.
    """

    asked: int
    returned: int
    good: int
    false_returns: tuple[FalseReturns, ...]
    undefined: str = ""

    @classmethod
    def of(cls, table: ScoreTable, returned: Returned) -> Self | None:
        """Return what was returned for questions without an answer; None if none was asked.

        Args:
            table: The scores, which tell what became of each question.
            returned: What was returned.
        """
        asked = table.with_status("no-answer")
        if not asked.any():
            return None
        best, some = returned.best_score[asked], int((returned.results[asked] > 0).sum())
        good = returned.best_score[returned.first_relevant == 1]
        good = good[~np.isnan(good)]
        undefined = _undefined(int((~np.isnan(best)).sum()), some, len(good))
        found = () if undefined else tuple(dict.fromkeys(_false_returns(best, good)))
        return cls(int(asked.sum()), some, len(good), found, undefined)

    def record(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            **asdict(self),
            "false_returns": [*map(asdict, self.false_returns)],
            "undefined": self.undefined or None,
        }


def _undefined(scored: int, returned: int, good: int) -> str:
    """Return why there are no thresholds; "" if there are."""
    if scored < returned:
        return f"{returned - scored} of them got results that no score orders"
    return "" if good else "of no question with an answer the first result is relevant and has a score"


def _false_returns(best: Numbers, good: Numbers) -> Iterator[FalseReturns]:
    """Yield what thresholds do; each is a score that was seen, so that no fewer are kept than is said."""
    falling = np.sort(good)[::-1]
    for kept in _KEPT:
        threshold = float(falling[(kept * len(good) - 1) // 100])  # of n scores the one at ⌈kept · n⌉, from 1
        yield FalseReturns(threshold, float((good >= threshold).mean()), float((best >= threshold).mean()))
