from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag_evaluation_framework as rag
from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId, PositionAwareChunk, Reranker
from rag_evaluation_framework.components import (
    FunctionRetriever,
    HybridRetriever,
    RerankedRetriever,
)
from rag_evaluation_framework.data import Hit, Retrieval, Stage
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.testing import FixedRetriever, ReversingReranker
from support.each import each
from support.rerankers import SharedWords

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CORPUS = Corpus([Document(DocumentId("letters.md"), LETTERS)])
ALPHABET = [Hit(DocumentId("letters.md"), n, n + 1, text=name, score=26.0 - n) for n, name in enumerate(LETTERS)]


class Answering(Reranker):
    """Returns what a function makes of the chunks."""

    def __init__(self, function):
        self.function = function

    def rerank(self, query, chunks, top_k=None):
        return self.function(chunks)


def reranked(retriever=None, reranker=None, corpus=CORPUS, **parameters):
    whole = RerankedRetriever(retriever or FixedRetriever(ALPHABET), reranker or ReversingReranker(), **parameters)
    whole.index(corpus)
    return whole


def texts(hits):
    return "".join(hit.text for hit in hits)


class TestCandidates:
    def test_one_number_of_candidates_is_asked_for_whatever_k_is_and_the_retriever_closed(self):
        retriever = FixedRetriever(ALPHABET)
        whole = reranked(retriever, candidates=7)
        for k in (1, 3, 7):
            whole.retrieve("?", k)
        whole.close()
        assert retriever.calls == [("index", CORPUS), *[("retrieve", "?", 7)] * 3, ("close",)]
        assert RerankedRetriever(FixedRetriever(ALPHABET), ReversingReranker()).candidates == 50

    def test_the_ranking_at_k_begins_the_ranking_at_more_even_where_the_retriever_is_not_stable(self):
        def unstable(query, k):
            return [{"doc_id": "letters.md", "start": n, "end": n + 1} for n in range(k)][::-1]

        whole = reranked(FunctionRetriever(unstable, stable=False), candidates=9)
        assert whole.prefix_stable
        assert all([hit.start for hit in whole.retrieve("?", k).hits] == [*range(k)] for k in range(10))

    @each(
        ("candidates", "k", "wanted", "limit"),
        [(5, 6, "edcba", "candidates=5 of RerankedRetriever"), (100, 200, LETTERS[::-1], None)],
    )
    def test_a_ranking_that_ends_with_the_candidates_before_all_there_is_says_so(self, candidates, k, wanted, limit):
        whole = reranked(candidates=candidates)
        for found in (whole.retrieve("?", k), *whole.retrieve_many(["?"], k)):
            assert (texts(found.hits), found.limit) == (wanted, limit)

    def test_the_reranker_is_prepared_by_the_index_and_sees_the_question_and_every_candidate_in_order(self):
        reranker = ReversingReranker()
        whole = reranked(reranker=reranker, candidates=3)
        assert reranker.calls == [("prepare",)]
        whole.retrieve("who?", 1)
        chunks = [PositionAwareChunk.of(CORPUS["letters.md"], n, n + 1) for n in range(3)]
        assert reranker.calls == [("prepare",), ("rerank", "who?", chunks, None)]
        assert reranked(lambda query, k: [], reranker).retrieve("?", 3).hits == ()
        assert reranker.calls[2:] == [("prepare",)]  # no candidates are not reranked


class TestBefore:
    def test_the_last_stage_before_keeps_the_candidates_in_their_first_order_with_their_scores(self):
        stages = (Stage("embed", 0.5), Stage("search", 0.25))
        found = reranked(lambda query, k: Retrieval(tuple(ALPHABET[:k]), stages), candidates=4).retrieve("?", 2)
        *before, last = found.stages
        assert before == [stages[0], Stage("search", 0.25, tuple(ALPHABET[:4]))]
        assert (last.name, last.hits, last.seconds >= 0) == ("rerank", None, True)
        assert found.hits == tuple(replace(hit, score=None) for hit in ALPHABET[3:1:-1])

    def test_reranking_twice_has_two_stages(self):
        found = reranked(reranked(candidates=9), candidates=3).retrieve("?", 3)
        assert [(stage.name, texts(stage.hits or ())) for stage in found.stages] == [
            ("retrieve", "abcdefghi"), ("rerank", "ihg"), ("rerank 2", ""),
        ]  # fmt: skip
        assert texts(found.hits) == "ghi"

    @pytest.mark.parametrize("retriever", [BM25Retriever(), HybridRetriever()], ids=lambda part: part.name)
    def test_before_equals_the_plain_run(self, retriever):
        dataset = load_handbook()
        plain = rag.evaluate(retriever, dataset, k=[5, 10], budgets=[])
        whole = reranked(retriever, corpus=dataset.corpus, candidates=20)
        for entry, query in zip(dataset.ground_truth, plain.queries, strict=True):
            before = whole.retrieve(entry.query.text, 5).stages[-2].hits
            wanted = [hit.span for hit in query.hits]
            assert [hit.span for hit in before][: len(wanted)] == wanted


