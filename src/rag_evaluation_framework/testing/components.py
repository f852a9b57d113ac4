"""Conformance suites for chunkers, embedders, rerankers, retrievers and vector stores, and what these share."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray

from ..adapt import as_hits
from ..base.coroutines import as_synchronous
from ..components.chunkers.function import position_aware
from ..contracts.component import Component
from ..contracts.roles import Chunker, Embedder, PositionAwareChunker, Reranker, Retriever, VectorStore
from ..data import AnyChunk, Chunk, Corpus, Document, DocumentId, Hit, PositionAwareChunk
from ..data.hits import Ranking
from ..data.ids import generate_chunk_id, generate_pa_chunk_id
from ..errors import InputError, NotIndexed

# A small corpus with questions on it, awkward texts, and the promise of a name.

_SAMPLES: Mapping[str, Any] = json.loads(Path(__file__).with_name("samples.json").read_text(encoding="utf-8"))
_REPORTS = "".join(map(_SAMPLES["report"].format, range(40)))

DOCUMENTS: dict[str, str] = {**_SAMPLES["documents"], "server/long.md": _REPORTS}
"""Texts by name; two of them are equal."""
FOOTER = DOCUMENTS["footer/a.md"]
"""The text that is there twice."""
OTHER_DOCUMENTS: dict[str, str] = _SAMPLES["other_documents"]
"""Another corpus, in which the words of the questions are as well."""
QUESTIONS: tuple[str, ...] = (*_SAMPLES["questions"],)
"""Questions in words of the corpus."""
STRANGE_QUESTIONS: tuple[str, ...] = (*_SAMPLES["strange_questions"], "password " * 2_000)
"""Unknown words, emoji, punctuation, white space, and a very long one."""
AWKWARD_TEXTS: dict[str, str] = {name: text * times for name, (text, times) in _SAMPLES["awkward_texts"].items()}
"""Texts that have confused chunkers, by what is awkward in them."""


def assert_named(first: Component, second: Component) -> None:
    """Check that two equal components have one name, which fits into a table: one line of text."""
    name = first.name
    assert name.strip(), f"name {name!r}: expected a non-empty string"
    assert name.isprintable(), f"name {name!r}: expected one printable line"
    assert name == second.name, f"called {name!r} and {second.name!r}"


# Chunkers.


class ChunkerConformance(ABC):
    """Conformance suite for chunkers: subclass it, return yours from `make`, and let pytest collect the subclass.

    A chunker that returns plain texts is tested as evaluations use it, inside a `ChunkerPositionAdapter`; it may tidy
    white space.

    Attributes:
        covers_everything: Whether every character except white space belongs to a chunk. Set it to False for a chunker
            that drops text on purpose.
        limit: The maximum length of a chunk, as `length` counts, or None if there is no limit.
    """

    covers_everything: ClassVar[bool] = True
    limit: ClassVar[int | None] = None

    @abstractmethod
    def make(self) -> Chunker | PositionAwareChunker:
        """Return the chunker under test."""

    def length(self, text: str) -> int:
        """Return how long a chunk is, in the unit of `limit`; by default in characters."""
        return len(text)

    def test_content_is_the_text_at_its_position(self) -> None:
        """`document.content[start:end] == content` for every chunk; white space apart if texts are all it returns."""
        exact = isinstance(as_synchronous(self.make()), PositionAwareChunker)
        for case, document, chunks in self._cases():
            for chunk in chunks:
                there = document.content[chunk.start : chunk.end]
                same = chunk.content == there if exact else chunk.content.split() == there.split()
                assert same, (
                    f"{case}: the chunk at [{chunk.start}:{chunk.end}] holds {chunk.content!r}, the document {there!r}"
                )

    def test_chunks_lie_inside_the_document(self) -> None:
        """Each chunk starts and ends inside the text, and is not empty."""
        for case, document, chunks in self._cases():
            for chunk in chunks:
                assert 0 <= chunk.start < chunk.end <= len(document.content), (
                    f"{case}: [{chunk.start}:{chunk.end}] of {len(document.content)} characters; "
                    "expected 0 <= start < end <= length"
                )

    def test_chunks_come_in_reading_order(self) -> None:
        """The starts of the chunks never fall."""
        for case, _, chunks in self._cases():
            starts = [chunk.start for chunk in chunks]
            assert starts == sorted(starts), f"{case}: chunks start at {starts}"

    def test_every_visible_character_is_covered(self) -> None:
        """No character except white space is lost, unless `covers_everything` is False."""
        for case, document, chunks in self._cases():
            covered = {position for chunk in chunks for position in range(chunk.start, chunk.end)}
            visible = {position for position, character in enumerate(document.content) if not character.isspace()}
            lost = sorted(visible - covered)
            assert not (lost and self.covers_everything), (
                f"{case}: {len(lost)} characters belong to no chunk, the first at {lost[0]}: "
                f"{document.content[lost[0] : lost[0] + 20]!r}"
            )

    def test_no_chunk_is_larger_than_the_limit(self) -> None:
        """No chunk is longer than `limit`, except for a single character."""
        if self.limit is None:
            return
        for case, _, chunks in self._cases():
            for chunk in chunks:
                length = self.length(chunk.content)
                assert length <= self.limit or len(chunk.content) == 1, (
                    f"{case}: a chunk is {length} long, expected at most {self.limit}: {chunk.content!r}"
                )

    def test_chunks_are_the_same_every_time(self) -> None:
        """A chunker that was used on other documents, and an equal chunker, produce the same chunks."""
        chunker = position_aware(self.make())
        for _ in range(2):
            for case, document, chunks in self._cases():
                again = list(chunker.chunk_with_positions(document))
                assert again == chunks, f"{case}: cut into {chunks}, then into {again}"

    def test_ids_come_from_the_content(self) -> None:
        """Each id is `generate_pa_chunk_id(content)`, so that equal texts have equal ids in every run."""
        for case, _, chunks in self._cases():
            for chunk in chunks:
                expected = generate_pa_chunk_id(chunk.content)
                assert chunk.id == expected, f"{case}: {chunk.content!r} has the id {chunk.id!r}, expected {expected!r}"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time."""
        assert_named(self.make(), self.make())

    def _chunks(self, document: Document) -> list[PositionAwareChunk]:
        return list(position_aware(self.make()).chunk_with_positions(document))

    def _cases(self) -> list[tuple[str, Document, list[PositionAwareChunk]]]:
        """Return awkward texts as documents, each with its chunks, from a new chunker."""
        documents = [(case, Document(DocumentId("notes/a.md"), text)) for case, text in AWKWARD_TEXTS.items()]
        return [(case, document, self._chunks(document)) for case, document in documents]


