"""What a mean is over: zeros stand for questions that were not scored, never for scores that nobody could give."""

from math import nan

import numpy as np
import pytest

from rag_evaluation_framework.data import Failure, ScoreTable
from rag_evaluation_framework.data.columns import mean_of

GONE = (Failure("retrieve", "OSError", "gone"),)
BROKEN = (Failure("score shaky@1", "ValueError", "no"),)


def table(values, answerable, failed=(), count_as_zero=("failed", "no-answer"), **failures):
    """One score of the questions a, b, …; those in `failed` could not be asked."""
    names = "abcdefgh"[: len(values)]
    return ScoreTable(
        tuple(names),
        {"shaky@1": np.array(values, dtype=np.float64)},
        np.array(answerable),
        {**dict.fromkeys(failed, GONE), **failures},
        count_as_zero=frozenset(count_as_zero),
    )


@pytest.mark.parametrize(
    ("made", "mean", "scores"),
    [
        (table([nan, nan, nan, nan], [True, True, False, True], failed="d"), None, [None] * 4),
        (table([nan, nan], [True, False], a=BROKEN), None, [None, None]),
        (table([nan, nan], [True, True], failed="ab"), None, [None, None]),
        # a has 0.9, b could not be scored by this metric, c has no answer, d failed: (0.9 + 0 + 0) / 3
        (table([0.9, nan, nan, nan], [True, True, False, True], failed="d", b=BROKEN), 0.3, [0.9, None, 0.0, 0.0]),
        (table([0.0, nan], [True, False]), 0.0, [0.0, 0.0]),
    ],
    ids=[
        "no question has the score",
        "the metric raised for every question",
        "nothing was scored",
        "some lack it",
        "a zero was measured",
    ],
)
def test_zeros_stand_for_what_was_not_scored_where_something_was(made, mean, scores):
    assert made.mean["shaky@1"] == pytest.approx(mean)
    assert [*made.per_query("shaky@1").values()] == scores


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_mean_of_the_largest_floats_is_the_largest(count):
    largest = float(np.finfo(np.float64).max)
    assert mean_of(np.full(count, largest)) == largest
