from dataclasses import dataclass, replace

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import Corpus, Document, DocumentId, VectorRAGRetriever
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import InMemoryVectorStore, LsaEmbedder, QdrantVectorStore, SentenceChunker
from rag_evaluation_framework.errors import ConfigError, InputError, NotIndexed
from support.chunkers import Lines
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
    def test_the_nearest_chunks_come_first(self):
        found = indexed().retrieve("password", 3)
        assert places(found) == [("1.md", 0), ("2.md", 0), ("0.md", 0)]
        assert [hit.text for hit in found.hits][:2] == ["password server", "refunds server password"]

    @pytest.mark.parametrize("store", [InMemoryVectorStore, rag.ChromaVectorStore, QdrantVectorStore])
    def test_scores_are_cosines(self, store):
        retriever = indexed(vector_store=store())
        cosines = [1 / np.sqrt(2), 1 / np.sqrt(3), 0]
        alone = retriever.retrieve("password", 3)
        (together,) = retriever.retrieve_many(["password"], 3)
        assert [hit.score for hit in alone.hits] == pytest.approx(cosines)
        assert together.hits == alone.hits
        assert [hit.score for hit in retriever.retrieve("glacier glacier", 1).hits] == [1.0]

    def test_a_text_that_was_not_embedded_has_no_score(self):
        class Store(InMemoryVectorStore):
            def search(self, query_embedding, k):
                return [replace(chunk, content=chunk.content.upper()) for chunk in super().search(query_embedding, k)]

        with collect_notes():
            retriever = indexed(vector_store=Store())
        assert [hit.score for hit in retriever.retrieve("password", 2).hits] == [None, None]

    def test_embedding_and_searching_are_timed_apart(self):
        stages = indexed().retrieve("password", 1).stages
        assert [stage.name for stage in stages] == ["embed", "search"]
        assert all(stage.seconds >= 0 for stage in stages)

    def test_a_question_is_embedded_as_a_question(self):
        embedder = Counting()
        retriever = indexed(embedder=embedder)
        retriever.retrieve("password", 1)
        retriever.retrieve_many(["server", "refunds"], 1)
        assert embedder.questions == ["password", "server", "refunds"]

    def test_many_questions_are_searched_together(self):
        class Store(InMemoryVectorStore):
            def __init__(self):
                super().__init__()
                self.calls = []

            def search_many(self, query_embeddings, k):
                self.calls.append(len(query_embeddings))
                return super().search_many(query_embeddings, k)

        store = Store()
        retriever = indexed(vector_store=store)
        store.calls.clear()
        rankings = retriever.retrieve_many(["server", "refunds", "glacier"], 2)
        assert store.calls == [3]
        assert [places(ranking)[0] for ranking in rankings] == [("0.md", 16), ("0.md", 0), ("1.md", 16)]

    def test_no_questions_have_no_rankings(self):
        assert indexed().retrieve_many([], 3) == []

    def test_equal_texts_in_two_documents_are_both_found(self):
        retriever = indexed(a_corpus("refunds", "server", "refunds"))
        assert places(retriever.retrieve("refunds", 2)) == [("0.md", 0), ("2.md", 0)]
        assert len(retriever.chunks()) == 3

    def test_k_of_zero_returns_nothing(self):
        assert indexed().retrieve("server", 0).hits == ()


