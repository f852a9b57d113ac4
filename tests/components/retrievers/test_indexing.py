from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import (
    BM25Retriever,
    Chunker,
    Corpus,
    Document,
    DocumentId,
    Embedder,
    RecursiveCharacterChunker,
    VectorRAGRetriever,
    evaluate,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import HybridRetriever, InMemoryVectorStore, LsaEmbedder, RerankedRetriever
from rag_evaluation_framework.components.retrievers import chunk_corpus, embed_chunks, fill_store
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import InputError, NotIndexed
from rag_evaluation_framework.testing import ReversingReranker
from support.chunkers import Lines

HANDBOOK = load_handbook()
SMALL = Corpus([Document(DocumentId("a"), "one\ntwo\none"), Document(DocumentId("b"), "three")])
QUESTIONS = [entry.query.text for entry in HANDBOOK][:10]


class Letters(Embedder):
    """The length and the number of the letter o; of texts over 3 characters it reads the beginning."""

    dimension = 2

    def __init__(self):
        self.batches = []

    def embed(self, texts):
        self.batches.append(list(texts))
        return np.array([[len(text), text.count("o")] for text in texts], dtype=np.float32).reshape(-1, 2)

    def truncated(self, texts):
        return np.array([len(text) > 3 for text in texts], dtype=bool)


class TestSharedSteps:
    def test_pipelines_that_share_chunks_and_vectors_rank_like_those_that_index_twice(self):
        chunker = RecursiveCharacterChunker(chunk_size=300)
        retriever = VectorRAGRetriever(chunker=chunker)
        retriever.index(HANDBOOK.corpus)
        embedder = LsaEmbedder().fit([document.content for document in HANDBOOK.corpus])
        chunks = chunk_corpus(HANDBOOK.corpus, chunker)
        vectors, truncated = embed_chunks(chunks, embedder)
        assert not truncated.any()
        for store in (InMemoryVectorStore(), InMemoryVectorStore()):
            fill_store(store, chunks, vectors)
            for question in QUESTIONS:
                found = [Hit.of(chunk) for chunk in store.search(embedder.embed_query(question), 5)]
                ranked = [replace(hit, score=None) for hit in retriever.retrieve(question, 5).hits]
                assert found == ranked != []


class TestChunkCorpus:
    def test_chunks_that_are_not_text_of_their_document_are_kept_and_noted_once_behind_notes_of_the_chunker(self):
        class Changing(Chunker):
            def chunk(self, text):
                rag.note(f"{len(text)} characters")
                return [text, text.upper(), "never"]

        with collect_notes() as notes:
            chunks = chunk_corpus(SMALL, Changing())
        assert [chunk.content for chunk in chunks[:3]] == ["one\ntwo\none", "ONE\nTWO\nONE", "never"]
        assert [hasattr(chunk, "start") for chunk in chunks] == [True, False, False] * 2
        *own, said = notes
        assert own == ["11 characters", "5 characters"]
        assert said.startswith("4 of 6 chunks are not text of their document, the first: PositionAdapter(Changing), ")
        assert "document 'a'" in said
        assert repr("ONE\nTWO\nONE") in said


class TestEmbedChunks:
    def test_there_is_one_row_and_one_flag_per_chunk_though_equal_texts_are_embedded_once(self):
        embedder = Letters()
        chunks = chunk_corpus(SMALL, Lines())
        vectors, truncated = embed_chunks(chunks, embedder, batch_size=2)
        assert embedder.batches == [["one", "two"], ["three"]]
        assert vectors.tolist() == [[3, 1], [3, 1], [3, 1], [5, 0]]
        assert vectors.dtype == np.float32
        assert truncated.tolist() == [False, False, False, True]
        vectors, truncated = embed_chunks([], embedder)
        assert (vectors.shape, truncated.shape) == ((0, 2), (0,))


def test_a_store_is_emptied_before_it_is_filled_unless_the_number_of_vectors_is_another():
    store = InMemoryVectorStore()
    chunks = chunk_corpus(SMALL, Lines())
    vectors, _ = embed_chunks(chunks, Letters())
    for _ in range(2):
        fill_store(store, chunks, vectors, batch_size=3)
    assert len(store.search(vectors[0], 100)) == len(chunks) == 4
    with pytest.raises(InputError, match="4 chunks with 3 vectors; expected one vector per chunk"):
        fill_store(store, chunks, vectors[:3])
    assert len(store.search(vectors[0], 100)) == 4


ALL = {
    "bm25": BM25Retriever,
    "vector-rag": VectorRAGRetriever,
    "hybrid": lambda: HybridRetriever([BM25Retriever()]),
    "reranked": lambda: RerankedRetriever(BM25Retriever(), ReversingReranker()),
}


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
class TestState:
    def test_a_retriever_equals_another_of_its_parameters_whether_indexed_or_not(self, make):
        retriever = make()
        retriever.index(HANDBOOK.corpus)
        assert retriever == make()
        assert hash(retriever) == hash(make())
        assert repr(retriever) == repr(make())
        assert retriever.name == make().name

    def test_before_indexing_and_after_closing_there_is_nothing_to_retrieve(self, make):
        retriever = make()
        told = rf"{type(retriever).__name__}: call index\(corpus\) before retrieve\(\)"
        for _ in range(2):
            for ask in (partial(retriever.retrieve, "?", 1), partial(retriever.retrieve_many, ["?"], 1)):
                with pytest.raises(NotIndexed, match=told):
                    ask()
            with pytest.raises(NotIndexed):
                retriever.chunks()
            retriever.index(HANDBOOK.corpus)
            retriever.close()

    @pytest.mark.parametrize("texts", [[], ["", " \n"]])
    def test_a_corpus_without_text_is_refused_and_the_old_index_forgotten(self, make, texts):
        retriever = make()
        retriever.index(HANDBOOK.corpus)
        with pytest.raises(InputError, match="made no chunks of 0 documents with text"):
            retriever.index(Corpus(Document(DocumentId(str(number)), text) for number, text in enumerate(texts)))
        with pytest.raises(NotIndexed, match=f"{type(retriever).__name__}: call index"):
            retriever.retrieve("?", 1)


def test_a_note_of_a_coroutine_retriever_is_a_note_of_its_result():
    async def search(query, k):
        rag.note("the server was slow")
        return []

    assert "the server was slow (questions: 78)" in evaluate(search, HANDBOOK).notes
