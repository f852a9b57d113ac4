"""The best of several systems: the set tied with it against the paired test and worked cases, and its optimism."""

import itertools

import numpy as np
import pytest

from rag_evaluation_framework.statistics import optimism_of_best, paired_differences, tied_with_best
from support.each import each


def drawn(seed, questions=60, systems=6, worse=()):
    """Return scores that agree on most questions: 0 or 1, and something between on a few."""
    random = np.random.default_rng(seed)
    common = random.choice([0.0, 0.5, 1.0], (questions, 1))
    own = random.choice([0.0, 0.25, 1.0], (questions, systems))
    scores = np.where(random.random((questions, systems)) < 0.3, own, common)
    for system in worse:
        scores[random.random(questions) < 0.4, system] = 0.0
    return scores


@each("seed", range(6))
@each("clusters", [None, np.arange(60) // 2, np.arange(60) % 9])
def test_of_two_systems_the_p_value_is_that_of_the_paired_test(seed, clusters):
    scores = drawn(seed, systems=2, worse=[1] * (seed % 2))
    scores[seed::17, seed % 2] = np.nan
    (paired,) = paired_differences(scores[:, [1]] - scores[:, [0]], clusters, resamples=999)
    found = tied_with_best(scores, clusters, resamples=999)
    other = 1 - found.best
    assert found.p_values[found.best] == 1.0
    assert found.p_values[other] == paired.p_value
    assert found.is_tied == tuple(system == found.best or paired.p_value > 0.05 for system in range(2))
    assert found.means[1] - found.means[0] == pytest.approx(paired.mean)
    assert (found.questions, found.clusters, found.is_exact) == (paired.pairs, paired.clusters, paired.is_exact)
    assert found.resamples == paired.resamples


def slowly(scores, level=0.95):
    """The p-values by all patterns of signs, one subset of the systems after the other."""
    means = scores.mean(axis=0)
    best = int(means.argmax())
    changed = scores[(scores != scores[:, :1]).any(axis=1)]
    patterns = np.array([*itertools.product([-1, 1], repeat=len(changed))])

    def apart(signs, one, other):
        difference = changed[:, one] - changed[:, other]
        return abs(signs @ difference) / np.sqrt(difference @ difference) if difference.any() else 0.0

    p_values, left, largest = [1.0] * len(means), [*range(len(means))], 0.0
    whole = np.ones(len(changed))
    while len(left) > 1:
        last = max((system for system in left if system != best), key=lambda system: apart(whole, best, system))
        seen = apart(whole, best, last)
        pairs = [*itertools.combinations(left, 2)]
        reached = [max(apart(signs, *pair) for pair in pairs) >= seen - 1e-9 for signs in patterns]
        largest = max(largest, float(np.mean(reached)))
        p_values[last] = largest
        left.remove(last)
    return p_values


@pytest.mark.parametrize("seed", range(4))
def test_with_few_changes_p_values_are_those_of_all_patterns_and_all_pairs_left(seed):
    random = np.random.default_rng(seed)
    scores = np.tile(random.random((30, 1)), (1, 4))
    scores[:9] = np.round(random.random((9, 4)), 1) + np.array([0.0, 0.1, 0.3, 0.6])
    found = tied_with_best(scores)
    assert found.is_exact
    assert found.p_values == pytest.approx(slowly(scores))


def test_what_is_worse_is_left_out_the_sooner_the_fewer_there_are():
    # What is worse is left out and what may be as good is not:
    scores = drawn(0, questions=300, worse=[1, 4])
    found = tied_with_best(scores)
    assert found.best in (0, 2, 3, 5)
    assert found.is_tied == (True, False, True, True, False, True)
    assert found.means == pytest.approx(scores.mean(axis=0))
    assert found.resamples == 9_999
    assert not found.is_exact

    # Of fewer systems less is needed to leave one out:
    scores = drawn(3, systems=12)
    scores[:, 0] += 0.15
    whole, fewer = tied_with_best(scores), tied_with_best(scores[:, :3])
    assert whole.best == fewer.best == 0
    assert all(fewer.p_values[system] < 0.05 < whole.p_values[system] for system in (1, 2))

    # What is at most .05 is left out:
    found = tied_with_best(drawn(6, questions=30, worse=[1, 3]))
    assert found.is_tied == tuple(p_value > 0.05 for p_value in found.p_values)
    two_changes = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    assert tied_with_best(two_changes).p_values == (1.0, 0.5)


def test_systems_that_are_alike_are_tied_in_any_order():
    # Systems that are alike on all questions are tied and the first is the best:
    scores = np.tile(np.random.default_rng(0).random((40, 1)), (1, 3))
    found = tied_with_best(scores)
    assert (found.best, found.is_tied, found.p_values) == (0, (True,) * 3, (1.0,) * 3)
    assert tied_with_best(scores[:, :1]).is_tied == (True,)

    # The order of systems changes nothing:
    scores = drawn(5, worse=[2])
    turned = np.array([3, 0, 5, 1, 4, 2])
    found, again = tied_with_best(scores), tied_with_best(scores[:, turned])
    assert again.p_values == pytest.approx([found.p_values[system] for system in turned])
    assert optimism_of_best(scores[:, turned]) == pytest.approx(optimism_of_best(scores))


def test_questions_that_are_lacking_or_of_one_cluster_count_as_such():
    # Questions that a system lacks are left out:
    scores = drawn(1)
    lacking = scores.copy()
    lacking[::5, 2] = np.nan
    kept = np.arange(60) % 5 > 0
    found = tied_with_best(lacking)
    assert found.questions == found.clusters == 48
    assert found.means == pytest.approx(scores[kept].mean(axis=0))
    assert optimism_of_best(lacking) == pytest.approx(optimism_of_best(scores[kept]))
    nothing = np.where(np.arange(6) == 2, np.nan, scores)
    assert tied_with_best(nothing) is None
    assert optimism_of_best(nothing) is None

    # The questions of a cluster are one piece of evidence:
    scores = drawn(2, questions=50, worse=[5])
    repeated, clusters = np.repeat(scores, 4, axis=0), np.repeat(np.arange(50), 4)
    found, alone = tied_with_best(repeated, clusters), tied_with_best(scores)
    assert (found.questions, found.clusters) == (200, 50)
    assert found.p_values == pytest.approx(alone.p_values)
    assert optimism_of_best(repeated, clusters) == pytest.approx(optimism_of_best(scores))
    assert optimism_of_best(repeated) < optimism_of_best(scores)


def test_the_seed_alone_decides():
    scores = drawn(4)
    assert tied_with_best(scores) == tied_with_best(scores)
    assert tied_with_best(scores, seed=1).p_values != tied_with_best(scores).p_values
    assert optimism_of_best(scores) == optimism_of_best(scores)
    assert optimism_of_best(scores, seed=1) != optimism_of_best(scores)


@pytest.mark.parametrize("worse", [(), range(8, 24)])
def test_hardly_any_family_of_24_loses_a_system_that_is_best(worse):
    """As `benchmarks/error_rates.py` tells; Holm's method against the best loses one in a fifth of equal families."""
    best, lost, left_out = np.isin(np.arange(24), worse, invert=True), 0, []
    for seed in range(200):
        found = tied_with_best(drawn(seed, 200, 24, worse), resamples=199, seed=seed)
        is_tied = np.array(found.is_tied)
        lost += not is_tied[best].all()
        left_out += (~is_tied[~best]).tolist()
    assert lost <= 20  # of 200; at 5 % more than 20 come about once in a thousand times
    assert not left_out or np.mean(left_out) > 0.9


def test_a_winner_among_equals_is_too_high_and_the_correction_takes_most_of_that_away():
    highest, corrected = [], []
    for seed in range(200):
        scores = np.random.default_rng(seed).random((50, 10))
        highest.append(scores.mean(axis=0).max() - 0.5)
        corrected.append(highest[-1] - optimism_of_best(scores, resamples=99))
    assert np.mean(highest) > 0.055  # 1.54 standard errors of .041
    assert 0.2 < np.mean(corrected) / np.mean(highest) < 0.4


def test_what_is_far_ahead_is_not_too_high_and_equals_share_it():
    # A winner that is far ahead is not too high:
    scores = np.random.default_rng(0).random((50, 4)) * 0.1
    scores[:, 2] += 0.8
    assert optimism_of_best(scores) == 0.0
    assert optimism_of_best(scores[:, :1]) == 0.0

    # Systems that are best together share what is too high:
    # Each of two is best on one half: drawn more often, a half has its best at more than it has in the data.
    scores = np.array([[1.0, 0.0], [0.0, 1.0]] * 8)
    mean_deviation = np.mean([abs(np.random.default_rng(seed).binomial(16, 0.5) / 16 - 0.5) for seed in range(4_000)])
    assert optimism_of_best(scores) == pytest.approx(mean_deviation, abs=0.01)


@pytest.mark.parametrize(("other", "optimism"), [([0.5, 0.25], (0.25 + 0.125) / 4), ([0.5, 0.0], 0.125 / 4)])
def test_the_optimism_of_two_systems_on_two_questions_is_that_of_their_four_draws(other, optimism):
    """The best has 1 and 0. Only where the second question is drawn twice the other one is as good, or better."""
    scores = np.array([[1.0, 0.0], other]).T
    assert optimism_of_best(scores, resamples=20_000) == pytest.approx(optimism, rel=0.05)