class TestIndex:
    def test_chunks_are_embedded_in_batches(self):
        embedder = Counting()
        indexed(embedder=embedder, batch_size=2)
        assert [len(batch) for batch in embedder.batches] == [2, 2, 1]
        assert [text for batch in embedder.batches for text in batch] == [
            "refunds refunds", "server", "password server", "glacier", "refunds server password",
        ]  # fmt: skip

    def test_the_batch_size_does_not_change_what_is_found(self):
        wanted = places(indexed().retrieve("server", 5))
        assert all(places(indexed(batch_size=size).retrieve("server", 5)) == wanted for size in (1, 2, 5, 100))

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

    def test_a_store_of_the_callers_is_emptied_first(self):
        store = InMemoryVectorStore()
        indexed(a_corpus("glacier one", "server two"), vector_store=store)
        retriever = indexed(a_corpus("server", "glacier"), vector_store=store)
        assert places(retriever.retrieve("glacier", 10)) == [("1.md", 0), ("0.md", 0)]
        assert len(store) == 2

    def test_an_empty_store_of_the_callers_is_used(self):
        store = InMemoryVectorStore()
        indexed(vector_store=store)
        assert len(store) == 5

    def test_a_store_of_the_callers_keeps_what_it_holds_when_closed(self):
        store = InMemoryVectorStore()
        indexed(vector_store=store).close()
        assert len(store) == 5

    def test_two_retrievers_do_not_share_the_default_store(self):
        first, second = indexed(), indexed(a_corpus("glacier"))
        assert len(first.retrieve("server", 10).hits) == 5
        assert len(second.retrieve("server", 10).hits) == 1

    def test_equal_retrievers_do_not_share_an_index(self):
        embedder = Counting()
        first = VectorRAGRetriever(Lines(), embedder)
        second = VectorRAGRetriever(first.chunker, embedder)
        assert first == second
        first.index(CORPUS)
        with pytest.raises(NotIndexed):
            second.retrieve("server", 1)

    def test_a_corpus_without_text_is_refused(self):
        with pytest.raises(InputError, match="made no chunks of 0 documents with text"):
            indexed(a_corpus(""))

    def test_before_indexing_and_after_closing_there_is_nothing_to_retrieve(self):
        retriever = VectorRAGRetriever(embedder=Counting())
        for _ in range(2):
            with pytest.raises(NotIndexed, match=r"VectorRAGRetriever: call index\(corpus\)"):
                retriever.retrieve("server", 1)
            with pytest.raises(NotIndexed):
                retriever.retrieve_many(["server"], 1)
            with pytest.raises(NotIndexed):
                retriever.chunks()
            retriever.index(CORPUS)
            retriever.close()

    @pytest.mark.parametrize(
        "vectors",
        [np.ones((2, 4)), np.ones((5, 3)), np.ones(5), np.ones((4, 5)), [[1.0] * 4] * 4],
        ids=["too few", "another dimension", "flat", "turned", "a list too short"],
    )
    def test_vectors_of_another_shape_are_refused(self, vectors):
        class Wrong(Counting):
            def embed(self, texts):
                return vectors

        with pytest.raises(InputError, match=r"Wrong\.embed returned shape .* for 5 texts; expected \(5, 4\)"):
            indexed(embedder=Wrong())

    @pytest.mark.parametrize("vectors", [None, [[1.0, 2.0], [3.0]], [["a"] * 4] * 5, object()])
    def test_what_is_not_numbers_is_refused_by_name(self, vectors):
        class Wrong(Counting):
            def embed(self, texts):
                return vectors

        with pytest.raises(InputError, match=r"^Wrong\.embed returned .* for 5 texts"):
            indexed(embedder=Wrong())

    def test_a_list_of_lists_is_taken(self):
        class Lists(Counting):
            def embed(self, texts):
                return super().embed(texts).tolist()

            def embed_query(self, text):
                return np.array(self.embed([text])[0], dtype=np.float32)

        assert places(indexed(embedder=Lists()).retrieve("glacier", 1)) == [("1.md", 16)]


