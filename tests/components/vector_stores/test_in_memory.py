import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rag_evaluation_framework import Document, DocumentId, PositionAwareChunk
from rag_evaluation_framework.components import InMemoryVectorStore
from rag_evaluation_framework.components.vector_stores import in_memory
from rag_evaluation_framework.errors import InputError
from support.each import each

DOCUMENT = Document(DocumentId("a.md"), "x" * 10_000)


def chunks(count):
    return [PositionAwareChunk.of(DOCUMENT, number, number + 1) for number in range(count)]


def filled(vectors):
    store = InMemoryVectorStore()
    store.add(chunks(len(vectors)), np.asarray(vectors, dtype=np.float32))
    return store


def order(found):
    return [chunk.start for chunk in found]


def vector(*numbers):
    return np.array(numbers, dtype=np.float32)


class TestSearch:
    def test_very_small_and_very_large_numbers_work(self):
        store = filled([[1e-38, 0], [0, 1e38], [1e38, 1e38]])
        assert order(store.search(vector(1e-38, 0), 3)) == [0, 2, 1]

    @each(
        ("query", "said"),
        [
            (vector(1, 0, 0), r"shape \(1, 3\); expected \(1, 2\), one row per question; embed .* the same"),
            (vector(np.nan, 1), "NaN"),
        ],
    )
    def test_a_question_that_does_not_fit_is_refused(self, query, said):
        with pytest.raises(InputError, match=said):
            filled([[1, 0]]).search(query, 1)

    @pytest.mark.parametrize("together", [1, 7, 65_536])
    def test_what_is_added_in_portions_is_searched_as_one(self, monkeypatch, together):
        monkeypatch.setattr(in_memory, "_ROWS_TOGETHER", together)
        rng = np.random.default_rng(3)
        vectors, queries = rng.normal(size=(40, 5)).astype(np.float32), rng.normal(size=(11, 5)).astype(np.float32)
        store = InMemoryVectorStore()
        for first in range(0, 40, 3):
            store.add(chunks(40)[first : first + 3], vectors[first : first + 3])
            if first % 5 == 0:
                assert len(store.search(queries[0], 50)) == len(store)
        assert store.search_many(queries, 7) == filled(vectors).search_many(queries, 7)

    @given(
        arrays.arrays(np.float32, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(-2, 2).map(float)),
        st.integers(1, 15),
    )
    def test_the_ranking_is_that_of_brute_force(self, rows, k):
        query = rows[0]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = rows / np.where(lengths == 0, 1, lengths)
        cosines = np.round(unit.astype(float) @ unit[0].astype(float), 5)
        expected = sorted(range(len(rows)), key=lambda number: (-cosines[number], number))[:k]
        assert order(filled(rows).search(query, k)) == expected


@each(
    ("count", "vectors", "said"),
    [
        (3, np.ones((2, 4)), r"vectors of shape \(2, 4\); expected \(3, 2\)"),
        (1, np.ones(4), "one row per chunk"),
        *((1, np.array([[1, number]]), "NaN or infinity") for number in (np.nan, np.inf, -np.inf)),
        (1, np.ones((1, 3)), r"shape \(1, 3\); expected \(1, 2\).* call clear\(\) before"),
    ],
)
def test_vectors_that_do_not_fit_are_refused_and_nothing_is_added(count, vectors, said):
    store = filled(np.eye(2))
    with pytest.raises(InputError, match=said):
        store.add(chunks(count), vectors.astype(np.float32))
    assert len(store) == 2


def test_where_nothing_is_added_to_an_empty_store_vectors_of_any_dimension_may_follow_doubles_too():
    store = InMemoryVectorStore()
    store.add([], np.zeros((0, 0), dtype=np.float32))
    assert store.search(vector(1, 0), 1) == []
    store.add(chunks(2), np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert order(store.search(np.array([0.0, 1.0]), 1)) == [1]


def test_threads_that_search_a_fresh_store_at_the_same_time_find_the_same():
    rng = np.random.default_rng(0)
    vectors, queries = rng.normal(size=(2_000, 8)).astype(np.float32), rng.normal(size=(16, 8)).astype(np.float32)
    expected = filled(vectors).search_many(queries, 5)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            store = InMemoryVectorStore()
            for first in range(0, 2_000, 100):
                store.add(chunks(2_000)[first : first + 100], vectors[first : first + 100])
            with ThreadPoolExecutor(8) as threads:
                found = list(threads.map(lambda query, store=store: store.search(query, 5), queries))
            assert found == expected
    finally:
        sys.setswitchinterval(before)


def test_what_is_added_at_once_is_searched_without_a_second_copy():
    vectors = np.random.default_rng(0).normal(size=(20_000, 64)).astype(np.float32)
    places = chunks(1) * len(vectors)
    tracemalloc.start()
    store = InMemoryVectorStore()
    store.add(places, vectors)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    store.search(vectors[0], 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - kept < 0.3 * vectors.nbytes
