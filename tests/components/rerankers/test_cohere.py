"""CohereReranker: what it sends, and that each text gets its own score."""

from threading import Barrier

import numpy as np

from rag_eval_loopback.models import share_of_words
from rag_evaluation_framework import BM25Retriever, CohereReranker, OpenAIEmbedder, VectorRAGRetriever, evaluate
from rag_evaluation_framework.components import CachedEmbedder, RerankedRetriever
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.testing import HashingEmbedder

ROUTE = "POST /v2/rerank"
KEY = "oddly-formed-key-19"


def sent(providers):
    return [exchange.request.json for exchange in providers.exchanges]


def test_a_request_has_the_question_and_all_texts_in_their_order_and_no_top_n(providers):
    scores = CohereReranker().scores("a b", ["x", "b a", "a"])
    assert sent(providers) == [
        {"model": "rerank-v3.5", "query": "a b", "documents": ["x", "b a", "a"], "max_tokens_per_doc": 4096}
    ]
    assert scores.tolist() == [0.0, 1.0, 0.5]


def test_more_texts_than_a_request_holds_are_sent_in_several_and_none_are_not_sent(providers):
    texts = [f"w{number % 7}" for number in range(2500)]
    reranker = CohereReranker("rerank-english-v3.0", max_tokens_per_doc=100)
    assert np.array_equal(reranker.scores("w1 w2", texts), [share_of_words("w1 w2", text) for text in texts])
    assert [len(content["documents"]) for content in sent(providers)] == [1000, 1000, 500]
    assert sent(providers)[0]["model"] == "rerank-english-v3.0"
    assert sent(providers)[0]["max_tokens_per_doc"] == 100
    assert reranker.scores("w1", []).shape == (0,)
    assert len(providers.exchanges) == 3


def test_the_providers_own_address_comes_before_that_of_the_environment_if_it_is_given(monkeypatch):
    monkeypatch.delenv("CO_API_URL", raising=False)
    recorded = describe(CohereReranker())
    monkeypatch.setenv("CO_API_URL", "http://127.0.0.1:9")
    given = CohereReranker(base_url="https://api.cohere.com/")
    assert (given.address, describe(given)) == ("https://api.cohere.com", recorded)


def test_surrogates_are_sent_as_what_they_stand_for(providers):
    CohereReranker().scores("\ud83d\ude00", ["\ud800"])
    assert (sent(providers)[0]["query"], sent(providers)[0]["documents"]) == ("\U0001f600", ["\ufffd"])


def test_a_run_is_reranked(providers):
    dataset = load_handbook()
    result = evaluate(RerankedRetriever(BM25Retriever(), CohereReranker()), dataset)
    assert result.counts["failed"] == 0
    assert providers.counts() == {ROUTE: len(dataset.queries)}
    assert {content["query"] for content in sent(providers)} == {query.text for query in dataset.queries}


def test_no_key_is_in_what_a_run_that_fails_leaves(providers, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}-of-openai")
    providers.fault(ROUTE, after=2, status=401, body={"message": f"invalid api token: {KEY}."})
    providers.fault(ROUTE, body={KEY: 1}, times=None)
    vectors = VectorRAGRetriever(embedder=CachedEmbedder(OpenAIEmbedder(), root=tmp_path))
    retriever = RerankedRetriever(vectors, CohereReranker(api_key=KEY, max_retries=0))
    result = evaluate(retriever, load_handbook())
    result.save(root=tmp_path)
    assert result.counts["failed"] > 1
    print(result, *result.queries, result.failures, result._repr_html_(), sep="\n")
    out, err = capfd.readouterr()
    assert "status 401" in out
    assert KEY not in out + err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


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
