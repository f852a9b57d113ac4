"""Means of scores: their intervals hold what very many questions would give."""

from math import inf, isnan

import numpy as np
import pytest

from rag_evaluation_framework.statistics.means import group_means, mean_scores
from rag_evaluation_framework.statistics.proportions import clopper_pearson
from support.each import each


def column(*values):
    return np.array(values, dtype=np.float64)[:, np.newaxis]


def test_the_interval_is_exact_for_hits_and_keeps_its_range():
    # Of hits the interval is the exact one:
    (mean,) = mean_scores(column(1, 1, 0, 1, 1, 1, 0, 1))
    assert (mean.mean, mean.questions, mean.clusters) == (0.75, 8, 8)
    assert (mean.low, mean.high) == clopper_pearson(6, 8)
    assert mean.deviation == pytest.approx(0.46291, abs=1e-5)
    assert mean.standard_error == pytest.approx(0.46291 / 8**0.5, abs=1e-5)

    # The bounds are on both sides of the mean and between 0 and 1:
    random = np.random.default_rng(0)
    for count in (1, 2, 3, 50):
        scores = np.stack([random.random(count), random.integers(0, 3, count) / 2, random.random(count) / 50], axis=1)
        for mean in mean_scores(scores):
            assert mean is not None
            assert 0 <= mean.low <= mean.mean <= mean.high <= 1

    # Scores of another range have the interval of that range:
    shares = np.random.default_rng(3).random((30, 1))
    (usual,) = mean_scores(shares)
    (moved,) = mean_scores(4 * shares - 2, ranges=[(-2.0, 2.0)])
    assert (moved.low, moved.high) == (pytest.approx(4 * usual.low - 2), pytest.approx(4 * usual.high - 2))
    (hits,) = mean_scores(column(1, 1, 0, 1), ranges=[(-1.0, 1.0)])
    assert hits.low < clopper_pearson(3, 4)[0]
    (positive,) = mean_scores(column(7.0, 8.0), ranges=[(0.0, inf)])
    assert 0 <= positive.low < 7
    assert positive.high == inf


@pytest.mark.parametrize("hits", [1, 25, 49])
def test_random_weights_give_the_exact_interval_of_hits(hits):
    """One score that is not quite 0 or 1 makes them weigh at random what is as good as hits."""
    scores = np.array([1.0] * hits + [0.0] * (50 - hits))
    scores[0] = abs(scores[0] - 1e-12)
    (mean,) = mean_scores(scores[:, np.newaxis])
    low, high = clopper_pearson(hits, 50)
    assert (mean.low, mean.high) == (pytest.approx(low, abs=0.006), pytest.approx(high, abs=0.006))
    assert (mean.low, mean.high) != (low, high)


