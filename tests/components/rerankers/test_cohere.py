"""CohereReranker: what it sends, and that each text gets its own score."""

from threading import Barrier

import numpy as np

from rag_eval_loopback.models import share_of_words
from rag_evaluation_framework import BM25Retriever, CohereReranker, VectorRAGRetriever, evaluate
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.testing import HashingEmbedder

ROUTE = "POST /v2/rerank"


def sent(providers):
    return [exchange.request.json for exchange in providers.exchanges]


def test_a_request_has_the_question_and_all_texts_in_their_order_and_no_top_n(providers):
    scores = CohereReranker().scores("a b \ud83d\ude00", ["x", "b a", "a", "\ud800"])
    assert sent(providers) == [
        {
            "model": "rerank-v3.5",
            "query": "a b \U0001f600",  # surrogates are sent as what they stand for
            "documents": ["x", "b a", "a", "\ufffd"],
            "max_tokens_per_doc": 4096,
        }
    ]
    assert scores.tolist() == [share_of_words("a b \U0001f600", text) for text in ("x", "b a", "a", "")]
    assert len(set(scores.tolist())) == 3


def test_more_texts_than_a_request_holds_are_sent_in_several_and_none_are_not_sent(providers):
    texts = [f"w{number % 7}" for number in range(2500)]
    reranker = CohereReranker("rerank-english-v3.0", max_tokens_per_doc=100)
    assert np.array_equal(reranker.scores("w1 w2", texts), [share_of_words("w1 w2", text) for text in texts])
    assert [len(content["documents"]) for content in sent(providers)] == [1000, 1000, 500]
    assert sent(providers)[0]["model"] == "rerank-english-v3.0"
    assert sent(providers)[0]["max_tokens_per_doc"] == 100
    assert reranker.scores("w1", []).shape == (0,)
    assert len(providers.exchanges) == 3


def test_a_run_is_reranked(providers):
    dataset = load_handbook()
    result = evaluate(RerankedRetriever(BM25Retriever(), CohereReranker()), dataset)
    assert result.counts["failed"] == 0
    assert providers.counts() == {ROUTE: len(dataset.queries)}
    assert {content["query"] for content in sent(providers)} == {query.text for query in dataset.queries}


def test_what_was_reranked_is_not_asked_for_again_where_one_question_fails(providers):
    dataset = load_handbook()
    providers.fault(ROUTE, status=400, after=len(dataset.queries) - 8)  # the first are asked alone, and timed
    result = evaluate(RerankedRetriever(VectorRAGRetriever(embedder=HashingEmbedder()), CohereReranker()), dataset)
    assert "failed" not in [query.status for query in result.queries]
    assert len(sent(providers)) == len(dataset.queries) + 1


def test_questions_that_are_asked_together_are_reranked_side_by_side(providers):
    together = Barrier(4)  # nobody is answered before all have asked

    def answered(answer):
        together.wait(60)
        return answer

    providers.fault(ROUTE, change=answered, times=None)
    retriever = RerankedRetriever(BM25Retriever(), CohereReranker(max_concurrency=4, max_retries=0))
    retriever.index(load_handbook().corpus)
    questions = [query.text for query in load_handbook().queries[:4]]
    assert len(retriever.retrieve_many(questions, 3)) == 4
