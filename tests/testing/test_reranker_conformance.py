"""The conformance suite of rerankers: on every built-in one, and on those that break it."""

from dataclasses import replace

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import CrossEncoderReranker
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.testing import LoopbackProviders, ReversingReranker
from support.suites import RerankerConformance
from support.tiny_models import tiny_cross_encoder


@pytest.mark.slow
class TestCrossEncoderReranker(RerankerConformance):
    def make(self):
        return CrossEncoderReranker(tiny_cross_encoder(), batch_size=3)


class TestCohereReranker(RerankerConformance):
    @pytest.fixture(autouse=True)
    def _providers(self):
        with LoopbackProviders():
            yield

    def make(self):
        return rag.CohereReranker()


class TestReversingReranker(RerankerConformance):
    def make(self):
        return ReversingReranker()


# A suite that no reranker can fail proves nothing: each of these breaks one promise.


class GivenOrder(rag.Reranker):
    def rerank(self, query, chunks, top_k=None):
        return list(chunks[:top_k])


class KeyedByContent(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, list({chunk.id: chunk for chunk in chunks}.values()), top_k)


class KeyedByPlace(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, list({Hit.of(chunk).identity: chunk for chunk in chunks}.values()), top_k)


class Doubling(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, [*chunks, *chunks[:1]], top_k)


class Plain(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        bare = [replace(chunk, metadata={}) for chunk in chunks]
        return super().rerank(query, bare, top_k)


class NoneIsAll(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, chunks, top_k or None)


class CutsFirst(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return sorted(chunks[:top_k], key=lambda chunk: chunk.content)


class AtLeastOne(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return [max(chunks, key=lambda chunk: len(chunk.content)), *super().rerank(query, chunks, top_k)]


class Moody(GivenOrder):
    def __init__(self):
        self.calls = 0

    def rerank(self, query, chunks, top_k=None):
        self.calls += 1
        return super().rerank(query, chunks if self.calls % 2 else chunks[::-1], top_k)


class InPlace(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        if isinstance(chunks, list):
            chunks.sort(key=lambda chunk: chunk.content)
        return super().rerank(query, chunks, top_k)


class Encoding(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        query.encode("utf-8")
        return super().rerank(query, chunks, top_k)


class ReadyOnce(GivenOrder):
    ready = False

    def prepare(self):
        if self.ready:
            raise ValueError("prepared twice")
        self.ready = True


BROKEN = {
    RerankerConformance: [
        (KeyedByContent, "test_every_chunk_is_returned_once"),
        (KeyedByPlace, "test_every_chunk_is_returned_once"),
        (Doubling, "test_every_chunk_is_returned_once"),
        (Plain, "test_every_chunk_is_returned_once"),
        (NoneIsAll, "test_top_k_is_the_beginning_of_the_full_order"),
        (CutsFirst, "test_top_k_is_the_beginning_of_the_full_order"),
        (AtLeastOne, "test_no_chunks_give_no_chunks"),
        (Moody, "test_the_order_is_the_same_every_time"),
        (InPlace, "test_the_chunks_are_not_changed"),
        (Encoding, "test_unusual_questions_are_not_an_error"),
        (ReadyOnce, "test_preparing_twice_is_not_an_error"),
    ],
}
