"""Conformance suite for vector stores."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.coroutines import adapted
from ..contracts.roles import VectorStore
from ..data import AnyChunk, Chunk, DocumentId, Hit, PositionAwareChunk, generate_chunk_id, generate_pa_chunk_id
from ..errors import InputError
from .conformance import FOOTER

_DIMENSION = 8
_MANY = 6_000  # more than some databases take at a time
_METADATA: tuple[dict[str, Any], ...] = (
    {},
    {"section": "Einführung 🚀", "page": 3, "share": 0.25, "draft": False, "author": None},
    {"tags": ["billing", "refund"], "empty": [], "nested": {"levels": [1, {"deep": "yes"}], "none": None}},
    {"doc_id": "mine", "start": -1, "end": "late", "content": "mine", "id": 7},
    {"": "", "größe": 2**70, "small": -1e-300, "a.b[0]": [[]], "quotes": "\"'\\\n\x00", "long": "x" * 100_000},
)


class VectorStoreConformance(ABC):
    """Conformance suite for vector stores: subclass it, return an empty store from `make`, let pytest collect it."""

    @abstractmethod
    def make(self) -> VectorStore:
        """Return a new, empty store."""

    def test_nearest_chunks_come_first(self) -> None:
        """Chunks are returned by falling cosine similarity, whatever the lengths of the vectors."""
        chunks, vectors = _chunks(60), _vectors(60, seed=1)
        store = self._filled(chunks, vectors)
        for query in _vectors(10, seed=2):
            cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
            nearest: list[int] = np.argsort(-cosines)[:10].tolist()
            expected = [chunks[number] for number in nearest]
            _assert_ranking(store.search(query, 10), expected)

    def test_a_k_above_the_number_of_chunks_returns_all(self) -> None:
        """A `k` above the number of chunks returns every chunk once."""
        chunks, vectors = _chunks(5), _vectors(5)
        found = self._filled(chunks, vectors).search(vectors[0], 50)
        assert sorted(map(_place, found)) == sorted(map(_place, chunks)), f"found {list(map(_place, found))}"

    def test_ties_keep_the_order_in_which_chunks_were_added(self) -> None:
        """Of equally near chunks, the one that was added first comes first."""
        chunks = _chunks(20)
        vectors = np.tile(_vectors(1), (20, 1))
        store = self._filled(chunks, vectors)
        for k in (1, 7, 20):
            _assert_ranking(store.search(vectors[0], k), chunks[:k])

    def test_equal_texts_at_two_positions_are_both_kept(self) -> None:
        """A text that occurs in two documents, and twice in one, is kept at each position."""
        chunks = [_chunk("a.md", 0), _chunk("b.md", 0), _chunk("b.md", 90)]
        store = self._filled(chunks, np.tile(_vectors(1), (3, 1)))
        _assert_ranking(store.search(_vectors(1)[0], 3), chunks)

    def test_a_zero_vector_is_similar_to_nothing(self) -> None:
        """A chunk with a zero vector ranks after one that points the same way as the query, and is not an error."""
        chunks, vectors = _chunks(3), np.zeros((3, _DIMENSION), dtype=np.float32)
        vectors[2] = 1
        found = self._filled(chunks, vectors).search(vectors[2], 3)
        assert found[0] == chunks[2], f"the nearest is {_place(found[0])}, expected {_place(chunks[2])}"
        assert len(found) == 3, f"{len(found)} chunks of 3 were found"

    def test_chunks_are_returned_unchanged(self) -> None:
        """Text, position, id and metadata of all JSON types are preserved."""
        chunks = [_chunk("a.md", 100 * number, metadata) for number, metadata in enumerate(_METADATA)]
        vectors = np.eye(len(chunks), _DIMENSION, dtype=np.float32)
        store = self._filled(chunks, vectors)
        for chunk, vector in zip(chunks, vectors, strict=True):
            (found,) = store.search(vector, 1)
            assert found == chunk, f"stored {chunk!r}, found {found!r}"

    def test_chunks_without_a_position_are_all_kept(self) -> None:
        """Chunks whose position is not known come back as they were added, equal texts of a document each."""
        text = "support answers within one day."
        equal = [Chunk(generate_chunk_id(text), text, DocumentId("a.md"), metadata) for metadata in ({}, {}, {"n": 1})]
        chunks: list[AnyChunk] = [
            _chunk("a.md", 0),
            *equal,
            Chunk(generate_chunk_id("x"), "x", DocumentId("b.md")),
            *_chunks(2),
        ]
        store = self._filled(chunks, np.tile(_vectors(1), (len(chunks), 1)))
        for k in (2, 4, 20):
            _assert_ranking(store.search(_vectors(1)[0], k), chunks[:k])
        _assert_ranking(store.search(np.zeros(_DIMENSION, dtype=np.float32), 20), chunks)

    def test_clear_leaves_nothing(self) -> None:
        """After `clear` nothing is found, and vectors of another dimension can be added."""
        store = self._filled(_chunks(5), _vectors(5))
        store.clear()
        found = store.search(_vectors(1)[0], 5)
        assert found == [], f"after clear() there still were {list(map(_place, found))}"
        chunks, vectors = [_chunk("new.md", 0)], np.ones((1, _DIMENSION + 3), dtype=np.float32)
        store.add(chunks, vectors)
        _assert_ranking(store.search(vectors[0], 5), chunks)

    def test_two_stores_do_not_see_each_other(self) -> None:
        """What one instance holds, another does not find."""
        first = self._filled(_chunks(3), _vectors(3))
        second = adapted(self.make())
        assert second.search(_vectors(1)[0], 5) == [], "a new store found chunks of another one"
        second.add([_chunk("second.md", 0)], _vectors(1))
        second.clear()
        _assert_ranking(first.search(_vectors(3)[0], 1), _chunks(1))
        second.add([_chunk("second.md", 9)], _vectors(1))
        first.clear()
        _assert_ranking(second.search(_vectors(1)[0], 5), [_chunk("second.md", 9)])

    def test_an_empty_store_finds_nothing(self) -> None:
        """Searching before anything was added is not an error."""
        store = adapted(self.make())
        assert store.search(_vectors(1)[0], 5) == [], "an empty store found something"
        assert list(map(list, store.search_many(_vectors(2), 5))) == [[], []], "expected one empty ranking per question"

    def test_chunks_can_be_added_in_several_calls(self) -> None:
        """Two calls of `add` have the same effect as one call with all chunks."""
        chunks, vectors = _chunks(12), _vectors(12)
        store = self._filled(chunks[:5], vectors[:5])
        store.add(chunks[5:], vectors[5:])
        once = self._filled(chunks, vectors)
        for query in _vectors(5, seed=2):
            _assert_ranking(store.search(query, 12), once.search(query, 12))

    def test_none_of_many_chunks_is_lost(self) -> None:
        """A search for as many results as there are chunks finds each of them once."""
        found = self._filled(_chunks(_MANY), _vectors(_MANY)).search(_vectors(1, seed=3)[0], _MANY + 10)
        assert len(found) == _MANY, f"{len(found)} of {_MANY} chunks were found"
        assert set(map(_place, found)) == set(map(_place, _chunks(_MANY))), "some were found twice, others not at all"

    def test_numbers_of_chunks_and_vectors_must_match(self) -> None:
        """A mismatch raises InputError, and nothing is added."""
        store = adapted(self.make())
        for rows in (0, 2, 4):
            _assert_refused(partial(store.add, _chunks(3), _vectors(rows)), f"3 chunks with {rows} vectors")
        assert store.search(_vectors(1)[0], 5) == [], "a refused call of add() left chunks behind"

    def test_dimensions_must_match(self) -> None:
        """Vectors whose dimension differs from the store's raise InputError."""
        store = self._filled(_chunks(3), _vectors(3))
        wider = np.ones((1, _DIMENSION + 1), dtype=np.float32)
        _assert_refused(partial(store.add, [_chunk("b.md", 0)], wider), "a vector of another dimension")

    def _filled(self, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32]) -> VectorStore:
        store = adapted(self.make())
        store.add(chunks, vectors)
        return store


def _chunk(doc_id: str, start: int, metadata: dict[str, Any] | None = None) -> PositionAwareChunk:
    place = (DocumentId(doc_id), start, start + len(FOOTER))
    return PositionAwareChunk(generate_pa_chunk_id(FOOTER), FOOTER, *place, metadata or {})


def _chunks(count: int) -> list[PositionAwareChunk]:
    return [_chunk("a.md", 100 * number) for number in range(count)]


def _vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(size=(count, _DIMENSION))
    return (vectors * np.linspace(0.1, 5, count)[:, np.newaxis]).astype(np.float32)


def _place(chunk: AnyChunk) -> str:
    hit = Hit.of(chunk)
    return f"{hit.doc_id}[{hit.start}:{hit.end}]"


def _assert_refused(action: Callable[[], None], what: str) -> None:
    try:
        action()
    except InputError:
        return
    raise AssertionError(f"{what}: expected InputError, nothing was raised")


def _assert_ranking(found: Sequence[AnyChunk], expected: Sequence[AnyChunk]) -> None:
    assert list(found) == list(expected), f"found {list(map(_place, found))}, expected {list(map(_place, expected))}"
