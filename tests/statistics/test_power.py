"""Power: against counting how often the test rejects."""

from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from rag_evaluation_framework.statistics.paired import paired_differences
from rag_evaluation_framework.statistics.power import detectable, pairs_needed, power


@pytest.mark.no_cover
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


@pytest.mark.no_cover
def test_of_changes_of_one_size_as_many_pairs_are_needed_as_the_sign_test_needs():
    """A loss of 0.05 of which 0.07 lose and 0.02 gain."""
    deviation = sqrt(0.09 - 0.05**2)
    pairs = pairs_needed(-0.05, deviation, 1)
    assert pairs > pairs_needed(-0.05, deviation)
    drawn = np.random.default_rng(0).choice([-1.0, 1.0, 0.0], (pairs, 4_000), p=[0.07, 0.02, 0.91])
    found = [test.p_value <= 0.05 for test in paired_differences(drawn, resamples=999)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.02)  # three standard errors


def test_what_is_not_known_or_never_found():
    assert isnan(detectable(nan, 50))
    assert isnan(power(0.1, nan, 50))
    assert detectable(0.3, 3) == inf
    assert power(0.1, 0.3, 3) == 0
    assert power(0.1, 0, 50) == 1
    assert power(0, 0, 50) == 0


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("gains", "losses", "pairs"), [(0.02, 0.02, 60), (0.12, 0.02, 60), (0.1, 0.0, 40), (0.2, 0.1, 200)]
)
def test_where_changes_have_one_size_power_is_that_of_the_sign_test(gains, losses, pairs):
    """Counted over all numbers of gains and losses, with the p-values of SciPy."""
    difference, changed = gains - losses, gains + losses
    exact = 0.0
    for count in range(pairs + 1):
        weight = stats.binom.pmf(count, pairs, changed)
        if weight > 1e-9:
            rejected = [up for up in range(count + 1) if stats.binomtest(up, count).pvalue <= 0.05] if count else []
            exact += weight * stats.binom.pmf(rejected, count, gains / changed).sum()
    error = sqrt((changed - difference**2) / (pairs - 1))
    assert power(difference, error, pairs, 1 / pairs) == pytest.approx(exact, abs=1e-6)


def test_of_changes_of_one_size_less_is_found_the_fewer_they_are():
    assert power(0.1, 0.0444, 50, 0.02) < power(0.1, 0.0444, 50) - 0.1
    found = detectable(0.0444, 50, 0.02)
    assert found > detectable(0.0444, 50)
    assert power(found, 0.0444, 50, 0.02) == pytest.approx(0.8, abs=0.02)
    assert power(0.05, 0.02, 1_000, 0.001) == pytest.approx(power(0.049, 0.02, 1_000), abs=1e-6)  # of many, one step
    assert detectable(0.3, 3, 0.1) == inf


def test_the_step_is_that_of_the_changes():
    values = np.array([[1.0, 0.5, 0.5], [0.0, 0.0, 0.0], [-1.0, -0.5, 0.25], [0.0, 0.0, 0.0]])
    one, half, uneven = paired_differences(values)
    assert (one.step, half.step, uneven.step) == (0.25, 0.125, 0)
    assert paired_differences(np.zeros((4, 1)))[0].step == 0
