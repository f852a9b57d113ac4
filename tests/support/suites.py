"""The conformance suites, and what else holds of every component that is built in."""

from functools import partial
from random import Random
from typing import ClassVar

import numpy as np

from rag_evaluation_framework import Document, DocumentId, PositionAwareChunk, PositionAwareChunker
from rag_evaluation_framework.base.coroutines import as_synchronous, resolved
from rag_evaluation_framework.components.chunkers.function import position_aware
from rag_evaluation_framework.data import Hit, generate_pa_chunk_id
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.testing import components, engines, metrics
from rag_evaluation_framework.testing.components import (
    _DIMENSION,
    _MANY,
    _QUERIES,
    _SAMPLES,
    AWKWARD_TEXTS,
    DOCUMENTS,
    QUESTIONS,
    STRANGE_QUESTIONS,
    _assert_ranking,
    _candidate,
    _candidates,
    _chunk,
    _chunks,
    _reranked,
    _vectors,
)
from support.linear import assert_linear

_LONG_PARAGRAPH = _SAMPLES["paragraph"] * 1_000
_PROSE = AWKWARD_TEXTS["prose"]
_STRANGE = ("", "\ud800", *STRANGE_QUESTIONS)
_TEXTS = (
    "",
    " \r\n\t",
    "nul \x00 byte",
    "Ünïcode 日本語 🚀 e\u0301",
    "half of a pair \ud83d",
    "{{{[[[%s\\",
    "long " * 100_000,
)


class VectorStoreConformance(components.VectorStoreConformance):
    def test_parallel_vectors_tie(self):
        """The length of a vector does not matter, not even in the last bit, so parallel vectors tie."""
        chunks, rows = _chunks(80), np.tile(_vectors(1, seed=5), (80, 1))
        lengths = np.geomspace(1e-3, 1e4, 80, dtype=np.float32)[:, np.newaxis]
        store = self._filled(chunks, rows * lengths)
        store.add([_chunk("other.md", 0)], -rows[:1])
        for k in (1, 3, 40, 80):
            _assert_ranking(store.search(rows[0], k), chunks[:k])

    def test_any_text_is_returned_unchanged(self):
        """Texts and document ids are returned unchanged, or InputError is raised and nothing is added."""
        for number, text in enumerate(_TEXTS):
            name = DocumentId(f"{number}/{text[:50]}")
            chunk = PositionAwareChunk(generate_pa_chunk_id("x"), text, name, 0, len(text))
            store = as_synchronous(self.make())
            try:
                store.add([_chunk("a.md", 0), chunk], _vectors(2))
            except InputError:
                assert store.search(_vectors(1)[0], 5) == [], f"refused {text[:50]!r}, but kept the chunk before it"
                continue
            (found,) = store.search(_vectors(2)[1], 1)
            assert found == chunk, f"stored {text[:50]!r} of {name!r}, found {found.content[:50]!r} of {found.doc_id!r}"

    def test_clear_can_be_repeated(self):
        """A store can be emptied before anything was added, twice in a row, and between one filling and the next."""
        store = as_synchronous(self.make())
        store.clear()
        for start in (0, 1_000, 2_000):
            chunks = [_chunk("a.md", start + 50 * number) for number in range(3)]
            store.add(chunks, np.tile(_vectors(1), (3, 1)))
            _assert_ranking(store.search(_vectors(1)[0], 9), chunks)
            store.clear()
            store.clear()

    def test_adding_nothing_and_a_zero_query_vector_are_not_errors(self):
        """`add` accepts an empty list; to the zero vector all chunks are equally near."""
        store = self._filled(_chunks(4), _vectors(4))
        store.add([], np.zeros((0, _DIMENSION), dtype=np.float32))
        assert len(store.search(_vectors(1)[0], 5)) == 4, "adding nothing changed what is found"
        _assert_ranking(store.search(np.zeros(_DIMENSION, dtype=np.float32), 2), _chunks(4)[:2])

    def test_many_chunks_can_be_added_at_once(self):
        """Thousands of chunks can be added with one call."""
        chunks, vectors = _chunks(_MANY), _vectors(_MANY)
        store = self._filled(chunks, vectors)
        _assert_ranking(store.search(vectors[-1], 1), chunks[-1:])

    def test_k_of_zero_returns_nothing(self):
        """A `k` of 0 gives an empty ranking."""
        store = self._filled(_chunks(3), _vectors(3))
        assert list(store.search(_vectors(1)[0], 0)) == [], "k=0 found something"

    def test_arguments_are_not_changed(self):
        """The caller's vectors and chunks are not changed, and changing them later does not change the store."""
        chunks, vectors = _chunks(6), _vectors(6)
        given, query = vectors.copy(), vectors[4].copy()
        store = self._filled(chunks, given)
        store.search(query, 3)
        assert (given == vectors).all(), "add() changed the array of the caller"
        assert (query == vectors[4]).all(), "search() changed the array of the caller"
        given[:] = 1
        chunks.clear()
        _assert_ranking(store.search(query, 1), _chunks(6)[4:5])

    def test_many_questions_get_the_same_rankings_as_one_by_one(self):
        """`search_many` returns what `search` returns for each row."""
        store, queries = self._filled(_chunks(30), _vectors(30)), _vectors(300, seed=2)
        queries[7] = 0
        for k in (5, 50):
            rankings = store.search_many(queries, k)
            assert len(rankings) == len(queries), f"{len(rankings)} rankings for {len(queries)} questions"
            for number in (0, 6, 7, 8, 255, 256, 299):
                _assert_ranking(rankings[number], store.search(queries[number], k))


