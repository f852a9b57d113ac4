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


def test_a_score_that_no_question_has_is_not_zero_where_others_count_as_zero():
    unavailable = table([nan, nan, nan, nan], [True, True, False, True], failed="d")
    assert unavailable.mean["shaky@1"] is None
    assert set(unavailable.per_query("shaky@1").values()) == {None}


def test_a_metric_that_raises_for_every_question_has_no_mean():
    assert table([nan, nan], [True, False], a=BROKEN).mean["shaky@1"] is None


def test_where_nothing_was_scored_nothing_is_known_not_even_zero():
    assert table([nan, nan], [True, True], failed="ab").mean["shaky@1"] is None


def test_a_score_that_some_questions_lack_is_averaged_over_the_others_and_the_zeros():
    # a has 0.9, b could not be scored by this metric, c has no answer, d failed: (0.9 + 0 + 0) / 3
    some = table([0.9, nan, nan, nan], [True, True, False, True], failed="d", b=BROKEN)
    assert some.mean["shaky@1"] == pytest.approx(0.3)
    assert some.per_query("shaky@1") == {"a": 0.9, "b": None, "c": 0.0, "d": 0.0}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_mean_of_the_largest_floats_is_the_largest(count):
    largest = float(np.finfo(np.float64).max)
    assert mean_of(np.full(count, largest)) == largest


def test_a_mean_of_zero_that_was_measured_is_zero():
    assert table([0.0, nan], [True, False]).mean["shaky@1"] == 0.0
