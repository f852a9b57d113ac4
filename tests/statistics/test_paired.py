"""Paired differences: the test against all patterns of signs, and the interval against the test."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rag_evaluation_framework.statistics import paired
from rag_evaluation_framework.statistics.paired import paired_differences
from rag_evaluation_framework.statistics.proportions import clopper_pearson
from support.each import each
from support.examples import examples


def one(values, clusters=None, **options):
    (found,) = paired_differences(np.array(values, dtype=float)[:, np.newaxis], clusters, **options)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_with_few_changes_the_p_value_is_that_of_all_patterns(seed):
    random = np.random.default_rng(seed)
    values = np.concatenate([np.round(random.normal(0.2, 0.5, 9), 1), np.zeros(30)])
    some = values[values != 0]  # all patterns of all 39 would be too many, and the others make no difference
    expected = stats.permutation_test((some,), np.sum, permutation_type="samples", n_resamples=2**10).pvalue
    found = one(values)
    assert found.is_exact
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert (found.pairs, found.changed) == (39, np.count_nonzero(values))


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(50), 3)])
def test_where_nearly_all_changes_go_one_way_few_small_ones_do_not_make_it_certain(clusters):
    """Nine of ten gain 1, the others lose a little: as where all gain, or nothing."""
    size = 1 if clusters is None else 3
    gains = np.random.default_rng(0).random((50, 600)) < 0.9
    found = paired_differences(np.repeat(np.where(gains, 1.0, -0.001), size, axis=0), clusters, resamples=999)
    assert np.mean([test.low <= 0.8999 <= test.high for test in found]) >= 0.95
    nearly, all_gain = (one([1.0] * 19 + [last]) for last in (-1e-6, 0.0))
    assert nearly.low == pytest.approx(all_gain.low, abs=1e-5)


def test_small_differences_stay_small_and_large_documents_leave_more_doubt():
    # Documents of equal size that all gain are as pairs and a large one leaves more doubt:
    even, uneven = np.repeat(np.arange(20), 2), np.concatenate([np.arange(20), np.full(20, 20)])
    assert one(np.ones(40), even).low == pytest.approx(clopper_pearson(20, 20)[0], abs=0.005)
    assert one(np.ones(40), uneven).low < one(np.ones(40), even).low - 0.1

    # Small differences of documents stay small:
    # Scores could differ by 1; those of any question seen differ by 0.01 at most.
    clusters = np.repeat(np.arange(30), 3)
    found = one(np.random.default_rng(0).uniform(-0.01, 0.01, 90), clusters)
    assert -0.006 < found.low < found.high < 0.006


@pytest.mark.parametrize("sign", [1, -1])
def test_of_documents_of_any_size_of_which_some_are_lost_the_interval_holds_the_truth(sign):
    """A tenth is lost, half of it by whole documents; a large one may not be in the sample: 85 % held the truth."""
    source = np.random.default_rng(1)
    held = []
    for _ in range(20):
        sizes = (1 + np.minimum(source.pareto(1.2, 50) * 2, 60)).astype(int)
        clusters = np.repeat(np.arange(50), sizes)
        shape = (len(clusters), 40)
        together = source.random((50, 40))[clusters]
        is_lost = np.where(source.random(shape) < 0.5, together, source.random(shape)) < 0.1
        found = paired_differences(sign * -1.0 * is_lost, clusters, resamples=999)
        held += [test is not None and test.low <= sign * -0.1 <= test.high for test in found]
    assert np.mean(held) >= 0.94


def test_of_documents_that_are_lost_whole_of_which_few_are_large_the_interval_holds_the_truth():
    """One in 15 is large; weights alone, without the bound by the share of documents, held 86 %."""
    source = np.random.default_rng(5)
    held = []
    for _ in range(8):
        clusters = np.repeat(np.arange(200), np.where(source.random(200) < 1 / 15, 60, 3))
        lost = (source.random((200, 40)) < 0.15)[clusters]
        found = paired_differences(lost * -1.0, clusters, resamples=999)
        held += [test is not None and test.low <= -0.15 <= test.high for test in found]
    assert np.mean(held) >= 0.94


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(30), 2)])
def test_an_interval_does_not_turn_with_the_sign_of_a_mean_that_is_nearly_0(clusters):
    values = np.array([1.0, 1.0] + [-1 / 29] * 58)
    above, below = (one(values + epsilon, clusters) for epsilon in (1e-9, -1e-9))
    assert (above.low, above.high) == pytest.approx((below.low, below.high), abs=1e-6)


def test_with_many_changes_the_p_value_is_near_that_of_many_patterns():
    values = np.random.default_rng(0).normal(0.1, 0.4, 60)
    found = one(values)
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=99_999).pvalue
    assert not found.is_exact
    assert found.p_value == pytest.approx(expected, abs=0.01)
    assert found.resamples == 9_999
    assert found.smallest_p == 1 / 10_000
    assert round(found.p_value * 10_000) == pytest.approx(found.p_value * 10_000)  # (b + 1) / (B + 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_where_all_changes_go_one_way_the_interval_is_as_wide_as_their_number_says(sign):
    low, high = clopper_pearson(20, 20)
    found = one([sign] * 20)
    assert sorted([sign * found.low, sign * found.high]) == [pytest.approx(low), high]
    low, high = clopper_pearson(19, 20)
    found = one([0.5 * sign] * 19 + [0.0])
    assert sorted([sign * found.low, sign * found.high]) == [pytest.approx(low / 2), pytest.approx(0.5)]
    mixed = one([1.0] * 19 + [-1.0])
    assert mixed.low > 0.5


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.95), (0.1, 0.95), (0.97, 1.0)])
def test_large_changes_and_rare_ones_are_in_their_interval(before, after):
    random = np.random.default_rng(0)
    hits = [(random.random((20, 400)) < rate).astype(np.float64) for rate in (before, after)]
    found = paired_differences(hits[1] - hits[0], resamples=999)
    assert np.mean([test.low - 1e-12 <= after - before <= test.high + 1e-12 for test in found]) >= 0.95


def test_random_signs_are_not_surer_than_all_of_them():
    """Of 8 equal changes 2 patterns of 256 are as far, of which 199 random ones may have none."""
    changes = [0.25, 0.25, 0.25, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0, 0.25]
    for seed in range(10):
        found = one(changes, resamples=199, seed=seed)
        assert not found.is_exact
        assert found.p_value >= found.smallest_p == 2 / 256


SCORES = st.sampled_from([0.0, 0.0, 0.0, 0.25, 0.5, 1.0, -0.25, -0.5, -1.0])


@examples(150)
@given(st.lists(SCORES, min_size=1, max_size=40), st.booleans())
def test_0_is_in_the_interval_exactly_if_it_is_not_rejected(values, is_drawn):
    found = one(values, resamples=199 if is_drawn else 2_000)
    assert (found.low <= 0 <= found.high) == (found.p_value > 0.05)
    assert found.low <= found.mean <= found.high
    assert found.low >= -1
    assert found.high <= 1
    assert found.p_value >= found.smallest_p - 1e-12


@pytest.mark.parametrize("pairs", [49, 150, 203])
def test_that_holds_also_where_many_patterns_are_as_far_as_what_was_seen(pairs):
    """Scores that are 0 or 1 differ by 1, and means of them by thirds of which no two sums are the same to the bit."""
    found = paired_differences(np.random.default_rng(pairs).integers(-1, 2, (pairs, 400)) / 3, resamples=999)
    assert any(0.05 < test.p_value < 0.08 for test in found)
    assert all((test.low <= 0 <= test.high) == (test.p_value > 0.05) for test in found)


@pytest.mark.parametrize("seed", range(8))
def test_the_interval_holds_what_the_same_test_does_not_reject(seed):
    """What is taken off every pair: just inside of the bounds it is not rejected, just outside it is."""
    values = np.random.default_rng(seed).normal(0.05, 0.3, 40)
    found = one(values)
    for bound, outwards in ((found.low, -1e-6), (found.high, 1e-6)):
        assert one(values - bound - outwards).p_value <= 0.05
        assert one(values - bound + outwards).p_value > 0.05


def test_pairs_of_a_cluster_are_flipped_together():
    """Four questions of one document are no more evidence than one with four times the difference."""
    values = np.random.default_rng(1).normal(0.2, 0.3, 12)
    clusters = np.repeat(np.arange(3), 4)
    found = one(values, clusters)
    sums = values.reshape(3, 4).sum(axis=1)
    assert (found.pairs, found.clusters, found.changed) == (12, 3, 3)
    assert found.mean == pytest.approx(values.mean())
    assert found.p_value == one(sums).p_value == 0.25
    assert found.smallest_p == 0.25
    errors = sums - 4 * values.mean()
    assert found.standard_error == pytest.approx(np.sqrt((errors**2).sum() * 3 / 2) / 12)
    again = one(values, np.array([7, 7, 7, 7, 2, 2, 2, 2, 5, 5, 5, 5]))  # numbers may be left out
    assert (again.clusters, again.p_value, again.standard_error) == (
        3,
        found.p_value,
        pytest.approx(found.standard_error),
    )


def test_that_few_clusters_changed_says_little_if_one_of_them_may_be_large():
    """Of 30 documents one has half of the questions: it alone could move the mean by half."""
    clusters = np.concatenate([np.arange(29), np.full(29, 29)])
    found = one(np.zeros(58), clusters)
    most = clopper_pearson(0, 30)[1] * 30
    assert found.high == -found.low == pytest.approx((29 + most - 1) / 58)
    assert found.high > 0.5 > one(np.zeros(58)).high


def test_clusters_of_one_or_few_are_taken_for_what_they_are():
    # Clusters of one are no clusters:
    values = np.random.default_rng(2).normal(0.1, 0.3, 50)
    assert one(values, np.arange(50)) == one(values)

    # A single cluster has no spread:
    found = one([0.1, 0.2], np.array([0, 0]))
    assert isnan(found.standard_error)
    assert found.p_value == 1

    # Where there are many clusters fewer patterns are drawn:
    values = np.random.default_rng(5).normal(0, 1, (60_000, 1))
    (found,) = paired_differences(values)
    assert found.resamples == 1_666
    (fewest,) = paired_differences(np.zeros((300_000, 1)) + 0.1, np.arange(300_000))
    assert fewest.resamples == 999


def test_a_pair_without_a_score_is_none():
    values = np.random.default_rng(3).normal(0.1, 0.3, 30)
    known = np.where(np.arange(30) % 3 == 0, np.nan, values)
    both, all_of_them = paired_differences(np.stack([known, values], axis=1))
    assert (all_of_them.p_value, all_of_them.low) == pytest.approx((one(values).p_value, one(values).low))
    kept = values[np.arange(30) % 3 > 0]
    assert (both.pairs, both.clusters) == (20, 20)
    assert both.mean == pytest.approx(kept.mean())
    assert both.standard_error == pytest.approx(np.std(kept, ddof=1) / np.sqrt(20))
    assert paired_differences(np.full((4, 1), np.nan)) == [None]
    assert paired_differences(np.zeros((0, 2))) == [None, None]


def test_what_did_not_change_may_have_been_missed():
    # Where nothing changed as much may have been missed as the rule of three says:
    found = one(np.zeros(100))
    assert (found.p_value, found.smallest_p, found.changed) == (1, 1, 0)
    assert -found.low == found.high == clopper_pearson(0, 100)[1] == pytest.approx(0.0362, abs=1e-4)

    # Six changes of one sign are enough:
    found = one([1.0] * 6 + [0.0] * 94)
    assert found.p_value == 2 / 64
    assert 0 < found.low < 0.06 < found.high < 0.14

    # Without a largest difference there is no limit:
    assert one([0.0] * 9, largest=np.inf).high == np.inf
    assert one([3.0, 0.0, 0.0], largest=np.inf).high == np.inf


@pytest.mark.parametrize("changed", [1, 3, 5])
def test_a_few_changes_of_one_sign_prove_nothing(changed):
    found = one([1.0] * changed + [0.0] * 95)
    assert found.p_value == found.smallest_p == 2.0 ** (1 - changed)
    assert found.low < 0 < found.high < 0.13


def test_the_seed_alone_decides():
    values = np.random.default_rng(4).normal(0.1, 0.4, 60)
    assert one(values) == one(values)
    assert one(values, seed=1).p_value != one(values).p_value
    assert one(values, seed=1).mean == one(values).mean


@each(("successes", "trials"), [(0, 1), (1, 1), (0, 30), (30, 30), (7, 30), (499, 500), (50_000, 10**5)])
@each("level", [0.95, 0.8])
def test_exact_bounds_of_a_proportion(successes, trials, level):
    expected = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    assert clopper_pearson(successes, trials, level) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_trials_and_p_values_at_their_limits(monkeypatch):
    # Of no trial nothing is known:
    assert clopper_pearson(0, 0) == (0.0, 1.0)

    # A p value of exactly what is wanted is a rejection:
    monkeypatch.setattr(paired, "LEVEL", 0.5)
    found = one([1.0, 1.0, *[0.0] * 8])
    assert found.p_value == 0.5
    assert found.low > 0


def test_few_changes_move_the_mean_no_farther_than_the_largest_clusters_do():
    """Of 20 documents of which 2 are large and nothing changed, 3.4 may have; the largest are taken for these."""
    sizes = np.array([30, 20, *[1] * 18])
    clusters = np.repeat(np.arange(20), sizes)
    found = one(np.zeros(sizes.sum()), clusters)
    most = 20 * (1 - 0.025 ** (1 / 20))
    expected = (30 + 20 + (most - 2)) / sizes.sum()
    assert (found.low, found.high) == (pytest.approx(-expected), pytest.approx(expected))
