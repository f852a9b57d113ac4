"""Nearest neighbours beside a search that computes everything in double precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rag_evaluation_framework.statistics import nearest as module
from rag_evaluation_framework.statistics.nearest import Rows, nearest
from support.examples import examples


def unit(rows):
    doubles = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=1, keepdims=True)
    return doubles / np.where(lengths == 0, 1, lengths)


def brute_force(vectors, queries, k):
    """Every cosine in double precision, sorted as a list is."""
    cosines = np.round(unit(queries) @ unit(vectors).T, 12)
    return [sorted(range(len(vectors)), key=lambda number: (-row[number], number))[:k] for row in cosines]


def found(vectors, queries, k, parts=1):
    pieces = [Rows.of(piece) for piece in np.array_split(vectors, parts)]
    return [numbers.tolist() for numbers in nearest(pieces, unit(queries), k)]


def single(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.fixture(params=[(8_000_000, 8_192), (900, 5)], ids=["as it is", "blocks"])
def _limits(request, monkeypatch):
    for name, value in zip(("_COSINES_AT_ONCE", "_ROWS_AT_ONCE"), request.param, strict=True):
        monkeypatch.setattr(module, name, value)


@pytest.mark.usefixtures("_limits")
class TestNearest:
    @pytest.mark.parametrize("k", [1, 4, 10, 300, 400])
    @pytest.mark.parametrize("parts", [1, 3])
    def test_random_vectors(self, k, parts):
        vectors, queries = single(300, 24), single(11, 24, seed=1)
        assert found(vectors, queries, k, parts) == brute_force(vectors, queries, k)

    def test_ties_keep_their_order_however_close(self):
        # Vectors that are closer than single precision can tell:
        vectors = single(1, 64).repeat(500, axis=0) + single(500, 64, seed=1) * np.float32(1e-6)
        queries = vectors[::50] + single(10, 64, seed=2) * np.float32(1e-3)
        assert found(vectors, queries, 10) == brute_force(vectors, queries, 10)

        # Equal vectors of any length keep their order:
        vectors = single(20, 16)[np.random.default_rng(1).integers(0, 20, 400)]
        vectors *= np.float32(2.0) ** np.random.default_rng(2).integers(-9, 9, 400)[:, np.newaxis].astype(np.float32)
        queries = single(9, 16, seed=3)
        for k in (1, 15, 60):
            assert found(vectors, queries, k) == brute_force(vectors, queries, k)

        # Where everything ties the first are taken:
        assert found(np.ones((200, 3), np.float32), np.ones((2, 3)), 4) == [[0, 1, 2, 3]] * 2
        assert found(single(200, 3), np.zeros((2, 3)), 4) == [[0, 1, 2, 3]] * 2

        # Zero vectors rank between similar and dissimilar:
        vectors = np.array([[-1, 0], [0, 0], [1, 0], [0, 0]], dtype=np.float32)
        assert found(vectors, [[1, 0]], 4) == [[2, 1, 3, 0]]

    def test_vectors_of_extreme_lengths_and_ever_better_ones_are_ranked(self):
        # Extreme lengths:
        scales = np.float32(10.0) ** np.linspace(-37, 37, 90, dtype=np.float32)[:, np.newaxis]
        vectors, queries = single(90, 12) * scales, single(5, 12, seed=1)
        assert found(vectors, queries, 9) == brute_force(vectors, queries, 9)

        # Ever better vectors:
        angles = np.linspace(1.5, 0, 700)
        vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
        assert found(vectors, [[1, 0], [0, 1]], 5) == brute_force(vectors, [[1, 0], [0, 1]], 5)


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 30), st.just(3)), elements=st.integers(-2, 2).map(float)),
    st.integers(1, 35),
    st.integers(1, 3),
)
@examples(60)
def test_small_whole_numbers_which_tie_often(vectors, k, parts):
    assert found(vectors, vectors[:4], k, parts) == brute_force(vectors, vectors[:4], k)


def test_nothing_is_found_for_nothing_and_vectors_are_copied():
    # Nothing is found for nothing:
    assert found(single(5, 3), np.zeros((0, 3)), 2) == []
    assert [list(numbers) for numbers in nearest([Rows.of(single(5, 3))], unit(single(2, 3)), 0)] == [[], []]
    assert [list(numbers) for numbers in nearest([Rows.of(single(0, 3))], unit(single(2, 3)), 4)] == [[], []]

    # The vectors given are copied:
    vectors = single(4, 3)
    rows = Rows.of(vectors)
    vectors[:] = 0
    assert rows.vectors.any()
    assert len(rows) == 4
    assert ((rows.lengths >= 0.5) & (rows.lengths < 1 + 1e-9)).all()


def test_rows_of_length_one_are_computed_in_double_precision():
    rows = module.unit(np.array([[3, 4], [0, 0], [1e-30, 0]], dtype=np.float32))
    assert rows.tolist() == [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]
    assert rows.dtype == np.float64
