from dataclasses import dataclass, replace

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import Corpus, Document, DocumentId, VectorRAGRetriever
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import InMemoryVectorStore, LsaEmbedder, QdrantVectorStore, SentenceChunker
from rag_evaluation_framework.errors import NotIndexed
from support.chunkers import Lines
from support.each import each
from support.embedders import WordCounts

WORDS = ("refunds", "server", "password", "glacier")


@dataclass(frozen=True)
class Counting(WordCounts):
    words: tuple[str, ...] = WORDS


def a_corpus(*texts):
    return Corpus(Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts))


CORPUS = a_corpus("refunds refunds\nserver", "password server\nglacier", "refunds server password")


def indexed(corpus=CORPUS, **parameters):
    retriever = VectorRAGRetriever(**{"chunker": Lines(), "embedder": Counting(), **parameters})
    retriever.index(corpus)
    return retriever


def places(retrieval):
    return [(hit.doc_id, hit.start) for hit in retrieval.hits]


class TestRetrieve:
    @pytest.mark.parametrize("store", [InMemoryVectorStore, rag.ChromaVectorStore, QdrantVectorStore])
    def test_the_nearest_chunks_come_first_with_their_cosines(self, store):
        retriever = indexed(vector_store=store())
        alone = retriever.retrieve("password", 3)
        (together,) = retriever.retrieve_many(["password"], 3)
        assert places(alone) == [("1.md", 0), ("2.md", 0), ("0.md", 0)]
        assert [hit.text for hit in alone.hits][:2] == ["password server", "refunds server password"]
        assert [hit.score for hit in alone.hits] == pytest.approx([1 / np.sqrt(2), 1 / np.sqrt(3), 0])
        assert together.hits == alone.hits
        assert [hit.score for hit in retriever.retrieve("glacier glacier", 1).hits] == [1.0]

    def test_a_text_that_was_not_embedded_has_no_score(self):
        class Store(InMemoryVectorStore):
            def search(self, query_embedding, k):
                return [replace(chunk, content=chunk.content.upper()) for chunk in super().search(query_embedding, k)]

        with collect_notes():
            retriever = indexed(vector_store=Store())
        assert [hit.score for hit in retriever.retrieve("password", 2).hits] == [None, None]

    def test_many_questions_are_searched_together(self):
        class Store(InMemoryVectorStore):
            def search_many(self, query_embeddings, k):
                calls.append(len(query_embeddings))
                return super().search_many(query_embeddings, k)

        calls = []
        retriever = indexed(vector_store=Store())
        calls.clear()
        rankings = retriever.retrieve_many(["server", "refunds", "glacier"], 2)
        assert calls == [3]
        assert [places(ranking)[0] for ranking in rankings] == [("0.md", 16), ("0.md", 0), ("1.md", 16)]
        assert retriever.retrieve_many([], 3) == []


class TestIndex:
    def test_an_embedder_that_learns_is_fitted_on_whole_documents(self):
        class Learning(Counting):
            def fit(self, documents):
                seen.extend(documents)
                return Counting()

            def embed(self, texts):
                raise AssertionError("the embedder that fit() was called on was used")

        seen = []
        retriever = indexed(embedder=Learning())
        assert seen == [document.content for document in CORPUS]
        assert places(retriever.retrieve("glacier", 1)) == [("1.md", 16)]

    def test_a_store_of_the_callers_is_emptied_by_the_next_index_alone(self):
        class Failing(Counting):
            def embed(self, texts):
                raise OSError("no connection")

        store = InMemoryVectorStore()
        indexed(a_corpus("glacier one", "server two", "refunds"), vector_store=store)
        assert len(store) == 3
        retriever = indexed(a_corpus("server", "glacier"), vector_store=store)
        assert places(retriever.retrieve("glacier", 10)) == [("1.md", 0), ("0.md", 0)]
        assert len(store) == 2
        with pytest.raises(OSError, match="no connection"):
            indexed(vector_store=store, embedder=Failing())
        retriever.close()
        assert len(store) == 2

    def test_retrievers_share_neither_an_index_nor_the_default_store(self):
        first, second = indexed(), indexed(a_corpus("glacier"))
        assert len(first.retrieve("server", 10).hits) == 5
        assert len(second.retrieve("server", 10).hits) == 1
        equal = VectorRAGRetriever(first.chunker, first.embedder)
        assert equal == first
        with pytest.raises(NotIndexed):
            equal.retrieve("server", 1)


class TestPayingOnce:
    def test_equal_chunks_are_embedded_once_also_across_batches_and_all_found(self):
        embedder = Counting()
        retriever = indexed(a_corpus("refunds\nserver", "server\nglacier\nrefunds"), embedder=embedder, batch_size=2)
        assert embedder.batches == [["refunds", "server"], ["glacier"]]
        assert places(retriever.retrieve("refunds", 2)) == [("0.md", 0), ("1.md", 15)]
        assert len(retriever.chunks()) == 5

    def test_a_question_is_embedded_once_an_index_and_its_first_time_is_told(self):
        embedder = Counting()
        retriever = indexed(embedder=embedder)
        first, second = (retriever.retrieve("password", k) for k in (1, 3))
        retriever.retrieve_many(["password", "server"], 2)
        assert embedder.questions == ["password", "server"]
        assert [(stage.name, stage.seconds >= 0) for stage in first.stages] == [("embed", True), ("search", True)]
        assert first.stages[0] == second.stages[0]
        retriever.index(CORPUS)
        retriever.retrieve("password", 1)
        assert embedder.questions == ["password", "server", "password"]


def test_the_share_of_all_chunks_that_are_truncated_is_told_if_there_are_some():
    class Short(Counting):
        def truncated(self, texts):
            return np.array([len(text) > 8 for text in texts])

    with pytest.warns(UserWarning, match=r"Short truncates 3 of 4 chunks \(75\.0%\) at its input limit: "):
        indexed(a_corpus("refunds server\nserver", "refunds server\nglacier glacier"), embedder=Short())
    with collect_notes() as notes:
        indexed(a_corpus("server\nglacier"), embedder=Short())
    assert notes == []


@each(
    ("chunker", "told"),
    [
        (rag.SemanticChunker(LsaEmbedder(dimensions=2)), False),
        (rag.SemanticChunker(LsaEmbedder(dimensions=3)), True),
        (rag.SemanticChunker(LsaEmbedder(dimensions=2, seed=1)), True),
        (SentenceChunker(sentences=1), False),
    ],
)
def test_chunks_that_are_cut_by_the_vectors_of_another_embedder_are_told(chunker, told):
    texts = a_corpus("Refunds take days. The server restarts.", "A password is reset.", "Glaciers melt slowly.")
    with collect_notes() as notes:
        VectorRAGRetriever(chunker, LsaEmbedder(dimensions=2)).index(texts)
    said = [note for note in notes if "chunks are cut by the vectors of" in note and "and searched by those of" in note]
    assert len(said) == told