class TestPayingOnce:
    def test_equal_chunks_are_embedded_once_also_across_batches(self):
        embedder = Counting()
        retriever = indexed(a_corpus("refunds\nserver\nrefunds", "server\nglacier"), embedder=embedder, batch_size=2)
        assert embedder.batches == [["refunds", "server"], ["glacier"]]
        assert places(retriever.retrieve("refunds", 2)) == [("0.md", 0), ("0.md", 15)]
        assert len(retriever.chunks()) == 5

    def test_a_question_is_embedded_once_and_its_first_time_is_told(self):
        embedder = Counting()
        retriever = indexed(embedder=embedder)
        first, second = (retriever.retrieve("password", k) for k in (1, 3))
        retriever.retrieve_many(["password", "server"], 2)
        assert embedder.questions == ["password", "server"]
        assert first.stages[0] == second.stages[0]

    def test_another_index_asks_anew(self):
        embedder = Counting()
        retriever = indexed(embedder=embedder)
        retriever.retrieve("password", 1)
        retriever.index(CORPUS)
        retriever.retrieve("password", 1)
        assert embedder.questions == ["password"] * 2

    def test_a_store_is_not_emptied_if_embedding_fails(self):
        class Failing(Counting):
            def embed(self, texts):
                raise OSError("no connection")

        store = InMemoryVectorStore()
        indexed(vector_store=store)
        with pytest.raises(OSError, match="no connection"):
            indexed(vector_store=store, embedder=Failing())
        assert len(store) == 5


class TestTruncation:
    class Short(Counting):
        def truncated(self, texts):
            return np.array([len(text) > 8 for text in texts])

    def test_the_share_of_all_chunks_is_told(self):
        with pytest.warns(UserWarning, match=r"Short truncates 3 of 4 chunks \(75\.0%\) at its input limit: "):
            indexed(a_corpus("refunds server\nserver", "refunds server\nglacier glacier"), embedder=self.Short())

    def test_nothing_is_said_where_nothing_was_truncated(self):
        assert len(indexed(a_corpus("server\nglacier"), embedder=self.Short()).chunks()) == 2

    def test_flags_of_another_shape_are_refused(self):
        class Wrong(Counting):
            def truncated(self, texts):
                return np.zeros(1, dtype=bool)

        with pytest.raises(InputError, match=r"truncated returned array\(\[False\]\) for 5 texts; expected \(5,\)"):
            indexed(embedder=Wrong())


class TestParameters:
    @pytest.mark.parametrize("batch_size", [0, -1, 1.5, True])
    def test_a_batch_holds_at_least_one_chunk(self, batch_size):
        with pytest.raises(ConfigError, match="at least 1"):
            VectorRAGRetriever(batch_size=batch_size)

    def test_the_defaults_need_nothing(self, corpus):
        retriever = VectorRAGRetriever()
        assert retriever.embedder == LsaEmbedder()
        retriever.index(corpus)
        assert retriever.retrieve("How long do refunds take?", 1).hits[0].doc_id == "billing.md"

    def test_the_index_is_no_parameter(self, corpus):
        retriever = VectorRAGRetriever()
        retriever.index(corpus)
        assert retriever == VectorRAGRetriever()
        assert retriever.name == "VectorRAGRetriever"
        assert "_index" not in repr(retriever)


class TestAnotherEmbedderCutsTheChunks:
    TEXTS = a_corpus("Refunds take days. The server restarts.", "A password is reset.", "Glaciers melt slowly.")

    @pytest.mark.parametrize(
        ("cutting", "searching"),
        [
            (LsaEmbedder(dimensions=2), LsaEmbedder(dimensions=3)),
            (LsaEmbedder(dimensions=3), LsaEmbedder(dimensions=3, seed=1)),
        ],
    )
    def test_that_is_said(self, cutting, searching):
        retriever = VectorRAGRetriever(rag.SemanticChunker(cutting), searching)
        with pytest.warns(UserWarning, match="chunks are cut by the vectors of .* and searched by those of"):
            retriever.index(self.TEXTS)

    def test_the_same_one_is_not_told_and_neither_are_other_chunkers(self):
        for chunker in (rag.SemanticChunker(LsaEmbedder(dimensions=2)), SentenceChunker(sentences=1)):
            with collect_notes() as notes:
                VectorRAGRetriever(chunker, LsaEmbedder(dimensions=2)).index(self.TEXTS)
            assert not any("chunks are cut by" in said for said in notes)