def test_equal_scores_and_few_questions_leave_a_doubt():
    # Equal scores leave a doubt:
    # The rule of three, on both sides.
    for value, low, high in ((0.0, 0.0, 0.1684), (1.0, 0.8316, 1.0)):
        (mean,) = mean_scores(column(*[value] * 20))
        assert (mean.low, mean.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    (middle,) = mean_scores(column(*[0.5] * 20))
    assert middle.low < 0.44
    assert middle.high > 0.56
    assert middle.quantiles == (0.5,) * 5

    # One question tells nearly nothing:
    (mean,) = mean_scores(column(1.0))
    assert (mean.low, mean.high) == (pytest.approx(0.025), 1.0)
    assert isnan(mean.standard_error)
    assert isnan(mean.deviation)

    # Scores at the end of the range have an interval:
    (mean,) = mean_scores(column(1.7e308, 1.6e308, -1.7e308), ranges=[(-1.75e308, 1.75e308)])
    assert mean.low < mean.mean < mean.high
    assert mean.mean == pytest.approx(1.6e308 / 3)
    assert mean.deviation == pytest.approx(1.934e308, rel=1e-3) or mean.deviation == inf


@each("worse", range(20))
def test_a_run_that_is_worse_never_has_a_higher_lower_bound(worse):
    """The range is that of the metric: of 20 recalls, those that are .99 do not tell that none can be 0."""
    lows = []
    for lost in (worse, worse + 1):
        (mean,) = mean_scores(column(*[1.0] * (20 - lost), *[0.99] * lost))
        lows.append(mean.low)
    assert lows[1] < lows[0] + 1e-3  # by so much random weights differ from the exact bound
    assert lows[1] < 0.84


def few_large(random, shape):
    """Precisions of which one in ten is from .5 to 1, and the others below .05."""
    return np.where(random.random(shape) < 0.1, 0.5 + random.random(shape) / 2, random.random(shape) / 20), 0.0975


def few_misses(random, shape):
    """Recalls of .99, of which one in thirty is 0."""
    return np.where(random.random(shape) < 1 / 30, 0.0, 0.99), 0.957


@pytest.mark.parametrize("draw", [few_large, few_misses])
@pytest.mark.parametrize("questions", [20, 50])
def test_intervals_hold_the_mean_where_most_scores_are_near_one_end(draw, questions):
    scores, truth = draw(np.random.default_rng(questions), (questions, 400))
    held = np.mean([mean.low <= truth <= mean.high for mean in mean_scores(scores, resamples=999)])
    assert held >= 0.95  # 54 to 88 % where the range is that of the sample


def test_what_is_missing_does_not_count_and_groups_count_the_same():
    # What is missing does not count:
    with_gaps = column(0.2, np.nan, 0.9, 0.4, np.nan)
    (mean,) = mean_scores(with_gaps)
    assert (mean.mean, mean.questions, mean.clusters) == (pytest.approx(0.5), 3, 3)
    assert mean.quantiles == pytest.approx(np.quantile([0.2, 0.4, 0.9], [0.05, 0.25, 0.5, 0.75, 0.95]))
    assert mean_scores(np.hstack([with_gaps, np.full((5, 1), np.nan)])) == [mean, None]
    assert mean_scores(np.zeros((0, 2))) == [None, None]

    # Each group counts the same:
    scores = np.array([[1.0, np.nan], [0.0, 0.4], [0.5, np.nan], [1.0, np.nan]])
    means = group_means(scores, np.array([0, 0, 0, 2]))  # group 1 is empty
    assert means.tolist() == [pytest.approx(0.75), pytest.approx(0.4)]
    assert np.isnan(group_means(np.full((2, 1), np.nan), np.array([0, 1]))).all()


@pytest.mark.parametrize("scores", [(7.0, 7.0, 7.0), (0.5, 1.5), (-0.1, 0.3)])
def test_of_scores_outside_their_range_no_bound_is_known(scores):
    (mean,) = mean_scores(column(*scores))
    assert (mean.low, mean.high) == (-inf, inf)
    assert mean.mean == pytest.approx(np.mean(scores))


def test_clusters_are_one_piece_of_evidence_and_have_no_exact_interval():
    # Questions of one cluster are one piece of evidence:
    random = np.random.default_rng(1)
    once = random.random((30, 1))
    four_times = np.repeat(once, 4, axis=0)
    (alone,) = mean_scores(once)
    (clustered,) = mean_scores(four_times, np.repeat(np.arange(30), 4))
    (taken_as_independent,) = mean_scores(four_times)
    assert (clustered.low, clustered.high) == (pytest.approx(alone.low), pytest.approx(alone.high))
    assert clustered.standard_error == pytest.approx(alone.standard_error)
    assert (clustered.questions, clustered.clusters) == (120, 30)
    assert taken_as_independent.high - taken_as_independent.low < 0.6 * (clustered.high - clustered.low)

    # Hits in clusters have no exact interval:
    hits = np.repeat([1.0, 0.0, 1.0, 1.0], 5)[:, np.newaxis]
    (mean,) = mean_scores(hits, np.repeat(np.arange(4), 5))
    low, high = clopper_pearson(3, 4)
    assert (mean.low, mean.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


def slowly(scores, clusters):
    """Return the interval of one score of clusters: with each random weighing, one cluster more at the end."""
    sums, sizes = (np.bincount(clusters, weights=weights) for weights in (scores, np.ones(len(scores))))
    one_more = np.sqrt((sizes**2).mean())
    bounds = [[], []]
    for *weights, weight in np.random.default_rng(0).standard_exponential((9_999, len(sums) + 1)):
        for found, end in zip(bounds, (0, 1), strict=True):
            found.append((weights @ sums + weight * one_more * end) / (weights @ sizes + weight * one_more))
    return sorted(bounds[0])[249], sorted(bounds[1])[-250]


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_clusters_of_all_sizes_is_that_of_weighing_them_one_by_one(seed):
    random = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(25), random.geometric(0.2, 25))
    scores = random.random(len(clusters)) * (0.1 if seed == 2 else 1)
    (mean,) = mean_scores(scores[:, np.newaxis], clusters)
    assert (mean.low, mean.high) == pytest.approx(slowly(scores, clusters))


def test_the_same_seed_gives_the_same_numbers():
    scores = np.random.default_rng(2).random((40, 3))
    assert mean_scores(scores) == mean_scores(scores)
    assert mean_scores(scores, seed=1)[0] != mean_scores(scores)[0]


@pytest.mark.slow
@pytest.mark.parametrize("questions", [20, 50, 200])
def test_intervals_cover(questions):
    """Recalls of which three in a hundred are 0, and most 1: normal intervals cover 83 % of 20 questions."""
    random = np.random.default_rng(questions)
    kind = random.random((questions, 600))
    scores = np.where(kind < 0.03, 0.0, np.where(kind < 0.9, 1.0, random.random(kind.shape)))
    found = mean_scores(scores, resamples=999)
    held = np.mean([mean is not None and mean.low <= 0.92 <= mean.high for mean in found])
    assert held >= 0.93
    assert held < 1
