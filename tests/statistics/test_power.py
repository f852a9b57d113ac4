"""Power: against counting how often the test rejects."""

from math import inf, isnan, nan, sqrt

import numpy as np
import pytest

from rag_evaluation_framework.statistics.paired import paired_differences
from rag_evaluation_framework.statistics.power import detectable, pairs_needed, power


@pytest.mark.parametrize(("difference", "pairs"), [(0.05, 50), (0.1, 50), (0.05, 200)])
def test_a_difference_is_found_as_often_as_was_said(difference, pairs):
    values = np.random.default_rng(0).normal(difference, 0.3, (pairs, 2_000))
    found = [test.p_value <= 0.05 for test in paired_differences(values, resamples=999)]
    assert np.mean(found) == pytest.approx(
        power(difference, 0.3 / sqrt(pairs), pairs), abs=0.035
    )  # three standard errors


def test_without_a_difference_it_is_the_error_rate():
    assert power(0, 0.003, 10_000) == pytest.approx(0.05, abs=1e-4)


def test_what_is_detectable_is_found_four_times_in_five():
    for pairs in (10, 50, 473):
        assert power(detectable(0.3, pairs), 0.3, pairs) == pytest.approx(0.8, abs=1e-6)
    assert detectable(0.3 / sqrt(50), 50) == pytest.approx(0.123, abs=0.001)


def test_as_many_pairs_as_are_needed_are_enough_and_one_less_is_not():
    for difference in (0.02, -0.05, 0.3, 0.9):
        pairs = pairs_needed(difference, 0.3)
        most, least = (detectable(0.3 / sqrt(count), count) for count in (pairs - 1, pairs))
        assert least <= abs(difference) < most
    assert pairs_needed(100, 0.3) == 5  # with fewer nothing is ever found


def test_what_is_not_known_or_never_found():
    assert isnan(detectable(nan, 50))
    assert isnan(power(0.1, nan, 50))
    assert detectable(0.3, 3) == inf
    assert power(0.1, 0.3, 3) == 0
    assert power(0.1, 0, 50) == 1
    assert power(0, 0, 50) == 0
