"""The conformance suite of retrievers: on every built-in one, and on those that break it."""

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import (
    HybridRetriever,
    InMemoryVectorStore,
    LsaEmbedder,
    RerankedRetriever,
)
from rag_evaluation_framework.components.retrievers import ScopedRetriever
from rag_evaluation_framework.data import Hit, Retrieval
from support.chunkers import Paragraphs
from support.rerankers import SharedWords
from support.suites import RetrieverConformance

pytestmark = pytest.mark.filterwarnings("ignore:.*returns a vector of zeros:UserWarning")  # of unknown words


class TestBM25Retriever(RetrieverConformance):
    def make(self):
        return rag.BM25Retriever()


class TestBM25RetrieverOverSmallChunks(RetrieverConformance):
    def make(self):
        return rag.BM25Retriever(chunker=rag.RecursiveCharacterChunker(chunk_size=80, overlap=20), k1=0.9, b=0.4)


class TestBM25RetrieverOverAPlainChunker(RetrieverConformance):
    def make(self):
        return rag.BM25Retriever(chunker=Paragraphs())


class TestVectorRAGRetriever(RetrieverConformance):
    def make(self):
        return rag.VectorRAGRetriever()


class TestVectorRAGRetrieverOverSmallChunks(RetrieverConformance):
    def make(self):
        return rag.VectorRAGRetriever(
            chunker=rag.FixedTokenChunker(tokens=15, overlap=5), embedder=LsaEmbedder(dimensions=8), batch_size=7
        )


class TestVectorRAGRetrieverWithAStoreOfTheCallers(RetrieverConformance):
    def make(self):
        return rag.VectorRAGRetriever(vector_store=InMemoryVectorStore())


class TestHybridRetriever(RetrieverConformance):
    def make(self):
        return HybridRetriever()


class TestHybridRetrieverOfDifferentChunks(RetrieverConformance):
    def make(self):
        small, whole = rag.RecursiveCharacterChunker(chunk_size=90), rag.RecursiveCharacterChunker(chunk_size=5_000)
        return HybridRetriever(
            (rag.BM25Retriever(small), rag.BM25Retriever(whole), rag.VectorRAGRetriever(small)),
            (0.5, 0.2, 0.3),
            depth=200,
        )


class TestScopedRetriever(RetrieverConformance):
    def make(self):
        return ScopedRetriever(rag.BM25Retriever())


class TestRerankedRetriever(RetrieverConformance):
    def make(self):
        return RerankedRetriever(rag.BM25Retriever(), SharedWords())


class TestRerankedRetrieverOfFusedChunks(RetrieverConformance):
    def make(self):
        small = rag.RecursiveCharacterChunker(chunk_size=90)
        hybrid = HybridRetriever((rag.BM25Retriever(small), rag.VectorRAGRetriever(small)), depth=200)
        return RerankedRetriever(hybrid, SharedWords(), candidates=200)


# A suite that no retriever can fail proves nothing: each of these breaks one promise.


class Greedy(rag.BM25Retriever):
    def retrieve(self, query, k):
        return super().retrieve(query, k + 1)


class Shuffled(rag.BM25Retriever):
    def retrieve(self, query, k):
        return Retrieval(super().retrieve(query, k).hits[::-1])


class Rewriting(rag.BM25Retriever):
    def retrieve(self, query, k):
        return [
            Hit(hit.doc_id, hit.start, hit.end, text="Title: " + hit.text) for hit in super().retrieve(query, k).hits
        ]


class Remembering(rag.BM25Retriever):
    def index(self, corpus):
        old = () if self._index is None else {c.doc_id: c for c in self.chunks()}
        kept = [rag.Document(name, "the server takes refunds and passwords") for name in old if name not in corpus]
        super().index(rag.Corpus([*corpus, *kept]))


class Ready(rag.BM25Retriever):
    def retrieve(self, query, k):
        return super().retrieve(query, k) if self._index is not None else Retrieval(())


class OneOfEach(rag.BM25Retriever):
    def retrieve(self, query, k):
        unique = {hit.chunk_id: hit for hit in super().retrieve(query, 100_000).hits}
        return Retrieval(tuple(unique.values())[:k])


class Mute(rag.BM25Retriever):
    def retrieve(self, query, k):
        super().retrieve(query, k)
        return Retrieval(())


class Mixed(rag.BM25Retriever):
    def retrieve_many(self, queries, k):
        return super().retrieve_many(queries, k)[::-1]


class Fragile(rag.BM25Retriever):
    def retrieve(self, query, k):
        found = super().retrieve(query, k)
        if not found.hits:
            raise ValueError("nothing found")
        return found


BROKEN = {
    RetrieverConformance: [
        (Greedy, "test_at_most_k_results_come_back"),
        (Shuffled, "test_best_results_come_first"),
        (Shuffled, "test_a_short_ranking_is_the_beginning_of_a_long_one"),
        (Rewriting, "test_results_are_text_of_the_corpus"),
        (Remembering, "test_indexing_again_replaces_the_old_corpus"),
        (Ready, "test_retrieving_before_indexing_raises"),
        (OneOfEach, "test_equal_texts_in_two_documents_are_both_found"),
        (Mute, "test_something_is_found"),
        (Mixed, "test_many_questions_get_the_same_rankings_as_one_by_one"),
        (Fragile, "test_unusual_questions_are_not_an_error"),
    ],
}
