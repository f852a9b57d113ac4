"""The conformance suite of vector stores: on every built-in one, and on those that break it."""

from dataclasses import replace
from typing import ClassVar
from uuid import uuid4

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import InMemoryVectorStore, QdrantVectorStore
from rag_evaluation_framework.components.vector_stores import PgVectorStore
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.errors import InputError
from support.suites import VectorStoreConformance


class TestInMemoryVectorStore(VectorStoreConformance):
    def make(self):
        return InMemoryVectorStore()


@pytest.mark.slow
class TestChromaVectorStore(VectorStoreConformance):
    def make(self):
        return rag.ChromaVectorStore()


@pytest.mark.slow
class TestQdrantVectorStore(VectorStoreConformance):
    def make(self):
        return QdrantVectorStore()


@pytest.mark.slow
class TestPgVectorStore(VectorStoreConformance):
    kind = PgVectorStore

    @pytest.fixture(autouse=True)
    def _dsn(self, pgvector_dsn):
        self.dsn = pgvector_dsn

    def make(self):
        return PgVectorStore(self.dsn, table=f"run_{uuid4().hex}")


# A suite that no vector store can fail proves nothing: each of these breaks one promise.


class Unsorted(InMemoryVectorStore):
    def search_many(self, query_embeddings, k):
        return [ranking[::-1] for ranking in super().search_many(query_embeddings, k)]


class KeyedByText(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        known = {chunk.id for chunk in self._chunks}
        new = [number for number, chunk in enumerate(chunks) if chunk.id not in known and not known.add(chunk.id)]
        super().add([chunks[number] for number in new], embeddings[new])


class KeyedByPlace(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        places = {Hit.of(chunk).identity: number for number, chunk in enumerate(chunks)}
        super().add([chunks[number] for number in places.values()], embeddings[[*places.values()]])


class Shared(InMemoryVectorStore):
    _everything: ClassVar = []  # shared on purpose

    def add(self, chunks, embeddings):
        super().add(chunks, embeddings)
        self._everything.append((list(chunks), embeddings))

    def search_many(self, query_embeddings, k):
        everything = InMemoryVectorStore()
        for chunks, embeddings in self._everything:
            everything.add(chunks, embeddings)
        return everything.search_many(query_embeddings, k)


class Lenient(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        count = min(len(chunks), len(embeddings))
        super().add(chunks[:count], embeddings[:count])


class Forgetful(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        self.clear()
        super().add(chunks, embeddings)


class Stubborn(InMemoryVectorStore):
    def clear(self):
        """Keep everything."""


class Stripping(InMemoryVectorStore):
    def search_many(self, query_embeddings, k):
        return [
            [rag.PositionAwareChunk(c.id, c.content, c.doc_id, c.start, c.end) for c in ranking]
            for ranking in super().search_many(query_embeddings, k)
        ]


class Rounding(InMemoryVectorStore):
    """Cuts vectors to length 1 in half precision, so that parallel ones differ."""

    def add(self, chunks, embeddings):
        lengths = np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-9)
        super().add(chunks, (embeddings / lengths + 1e-4 * np.sin(lengths)).astype(np.float32))


class InUtf8(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        texts = [chunk.content.encode("utf-8", "replace").decode("utf-8") for chunk in chunks]
        super().add([replace(chunk, content=text) for chunk, text in zip(chunks, texts, strict=True)], embeddings)


class OneByOne(InMemoryVectorStore):
    """Refuses a chunk when those before it are in already."""

    def add(self, chunks, embeddings):
        for number, chunk in enumerate(chunks):
            if "\x00" in chunk.content:
                raise InputError("no such bytes")
            super().add([chunk], embeddings[number : number + 1])


class OnlyOnce(InMemoryVectorStore):
    cleared = False

    def clear(self):
        if not self.cleared:
            super().clear()
        self.cleared = True


class Full(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        super().add(chunks[:5461], embeddings[:5461])


class AtLeastOneResult(InMemoryVectorStore):
    def search_many(self, query_embeddings, k):
        return super().search_many(query_embeddings, max(k, 1))


BROKEN = {
    VectorStoreConformance: [
        (Unsorted, "test_nearest_chunks_come_first"),
        (Unsorted, "test_ties_keep_the_order_in_which_chunks_were_added"),
        (KeyedByText, "test_equal_texts_are_all_kept"),
        (KeyedByPlace, "test_equal_texts_are_all_kept"),
        (KeyedByText, "test_none_of_many_chunks_is_lost"),
        (Shared, "test_two_stores_do_not_see_each_other"),
        (Lenient, "test_numbers_of_chunks_and_vectors_must_match"),
        (Forgetful, "test_chunks_can_be_added_in_several_calls"),
        (Forgetful, "test_dimensions_must_match"),
        (Stubborn, "test_clear_leaves_nothing"),
        (Stripping, "test_chunks_are_returned_unchanged"),
        (Rounding, "test_parallel_vectors_tie"),
        (InUtf8, "test_any_text_is_returned_unchanged"),
        (OneByOne, "test_any_text_is_returned_unchanged"),
        (OnlyOnce, "test_clear_can_be_repeated"),
        (Full, "test_none_of_many_chunks_is_lost"),
        (AtLeastOneResult, "test_k_of_zero_returns_nothing"),
    ],
}