# Embedders.

_DOCUMENTS, _OTHER_DOCUMENTS = (*DOCUMENTS.values(),), (*OTHER_DOCUMENTS.values(),)
_TEXTS = (*QUESTIONS, "検索 🚀 zzzqqq")
_UNKNOWN, _EMOJI, *_ = STRANGE_QUESTIONS
_LONG = "refund " * 5_000


class EmbedderConformance(ABC):
    """Conformance suite for embedders: subclass it, return yours from `make`, and let pytest collect the subclass.

    Attributes:
        tolerance: How far a number of a vector may be off when a text is embedded in another batch, relative to the
            length of the vector.
    """

    tolerance: ClassVar[float] = 1e-5

    @abstractmethod
    def make(self) -> Embedder:
        """Return the embedder under test; one that learns from the corpus need not be fitted."""

    def test_vectors_are_rows_of_finite_float32(self) -> None:
        """`embed` returns a float32 array of shape (len(texts), dimension), without NaN and infinity."""
        embedder, texts = self._fitted(), [*_TEXTS, _EMOJI, _UNKNOWN, _LONG]
        vectors = embedder.embed(texts)
        assert vectors.dtype == np.float32, f"dtype {vectors.dtype}, expected float32"
        expected = (len(texts), embedder.dimension)
        assert vectors.shape == expected, f"shape {vectors.shape}, expected {expected}"
        assert np.isfinite(vectors).all(), f"NaN or infinity in the rows {np.flatnonzero(~np.isfinite(vectors).all(1))}"

    def test_row_i_is_the_vector_of_text_i(self) -> None:
        """A text has the same vector whatever the other texts of the batch, and in any order."""
        embedder = self._fitted()
        vectors = embedder.embed(_TEXTS)
        for number, text in enumerate(_TEXTS):
            self._assert_close(embedder.embed([text])[0], vectors[number], f"{text!r} alone and in a batch")
        self._assert_close(embedder.embed(_TEXTS[::-1])[::-1], vectors, "the texts in reverse order")

    def test_different_texts_have_different_vectors(self) -> None:
        """Texts about different things have different vectors."""
        first, second = self._fitted().embed(_TEXTS[:2])
        assert not np.allclose(first, second), f"{_TEXTS[0]!r} and {_TEXTS[1]!r} have the same vector"

    def test_a_question_is_one_vector(self) -> None:
        """`embed_query` returns a finite float32 array of shape (dimension,)."""
        embedder = self._fitted()
        for text in (_TEXTS[0], _EMOJI, _UNKNOWN):
            vector = embedder.embed_query(text)
            assert vector.shape == (embedder.dimension,), f"shape {vector.shape}, expected ({embedder.dimension},)"
            assert vector.dtype == np.float32, f"dtype {vector.dtype}, expected float32"
            assert np.isfinite(vector).all(), f"the vector of {text!r} holds NaN or infinity"

    def test_vectors_are_the_same_every_time(self) -> None:
        """The same texts give the same vectors, also after fitting again."""
        embedder = self._fitted()
        vectors, query = embedder.embed(_TEXTS), embedder.embed_query(_TEXTS[0])
        self._assert_close(embedder.embed(_TEXTS), vectors, "embed called twice")
        self._assert_close(embedder.embed_query(_TEXTS[0]), query, "embed_query called twice")
        self._assert_close(self._fitted().embed(_TEXTS), vectors, "another embedder fitted on the same documents")

    def test_fit_does_not_change_the_embedder(self) -> None:
        """`fit` returns an embedder; the one it was called on embeds as before, or still has to be fitted."""
        embedder = as_synchronous(self.make())
        before = _if_fitted(lambda: embedder.embed(_TEXTS))
        fitted = embedder.fit(_DOCUMENTS)
        assert isinstance(fitted, Embedder), f"fit returned {fitted!r}, expected an embedder"
        after = _if_fitted(lambda: embedder.embed(_TEXTS))
        assert (before is None) == (after is None), "fit changed whether the original is fitted"
        if before is not None and after is not None:
            self._assert_close(after, before, "embed before and after fit")

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time."""
        assert_named(self.make(), self.make())

    def _fitted(self) -> Embedder:
        return as_synchronous(as_synchronous(self.make()).fit(_DOCUMENTS))

    def _assert_close(self, got: NDArray[np.float32], expected: NDArray[np.float32], what: str) -> None:
        assert got.shape == expected.shape, f"{what}: shape {got.shape}, then {expected.shape}"
        scale = max(1e-30, float(np.linalg.norm(expected, axis=-1).max(initial=0)))
        off = float(np.abs(got - expected).max(initial=0)) / scale
        assert off <= self.tolerance, f"{what}: vectors differ by {off:.2g} of their length, allowed {self.tolerance:g}"


def _if_fitted(embed: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32] | None:
    with suppress(NotIndexed):
        return embed()
    return None


# Rerankers.

_PASSAGES = (*DOCUMENTS.values(), "?!…", "report " * 1_500)
_QUERIES = (*QUESTIONS, FOOTER, "検索")


class RerankerConformance(ABC):
    """Conformance suite for rerankers: subclass it, return yours from `make`, and let pytest collect the subclass."""

    @abstractmethod
    def make(self) -> Reranker:
        """Return the reranker under test."""

    def test_every_chunk_is_returned_once(self) -> None:
        """No chunk is lost, invented, duplicated or changed: equal texts are told apart by place, or come back each."""
        reranker, chunks = as_synchronous(self.make()), _candidates()
        for query in _QUERIES:
            ranked = _reranked(reranker, query, chunks)
            expected, got = Counter(map(repr, chunks)), Counter(map(repr, ranked))
            lost, extra = expected - got, got - expected
            assert not lost, f"{query!r}: lost {list(lost)[:2]}"
            assert not extra, f"{query!r}: returned {list(extra)[:2]}, which it was not given, or not so often"

    def test_top_k_is_the_beginning_of_the_full_order(self) -> None:
        """The best `top_k` are the first of the full order; a larger `top_k` returns all, and 0 returns none."""
        reranker, chunks = as_synchronous(self.make()), _candidates()
        for query in _QUERIES:
            every = _reranked(reranker, query, chunks)
            for top_k in (0, 1, 3, len(chunks), 10_000):
                best = _reranked(reranker, query, chunks, top_k)
                assert best == every[:top_k], f"{query!r}: top_k={top_k} gave {best}, all gave {every}"

    def test_no_chunks_give_no_chunks(self) -> None:
        """No chunks give no chunks."""
        reranker = as_synchronous(self.make())
        for top_k in (None, 0, 5):
            ranked = _reranked(reranker, _QUERIES[0], (), top_k)
            assert ranked == [], f"top_k={top_k}: no chunks gave {ranked}"

    def test_the_order_is_the_same_every_time(self) -> None:
        """Asking again, also after other questions, or asking an equal reranker, gives the same order."""
        reranker, chunks = as_synchronous(self.make()), _candidates()
        first = [_reranked(reranker, query, chunks) for query in _QUERIES]
        again = [_reranked(reranker, query, chunks) for query in reversed(_QUERIES)][::-1]
        other = as_synchronous(self.make())
        anew = [_reranked(other, query, chunks) for query in _QUERIES]
        for number, query in enumerate(_QUERIES):
            assert again[number] == first[number], f"{query!r}: the order changed when asked again"
            assert anew[number] == first[number], f"{query!r}: an equal reranker gave another order"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time, prepared or not."""
        reranker = as_synchronous(self.make())
        assert_named(reranker, self.make())
        name = reranker.name
        reranker.prepare()
        assert reranker.name == name, f"called {name!r}, then {reranker.name!r}"