class ChunkerConformance(components.ChunkerConformance):
    """Random texts are cut, too."""

    random_documents: ClassVar = 1_000
    _cut: ClassVar = {}  # the cases of the suite that is running, and of no other

    def _cases(self):
        if type(self) not in self._cut:
            random = Random(20_261_120)
            lengths = [random.choice((1, 5, 20, 60, 200)) for _ in range(self.random_documents)]
            texts = ["".join(random.choices(_SAMPLES["fragments"], k=length)) for length in lengths]
            documents = [Document(DocumentId("notes/a.md"), text) for text in texts]
            cut = [(f"random text {n}", document, self._chunks(document)) for n, document in enumerate(documents)]
            self._cut.clear()
            self._cut[type(self)] = [*super()._cases(), *cut]
        return self._cut[type(self)]

    def test_long_texts_are_chunked_in_linear_time(self):
        """One paragraph of 100,000 characters takes at most eight times the CPU time of 25,000."""
        assert_linear(
            lambda size: partial(self._chunks, Document(DocumentId("long.md"), _LONG_PARAGRAPH[:size])), 25_000
        )

    def test_the_document_is_not_changed(self):
        """Chunking does not change the document or its metadata."""
        document = Document(DocumentId("a.md"), _PROSE, {"tags": ["billing"]})
        position_aware(self.make()).chunk_with_positions(document)
        assert document == Document(DocumentId("a.md"), _PROSE, {"tags": ["billing"]}), f"changed to {document}"

    def test_an_empty_document_has_no_chunks(self):
        """An empty document gives an empty list."""
        chunks = self._chunks(Document(DocumentId("empty.md"), ""))
        assert chunks == [], f"an empty document gave {chunks}"

    def test_chunk_returns_the_texts(self):
        """`chunk` returns plain texts, of a position-aware chunker those of its chunks."""
        chunker = as_synchronous(self.make())
        texts = chunker.chunk(_PROSE)
        assert all(isinstance(text, str) for text in texts), f"chunk() returned {texts!r}"
        if isinstance(chunker, PositionAwareChunker):
            contents = [chunk.content for chunk in self._chunks(Document(DocumentId("a.md"), _PROSE))]
            assert texts == contents, f"chunk() returned {texts!r}, chunk_with_positions() {contents!r}"

    def test_chunks_keep_the_document_id(self):
        """Each chunk names its document."""
        for case, document, chunks in self._cases():
            for chunk in chunks:
                assert chunk.doc_id == document.id, f"{case}: doc_id {chunk.doc_id!r}, expected {document.id!r}"


class RetrieverConformance(components.RetrieverConformance):
    def test_a_closed_retriever_can_be_indexed_again(self):
        """`close` can be called twice, and after `index` the retriever works again."""
        retriever = as_synchronous(self.make())
        retriever.index(components._corpus(DOCUMENTS))
        before = components._ranking(retriever, QUESTIONS[0], 5)
        retriever.close()
        retriever.close()
        retriever.index(components._corpus(DOCUMENTS))
        after = components._ranking(retriever, QUESTIONS[0], 5)
        retriever.close()
        components._assert_same(after, before, "before closing and after indexing again")

    def test_unusual_questions_are_not_an_error(self):
        """Unknown words, emoji, punctuation and very long questions give a ranking, possibly an empty one."""
        with self._indexed() as retriever:
            for query in STRANGE_QUESTIONS:
                found = len(components._ranking(retriever, query, 3))
                assert found <= 3, f"{query[:30]!r}: {found} results for k = 3"

    def test_results_are_among_the_listed_chunks(self):
        """If `chunks` lists the index, every located result is in the list."""
        with self._indexed() as retriever:
            listed = retriever.chunks()
            known = None if listed is None else {Hit.of(chunk).identity for chunk in listed}
            for hit in (hit for query in QUESTIONS for hit in components._ranking(retriever, query, 50)):
                if known is not None and hit.placed:
                    assert hit.identity in known, f"{hit} is not in chunks()"