class TestForeignResults:
    def test_texts_are_located_first(self, corpus):
        reranker = ReversingReranker()
        whole = reranked(
            lambda query, k: ["Refunds take five working days.", "Install the agent."], reranker, corpus=corpus
        )
        assert [hit.doc_id for hit in whole.retrieve("?", 2).hits] == ["guides/start.md", "billing.md"]
        chunk = reranker.calls[1][2][0]
        assert corpus[chunk.doc_id].content[chunk.start : chunk.end] == chunk.content

    def test_a_text_without_a_place_is_reranked_by_its_text_and_may_come_twice(self, corpus):
        reranker = ReversingReranker()
        found = ["In short: refunds", "In short: refunds", {"doc_id": "x", "text": "é"}]
        whole = reranked(lambda query, k: found, reranker, corpus=corpus)
        short = Hit(text="In short: refunds")
        assert whole.retrieve("?", 3).hits == (Hit(DocumentId("x"), text="é"), short, short)
        assert [chunk.content for chunk in reranker.calls[1][2]] == [short.text, short.text, "é"]

    @each(
        ("result", "hit", "chunk"),
        [
            (
                {"doc_id": "letters.md", "start": 2, "end": 5},
                Hit(DocumentId("letters.md"), 2, 5),
                PositionAwareChunk.of(CORPUS["letters.md"], 2, 5),
            ),
            (
                Hit(DocumentId("letters.md")),
                Hit(DocumentId("letters.md"), 0, 26),
                PositionAwareChunk.of(CORPUS["letters.md"], 0, 26),
            ),
            (
                {"doc_id": "letters.md", "start": 0, "end": 3, "text": "Title: abc", "chunk_id": "c1"},
                Hit(DocumentId("letters.md"), 0, 3, "c1", "Title: abc"),
                PositionAwareChunk("c1", "Title: abc", DocumentId("letters.md"), 0, 3),
            ),
        ],
    )
    def test_what_has_a_place_is_reranked_by_its_text_or_that_of_the_place(self, result, hit, chunk):
        reranker = ReversingReranker()
        assert reranked(lambda query, k: [result], reranker).retrieve("?", 3).hits == (hit,)
        (reranked_chunk,) = reranker.calls[1][2]
        assert (reranked_chunk, reranked_chunk.id) == (chunk, chunk.id)

    def test_what_has_no_text_at_all_is_refused(self):
        whole = reranked(lambda query, k: [Hit(doc_id=DocumentId("gone.md"))])
        with pytest.raises(InputError, match="result without text, which cannot be reranked"):
            whole.retrieve("?", 3)


class TestReranker:
    def test_a_generator_a_tuple_and_copies_are_taken_and_sorting_in_place_does_no_harm(self):
        def in_place(chunks):
            chunks.sort(key=lambda chunk: -chunk.start)
            result = list(chunks)
            chunks.clear()
            return result

        for function in (
            lambda chunks: (chunk for chunk in reversed(chunks)),
            lambda chunks: tuple(reversed(chunks)),
            lambda chunks: [PositionAwareChunk("other", c.content, c.doc_id, c.start, c.end) for c in chunks[::-1]],
            in_place,
        ):
            found = reranked(reranker=Answering(function), candidates=3).retrieve("?", 2)
            assert texts(found.hits) == "cb"
            assert texts(found.stages[0].hits) == "abc"

    def test_one_that_is_a_coroutine_is_awaited(self):
        class Later(ReversingReranker):
            async def prepare(self):
                super().prepare()

            async def rerank(self, query, chunks, top_k=None):
                return chunks[::-1]

        reranker = Later()
        assert texts(reranked(reranker=reranker, candidates=3).retrieve("?", 2).hits) == "cb"
        assert reranker.calls == [("prepare",)]

    def test_one_that_cannot_be_prepared_ends_the_run_before_the_first_question(self):
        class Missing(ReversingReranker):
            def prepare(self):
                raise ConfigError("no such model")

        with pytest.raises(ConfigError, match="no such model"):
            rag.evaluate(RerankedRetriever(BM25Retriever(), Missing()), load_handbook())

    @given(st.permutations(range(8)), st.integers(0, 8))
    def test_every_order_is_kept(self, order, k):
        whole = reranked(reranker=Answering(lambda chunks: [chunks[number] for number in order]), candidates=8)
        assert texts(whole.retrieve("?", k).hits) == "".join(LETTERS[number] for number in order[:k])


class TestWhole:
    def test_chunks_are_those_of_the_retriever(self, corpus):
        whole = reranked(BM25Retriever(), corpus=corpus)
        assert whole.chunks() == whole.retriever.chunks()
        assert reranked(lambda query, k: []).chunks() is None

    def test_many_questions_are_asked_together_and_reranked_one_by_one(self):
        class Many(FixedRetriever):
            def retrieve_many(self, queries, k):
                calls.append((list(queries), k))
                return super().retrieve_many(queries, k)

        calls = []
        reranker = ReversingReranker()
        rankings = reranked(Many(ALPHABET), reranker, candidates=3).retrieve_many(["x", "y"], 2)
        assert calls == [(["x", "y"], 3)]
        assert [query for _, query, *_ in reranker.calls[1:]] == ["x", "y"]
        assert [texts(ranking.hits) for ranking in rankings] == ["cb", "cb"]

    def test_reranking_by_words_finds_answers_that_bm25_ranks_low(self):
        dataset = load_handbook()
        plain = rag.evaluate(BM25Retriever(), dataset, k=5, budgets=[])
        better = rag.evaluate(RerankedRetriever(BM25Retriever(), SharedWords()), dataset, k=5, budgets=[])
        assert not better.counts["failed"]
        assert better.notes == ()
        assert better.metrics != plain.metrics
        assert set(better.queries[0].stages) == {"search", "rerank"}