def _candidate(name: str, text: str) -> PositionAwareChunk:
    document = Document(DocumentId(name), f"# Title\n\n{text}\n")
    return PositionAwareChunk.of(document, 9, 9 + len(text), {"section": name, "tags": ["a"]})


def _unplaced(name: str, text: str) -> Chunk:
    return Chunk(generate_chunk_id(text), text, DocumentId(name), {"section": name})


def _candidates() -> list[AnyChunk]:
    placed = [_candidate(f"{number}.md", text) for number, text in enumerate(_PASSAGES)]
    changed = [_unplaced("changed.md", text) for text in (QUESTIONS[0], FOOTER, "?!…", FOOTER)]
    return [*placed, *changed]


def _reranked(reranker: Reranker, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
    return list(reranker.rerank(query, chunks, top_k))


# Retrievers.


def _corpus(texts: dict[str, str]) -> Corpus:
    return Corpus(Document(DocumentId(name), text) for name, text in texts.items())


class RetrieverConformance(ABC):
    """Conformance suite for retrievers: subclass it, return yours from `make`, and let pytest collect the subclass.

    The suite brings its own small corpus; the retriever is indexed with it.
    """

    @abstractmethod
    def make(self) -> Retriever:
        """Return the retriever under test, not indexed yet."""

    def test_retrieving_before_indexing_raises(self) -> None:
        """Without an index there is nothing to retrieve: NotIndexed."""
        with suppress(NotIndexed):
            found = _ranking(as_synchronous(self.make()), QUESTIONS[0], 3)
            raise AssertionError(f"expected NotIndexed, got {found}")

    def test_at_most_k_results_come_back(self) -> None:
        """Never more than `k`; fewer, without an error, if there are fewer."""
        with self._indexed() as retriever:
            for k in (1, 2, 5, 10_000):
                for query in QUESTIONS:
                    found = len(_ranking(retriever, query, k))
                    assert found <= k, f"{query!r}: {found} results for k = {k}"

    def test_something_is_found(self) -> None:
        """A question in the words of the corpus has results."""
        with self._indexed() as retriever:
            for query in QUESTIONS:
                assert _ranking(retriever, query, 3), f"{query!r}: no results"

    def test_best_results_come_first(self) -> None:
        """If results have scores, the scores never rise."""
        with self._indexed() as retriever:
            for query in QUESTIONS:
                scores = [hit.score for hit in _ranking(retriever, query, 50) if hit.score is not None]
                assert scores == sorted(scores, reverse=True), f"{query!r}: scores {scores}"

    def test_rankings_are_the_same_every_time(self) -> None:
        """Asking again, or asking another retriever with the same parameters, gives the same ranking."""
        with self._indexed() as retriever, self._indexed() as other:
            for query in QUESTIONS:
                ranking = _ranking(retriever, query, 20)
                _assert_same(_ranking(retriever, query, 20), ranking, f"{query!r}, asked twice")
                _assert_same(_ranking(other, query, 20), ranking, f"{query!r}, asked of an equal retriever")

    def test_a_short_ranking_is_the_beginning_of_a_long_one(self) -> None:
        """The ranking at `k` is the beginning of the ranking at a larger `k`; skipped if that is not claimed."""
        with self._indexed() as retriever:
            if retriever.prefix_stable is not True:
                raise SkipTest(f"prefix_stable is {retriever.prefix_stable}")
            for query in QUESTIONS:
                long = _ranking(retriever, query, 40)
                for k in (1, 3, 10):
                    _assert_same(_ranking(retriever, query, k), long[:k], f"{query!r}, k = {k} and 40")

    def test_results_are_text_of_the_corpus(self) -> None:
        """Documents exist, positions lie inside them, and each text is that at its position, white space apart."""
        corpus = _corpus(DOCUMENTS)
        with self._indexed() as retriever:
            for hit in (hit for query in QUESTIONS for hit in _ranking(retriever, query, 50)):
                assert hit.doc_id is None or hit.doc_id in corpus, f"{hit}: there is no such document"
                if hit.doc_id is None or hit.start is None or hit.end is None:
                    continue
                content = corpus[hit.doc_id].content
                assert 0 <= hit.start <= hit.end <= len(content), f"{hit}: the document has {len(content)} characters"
                there = content[hit.start : hit.end]
                assert hit.text is None or hit.text.split() == there.split(), f"{hit}: the document has {there!r} there"

    def test_equal_texts_in_two_documents_are_both_found(self) -> None:
        """Results are told apart by place, so that a text in two documents does not lose one of them."""
        with self._indexed() as retriever:
            found = {hit.doc_id for hit in _ranking(retriever, FOOTER, 10_000) if hit.doc_id is not None}
            assert not found or {"footer/a.md", "footer/b.md"} <= found, f"found only in {sorted(found)}"

    def test_indexing_again_replaces_the_old_corpus(self) -> None:
        """After `index` of another corpus, only that one is searched."""
        other = _corpus(OTHER_DOCUMENTS)
        with self._indexed() as retriever:
            retriever.index(other)
            for query in QUESTIONS:
                for hit in _ranking(retriever, query, 50):
                    assert hit.doc_id is None or hit.doc_id in other, f"{query!r}: {hit} is of the old corpus"
            listed = retriever.chunks()
            assert listed is None or all(chunk.doc_id in other for chunk in listed), "chunks() lists the old corpus"

    def test_many_questions_get_the_same_rankings_as_one_by_one(self) -> None:
        """`retrieve_many` returns what `retrieve` returns for each question, in their order."""
        queries = [*QUESTIONS, *STRANGE_QUESTIONS[:2]]
        with self._indexed() as retriever:
            rankings = retriever.retrieve_many(queries, 4)
            assert len(rankings) == len(queries), f"{len(rankings)} rankings for {len(queries)} questions"
            for query, ranking in zip(queries, rankings, strict=True):
                hits = as_hits(ranking, retriever.name, stored=True)
                _assert_same(hits, _ranking(retriever, query, 4), f"{query!r}, among many and alone")
            assert list(retriever.retrieve_many([], 4)) == [], "no questions have no rankings"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time, indexed or not."""
        with self._indexed() as retriever:
            assert_named(self.make(), retriever)

    @contextmanager
    def _indexed(self) -> Generator[Retriever]:
        with closing(as_synchronous(self.make())) as retriever:
            retriever.index(_corpus(DOCUMENTS))
            yield retriever


def _ranking(retriever: Retriever, query: str, k: int) -> Ranking:
    return as_hits(retriever.retrieve(query, k), retriever.name, stored=True)


def _assert_same(got: Ranking, expected: Ranking, what: str) -> None:
    shown = [[(hit.doc_id, hit.start, hit.end, hit.text) for hit in ranking] for ranking in (got, expected)]
    assert shown[0] == shown[1], f"{what}: {shown[0]} and {shown[1]}"


# Vector stores.

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

    def test_ties_keep_the_order_in_which_chunks_were_added(self) -> None:
        """Of equally near chunks, the one that was added first comes first."""
        chunks = _chunks(20)
        vectors = np.tile(_vectors(1), (20, 1))
        store = self._filled(chunks, vectors)
        for k in (1, 7, 20):
            _assert_ranking(store.search(vectors[0], k), chunks[:k])

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

    def test_equal_texts_are_all_kept(self) -> None:
        """A text in two documents, or twice in one, comes back for each, also where no position is known."""
        text = "support answers within one day."
        equal = [Chunk(generate_chunk_id(text), text, DocumentId("a.md"), metadata) for metadata in ({}, {}, {"n": 1})]
        chunks: list[AnyChunk] = [_chunk("a.md", 0), _chunk("b.md", 0), *equal, *_chunks(2)]
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
        second = as_synchronous(self.make())
        assert second.search(_vectors(1)[0], 5) == [], "a new store found chunks of another one"
        second.add([_chunk("second.md", 0)], _vectors(1))
        second.clear()
        _assert_ranking(first.search(_vectors(3)[0], 1), _chunks(1))
        second.add([_chunk("second.md", 9)], _vectors(1))
        first.clear()
        _assert_ranking(second.search(_vectors(1)[0], 5), [_chunk("second.md", 9)])

    def test_an_empty_store_finds_nothing(self) -> None:
        """Searching before anything was added is not an error."""
        store = as_synchronous(self.make())
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
        store = as_synchronous(self.make())
        for rows in (0, 2, 4):
            _assert_refused(partial(store.add, _chunks(3), _vectors(rows)), f"3 chunks with {rows} vectors")
        assert store.search(_vectors(1)[0], 5) == [], "a refused call of add() left chunks behind"

    def test_dimensions_must_match(self) -> None:
        """Vectors whose dimension differs from the store's raise InputError."""
        store = self._filled(_chunks(3), _vectors(3))
        wider = np.ones((1, _DIMENSION + 1), dtype=np.float32)
        _assert_refused(partial(store.add, [_chunk("b.md", 0)], wider), "a vector of another dimension")

    def _filled(self, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32]) -> VectorStore:
        store = as_synchronous(self.make())
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
    with suppress(InputError):
        action()
        raise AssertionError(f"{what}: expected InputError, nothing was raised")


def _assert_ranking(found: Sequence[AnyChunk], expected: Sequence[AnyChunk]) -> None:
    assert list(found) == list(expected), f"found {list(map(_place, found))}, expected {list(map(_place, expected))}"
