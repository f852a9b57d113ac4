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
    def test_cosine_decides_and_not_length(self):
        store = filled([[100, 100], [0, 0.001], [-1, 0]])
        assert order(store.search(vector(0, 1), 3)) == [1, 0, 2]

    def test_ties_keep_the_order_in_which_chunks_were_added(self):
        store = filled([[1, 0], [0, 1], [2, 0], [0, 3], [5, 0]])
        assert order(store.search(vector(1, 0), 5)) == [0, 2, 4, 1, 3]
        assert order(store.search(vector(1, 0), 2)) == [0, 2]

    def test_equal_vectors_of_awkward_length_tie(self):
        rows = np.tile(np.random.default_rng(0).normal(size=(1, 127)), (50, 1)) * np.linspace(0.01, 90, 50)[:, None]
        assert order(filled(rows).search(vector(*rows[0]), 50)) == list(range(50))

    def test_a_zero_vector_ranks_between_similar_and_dissimilar(self):
        store = filled([[-1, 0], [0, 0], [1, 0]])
        assert order(store.search(vector(1, 0), 3)) == [2, 1, 0]

    def test_very_small_and_very_large_numbers_work(self):
        store = filled([[1e-38, 0], [0, 1e38], [1e38, 1e38]])
        assert order(store.search(vector(1e-38, 0), 3)) == [0, 2, 1]

    def test_asking_for_more_than_there_is_gives_all(self):
        assert len(filled(np.eye(3)).search(vector(1, 0, 0), 10)) == 3

    def test_an_empty_store_takes_any_question(self):
        assert InMemoryVectorStore().search(vector(1, 2), 5) == []
        assert InMemoryVectorStore().search_many(np.ones((2, 3), dtype=np.float32), 5) == [[], []]

    def test_k_of_zero_returns_nothing(self):
        assert filled(np.eye(3)).search(vector(1, 0, 0), 0) == []

    def test_a_question_of_another_dimension_is_refused(self):
        with pytest.raises(InputError, match=r"query of dimension 3, but the store has dimension 2; embed .* the same"):
            filled([[1, 0]]).search(vector(1, 0, 0), 1)

    def test_a_query_that_is_not_a_number_is_refused(self):
        with pytest.raises(InputError, match="NaN"):
            filled([[1, 0]]).search(vector(np.nan, 1), 1)

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


class TestAdd:
    def test_numbers_of_chunks_and_rows_must_agree(self):
        with pytest.raises(
            InputError, match=r"3 chunks with embeddings of shape \(2, 4\); expected .*\(3, dimension\)"
        ):
            InMemoryVectorStore().add(chunks(3), np.ones((2, 4), dtype=np.float32))

    def test_a_single_vector_is_not_a_matrix_of_vectors(self):
        with pytest.raises(InputError, match="expected one row per chunk"):
            InMemoryVectorStore().add(chunks(1), np.ones(4, dtype=np.float32))

    @pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
    def test_vectors_that_are_not_finite_are_refused(self, number):
        store = InMemoryVectorStore()
        with pytest.raises(InputError, match="NaN or infinity"):
            store.add(chunks(1), np.array([[1, number]], dtype=np.float32))
        assert len(store) == 0

    def test_another_dimension_is_refused(self):
        store = filled(np.eye(2))
        with pytest.raises(InputError, match=r"dimension 3, but the store has dimension 2; call clear\(\) before"):
            store.add(chunks(1), np.ones((1, 3), dtype=np.float32))
        assert len(store) == 2

    def test_after_clearing_another_dimension_is_fine(self):
        store = filled(np.eye(2))
        store.clear()
        store.add(chunks(1), np.ones((1, 3), dtype=np.float32))
        assert order(store.search(np.ones(3, dtype=np.float32), 5)) == [0]

    def test_doubles_are_taken_too(self):
        store = InMemoryVectorStore()
        store.add(chunks(2), np.array([[1.0, 0.0], [0.0, 1.0]]))
        assert order(store.search(np.array([0.0, 1.0]), 1)) == [1]

    def test_the_length_is_the_number_of_chunks(self):
        store = filled(np.eye(3))
        assert len(store) == 3
        store.clear()
        assert len(store) == 0


def test_an_empty_store_that_was_given_is_used():
    # T29: a store without chunks is falsy; `store or Default()` would replace it.
    assert not InMemoryVectorStore()


def test_the_name_is_the_class():
    assert InMemoryVectorStore().name == "InMemoryVectorStore"


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