class EmbedderConformance(components.EmbedderConformance):
    def test_equal_texts_have_equal_vectors_and_an_empty_list_gives_no_rows(self):
        """A text that occurs twice in a batch has two equal rows; of no texts, the array is (0, dimension)."""
        embedder = self._fitted()
        vectors = embedder.embed([components._TEXTS[0], components._TEXTS[1], components._TEXTS[0]])
        self._assert_close(vectors[2], vectors[0], "the same text twice in one batch")
        none = embedder.embed([])
        assert none.shape == (0, embedder.dimension), f"shape {none.shape}, expected (0, {embedder.dimension})"
        assert none.dtype == np.float32, f"dtype {none.dtype}, expected float32"

    def test_fitting_again_does_not_change_the_first_result(self):
        """Two corpora can be used side by side."""
        embedder = as_synchronous(self.make())
        first = embedder.fit(components._DOCUMENTS)
        vectors = first.embed(components._TEXTS)
        embedder.fit(components._OTHER_DOCUMENTS)
        first.fit(components._OTHER_DOCUMENTS)
        self._assert_close(first.embed(components._TEXTS), vectors, "embed before and after fitting on another corpus")

    def test_the_texts_are_not_changed(self):
        """Lists that are passed in stay as they are."""
        documents, texts = list(components._DOCUMENTS), list(components._TEXTS)
        as_synchronous(as_synchronous(self.make()).fit(documents)).embed(texts)
        assert documents == list(components._DOCUMENTS), "fit changed the list of documents"
        assert texts == list(components._TEXTS), "embed changed the list of texts"


class RerankerConformance(components.RerankerConformance):
    def test_the_chunks_are_not_changed(self):
        """The list that is passed in stays as it is."""
        chunks = _candidates()
        _reranked(as_synchronous(self.make()), _QUERIES[0], chunks)
        assert chunks == _candidates(), f"the list was changed to {chunks}"

    def test_unusual_questions_are_not_an_error(self):
        """Empty and blank questions, unknown words, emoji, lone surrogates and very long questions give an order."""
        reranker, chunks = (
            as_synchronous(self.make()),
            [*_candidates(), _candidate("odd.md", "\ud800 odd"), _candidate("blank.md", " \n")],
        )
        for query in _STRANGE:
            found = len(_reranked(reranker, query, chunks))
            assert found == len(chunks), f"{query[:30]!r}: {found} of {len(chunks)} chunks came back"

    def test_preparing_twice_is_not_an_error(self):
        """`prepare` may be called before every index, or not at all."""
        reranker, chunks = as_synchronous(self.make()), _candidates()
        before = _reranked(reranker, _QUERIES[0], chunks)
        for _ in range(2):
            reranker.prepare()
        after = _reranked(reranker, _QUERIES[0], chunks)
        assert after == before, f"before prepare {before}, after it {after}"


class _MetricConformance(metrics.MetricConformance):
    def test_the_same_input_has_the_same_score(self):
        """Scores do not depend on what was scored before."""
        metric, cases = self.make(), list(self.random_cases())[:20]
        first = [self.score(metric, *case) for case in cases]
        assert [self.score(metric, *case) for case in cases] == first, "the second pass gave other scores"
        assert [self._score(*case) for case in cases] == first, "an equal metric gave other scores"

    def test_the_inputs_are_not_changed(self):
        """Lists that are passed in are not changed, and tuples are accepted."""
        for retrieved, truth in self.random_cases():
            given = list(retrieved), list(truth)
            score = self._score(*given)
            assert given == (retrieved, truth), f"changed to {given}"
            assert self._score(tuple(retrieved), tuple(truth)) == score, "tuples score differently from lists"


class RankMetricConformance(_MetricConformance, metrics.RankMetricConformance):
    def test_it_says_what_it_scores(self):
        """`evaluation_types` names the document or the chunk level."""
        types = set(self.make().evaluation_types)
        assert types & {"document-level", "chunk-level"}, f"evaluation_types {types}"


class SpanMetricConformance(_MetricConformance, metrics.SpanMetricConformance):
    def test_it_says_that_it_scores_spans(self):
        """`evaluation_types` names the token level."""
        assert "token-level" in self.make().evaluation_types, f"evaluation_types {set(self.make().evaluation_types)}"


class EngineConformance(engines.EngineConformance):
    def test_the_same_question_has_the_same_answer_and_what_was_deleted_can_come_again(self):
        """The order of the results does not change from one time to the next, and a scope can be filled again."""
        with self._filled() as engine:
            assert engines._found(engine, "") == engines._found(engine, "")
            resolved(engine.delete(engines._SCOPE))
            resolved(engine.ingest(engines._document("eval:a_b:3")))
            assert set(engines._found(engine, engines._SCOPE)) == {"eval:a_b:3"}
