"""Random signs: how many patterns, which, and sums by cluster."""

import numpy as np
import pytest

from rag_evaluation_framework.statistics.weights import Weighed, by_cluster, every_pattern, flipped_sums, pattern_count


@pytest.mark.parametrize(
    ("clusters", "resamples", "count"),
    [(50, 9_999, 9_999), (10_000, 9_999, 9_999), (20_000, 9_999, 5_000), (10**6, 9_999, 999), (10**6, 99, 99)],
)
def test_of_many_clusters_fewer_patterns_are_drawn_but_not_too_few(clusters, resamples, count):
    assert pattern_count(clusters, resamples) == count


def test_every_pattern_is_there_once():
    patterns = every_pattern(3)
    assert {tuple(row) for row in patterns} == {(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)}
    assert patterns.shape == (8, 3)
    assert every_pattern(0).shape == (1, 0)


def test_the_signs_of_a_row_are_the_same_in_all_columns_and_drawn_evenly():
    columns = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    sums = flipped_sums(columns, 4_000, seed=0)
    assert sums[:, 1] == pytest.approx(10 * sums[:, 0])
    assert sorted({*sums[:, 0]}) == [-7, -5, -3, -1, 1, 3, 5, 7]
    counts = np.unique(sums[:, 0], return_counts=True)[1]
    assert counts.min() > 400
    assert counts.max() < 600


def test_values_are_summed_by_cluster_and_those_that_are_missing_are_not_counted():
    values = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]])
    sums, sizes = by_cluster(values, np.array([2, 0, 2]))
    assert sums.tolist() == [[2.0, 3.0], [0.0, 0.0], [5.0, 5.0]]
    assert sizes.tolist() == [[1.0, 1.0], [0.0, 0.0], [2.0, 1.0]]
    alone, known = by_cluster(values, None)
    assert alone.tolist() == [[1.0, 0.0], [2.0, 3.0], [4.0, 5.0]]
    assert known.tolist() == [[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(("count", "rank"), [(18, 0), (19, 1), (28, 1), (29, 2)])
def test_a_bound_is_the_weighed_mean_of_the_rank_that_its_tail_says(count, rank):
    values = np.random.default_rng(1).random((7, 1))
    weighed = Weighed.drawn(values, np.ones((7, 1)), count, seed=0)
    low, high = (
        (weighed.sums[0] + weighed.one_more[0] * end) / (weighed.sizes[0] + weighed.one_more[0]) for end in (0.0, 1.0)
    )
    assert weighed.bounds(0, (0.0, 1.0), 0.1) == (np.sort(low)[rank], np.sort(high)[-1 - rank])
