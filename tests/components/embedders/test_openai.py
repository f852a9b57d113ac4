"""OpenAIEmbedder: what it sends, what it returns, and what it needs before it sends anything."""

import math
import os
import signal
from threading import Timer

import numpy as np
import pytest

from rag_eval_loopback.models import vector
from rag_evaluation_framework import TOKEN, Dataset, OpenAIEmbedder, VectorRAGRetriever, evaluate
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import Embedding, embedder_identity
from rag_evaluation_framework.components.providers import track_usage
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError, InvalidAnswer, ProviderRefused
from rag_evaluation_framework.testing import LoopbackProviders
from support.kept_vectors import kept_vectors
from support.provider_clients import client_of

ROUTE = "POST /v1/embeddings"


def sent(providers):
    return [exchange.request.json for exchange in providers.exchanges]


def test_a_request_has_the_texts_in_their_order_the_model_and_base64_and_nothing_else(providers):
    texts = ["b", "a", "b", "A longer text,\nof two lines.", "\ud83d\ude00 \ud800"]
    told = [*texts[:4], "\U0001f600 \ufffd"]  # surrogates are sent as what they stand for
    vectors = OpenAIEmbedder(max_concurrency=1, batch_size=3).embed(texts)
    assert sent(providers) == [
        {"model": "text-embedding-3-small", "input": told[:3], "encoding_format": "base64"},
        {"model": "text-embedding-3-small", "input": told[3:], "encoding_format": "base64"},
    ]
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, [vector(text, 1536) for text in told])


def test_dimensions_and_model_are_sent_if_they_are_given_and_else_the_dimension_is_asked_for_once(providers):
    embedder = OpenAIEmbedder("mine", dimensions=7)
    assert embedder.dimension == 7
    assert providers.exchanges == []
    assert embedder.embed_query("a").shape == (7,)
    assert sent(providers) == [{"model": "mine", "input": ["a"], "encoding_format": "base64", "dimensions": 7}]
    embedder = OpenAIEmbedder("mine")
    assert (embedder.dimension, embedder.dimension) == (256, 256)
    assert len(providers.exchanges) == 2
    known = OpenAIEmbedder("mine")
    known.embed(["a"])
    assert known.dimension == 256
    assert len(providers.exchanges) == 3


def test_a_batch_has_as_many_texts_and_tokens_as_openai_takes(providers):
    texts = ["long " * 20_000] * 4 + ["short"] * 3000  # 100,000 bytes each of the long ones
    vectors = OpenAIEmbedder(dimensions=2, batch_size=2048).embed(texts)
    batches = sorted(len(content["input"]) for content in sent(providers))
    assert batches == [3, 953, 2048]
    assert np.array_equal(vectors, [vector(text, 2) for text in texts])


def test_nothing_is_sent_of_no_text_an_empty_one_or_what_is_no_list(providers):
    assert OpenAIEmbedder(dimensions=3).embed([]).shape == (0, 3)
    assert OpenAIEmbedder(dimensions=3).embed_queries([]).shape == (0, 3)
    for odd in ("", None, 5, math.nan, b"x"):
        said = f"^OpenAIEmbedder: text 1 is {odd!r}; expected a text of at least one character$"
        with pytest.raises(InputError, match=said):
            OpenAIEmbedder(batch_size=1).embed(["a", odd])
    with pytest.raises(InputError, match=r"^OpenAIEmbedder: texts='hello'; expected a list of texts$"):
        OpenAIEmbedder().embed("hello")
    assert providers.exchanges == []


def test_what_is_all_kept_needs_no_key(monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    kept = {"a": Embedding(np.array([1, 2], np.float32), False), "b": Embedding(np.array([3, 4], np.float32), False)}
    EmbeddingCache(tmp_path).put(embedder_identity(OpenAIEmbedder()), kept, "text", None)
    assert CachedEmbedder(OpenAIEmbedder(), root=tmp_path).embed(["b", "a"]).tolist() == [[3, 4], [1, 2]]


def test_a_second_run_through_the_cache_sends_nothing_whatever_batches_and_key_are(providers, tmp_path, monkeypatch):
    texts = [f"text {number}" for number in range(100)]
    first = CachedEmbedder(OpenAIEmbedder(batch_size=7), root=tmp_path).embed(texts)
    before = len(providers.exchanges)
    monkeypatch.setenv("OPENAI_API_KEY", "another-key")
    again = OpenAIEmbedder(batch_size=50, max_concurrency=1, max_retries=0, timeout=1.0, price_in=1.0)
    assert np.array_equal(CachedEmbedder(again, root=tmp_path).embed(texts), first)
    assert len(providers.exchanges) == before
    for _ in range(2):  # questions are kept apart
        assert np.array_equal(CachedEmbedder(again, root=tmp_path).embed_queries(texts), first)
        assert len(providers.exchanges) == before + 2


def test_vectors_of_another_model_dimension_or_server_are_others(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with client_of("OpenAI", "http://127.0.0.1:9") as client:
        others = [
            OpenAIEmbedder(),
            OpenAIEmbedder("mine"),
            OpenAIEmbedder(dimensions=8),
            OpenAIEmbedder(base_url="http://in.house/v1"),
            OpenAIEmbedder(client=client),
        ]
        identities = {embedder_identity(embedder) for embedder in others}
        assert len(identities) == 5
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
        assert embedder_identity(OpenAIEmbedder()) == embedder_identity(others[4])
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1/")
    assert embedder_identity(OpenAIEmbedder(api_key="x")) == embedder_identity(others[0])


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://api.openai.com/v1/"])
def test_the_providers_own_address_comes_before_that_of_the_environment_if_it_is_given(monkeypatch, url):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    default = OpenAIEmbedder()
    kept, recorded = embedder_identity(default), describe(default)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    given = OpenAIEmbedder(base_url=url)
    assert given.address == "https://api.openai.com/v1"
    assert (embedder_identity(given), describe(given)) == (kept, recorded)
    assert describe(OpenAIEmbedder())["base_url"] == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("given", [{"base_url": "http://127.0.0.1:9/v1"}, {"api_key": "a-key"}, {"timeout": 1.0}])
def test_what_a_client_of_ones_own_would_not_heed_is_refused(given):
    with (
        client_of("OpenAI", "http://127.0.0.1:9") as client,
        pytest.raises(ConfigError, match=f"^OpenAIEmbedder: {next(iter(given))}= is given beside client=, which has"),
    ):
        OpenAIEmbedder(client=client, **given)


def test_a_client_that_takes_other_arguments_is_refused_at_the_first_call_and_nothing_is_counted():
    class Client:
        class embeddings:  # noqa: N801  as the SDK calls it
            @staticmethod
            def create(input, model): ...  # noqa: A002

    with (
        track_usage() as usage,
        pytest.raises(ConfigError, match=r"its client cannot be asked: TypeError: .* unexpected keyword argument"),
    ):
        OpenAIEmbedder(client=Client()).embed(["a"])
    assert usage.total.requests == 0


def test_vectors_are_kept_for_the_server_that_made_them_also_if_the_environment_changes(monkeypatch, tmp_path):
    with LoopbackProviders() as first:
        embedder = OpenAIEmbedder()
        embedder.embed(["a"])
        with LoopbackProviders() as second:
            CachedEmbedder(embedder, root=tmp_path).embed(["b"])
            CachedEmbedder(OpenAIEmbedder(), root=tmp_path).embed(["b"])
            assert (first.counts(), second.counts()) == ({"POST /v1/embeddings": 2}, {"POST /v1/embeddings": 1})
        CachedEmbedder(OpenAIEmbedder(), root=tmp_path).embed(["b"])
        assert first.counts() == {"POST /v1/embeddings": 2}


def test_a_vector_of_another_length_is_told_with_both_lengths(providers):
    def ragged(answer):
        first, second = answer["data"]
        return {**answer, "data": [first, {**second, "embedding": [1.0, 2.0]}]}

    providers.fault(ROUTE, change=ragged, times=9)
    with pytest.raises(InvalidAnswer, match=r"a vector of 2 numbers; expected 1536"):
        OpenAIEmbedder(max_retries=0).embed(["a", "b"])


def test_a_number_of_tokens_below_0_is_not_counted(providers):
    def odd(answer):
        return {**answer, "usage": {"prompt_tokens": -500_000, "total_tokens": 1}}

    providers.fault("POST /v1/embeddings", change=odd)
    with track_usage() as usage:
        OpenAIEmbedder(price_in=1.0).embed(["a"])
    assert (usage.total.requests, usage.total.input_tokens, usage.total.cost) == (1, 0, None)


def test_questions_that_were_embedded_are_not_sent_again_where_others_fail(providers):
    dataset = load_handbook()
    questions = [query.text for query in dataset.queries]
    retriever = VectorRAGRetriever(embedder=OpenAIEmbedder(batch_size=8, max_concurrency=2))
    retriever.index(dataset.corpus)
    indexed = len(providers.exchanges)
    providers.fault(ROUTE, status=400, after=5)
    with pytest.raises(ProviderRefused):
        retriever.retrieve_many(questions, 3)
    for question in questions:
        retriever.retrieve(question, 3)
    embedded = [text for content in sent(providers)[indexed:] for text in content["input"]]
    assert len(embedded) == len(set(questions)) + 8


def test_a_run_below_a_root_asks_for_no_vector_that_was_paid_for_and_tells_the_time_of_its_own_kind(
    providers, tmp_path
):
    dataset = load_handbook()

    def run(together):
        retriever = VectorRAGRetriever(embedder=OpenAIEmbedder())
        return evaluate(retriever, dataset, batch_queries=together, save_results_path=tmp_path)

    first = [run(together) for together in (True, False)]
    asked = len(providers.exchanges)
    again = [run(together) for together in (True, False)]
    assert len(providers.exchanges) == asked
    assert [result.usage for result in again] == [(), ()]
    assert [result.metrics for result in again] == [result.metrics for result in first]
    times = [result.queries.stages["embed"] for result in first]
    assert (times[0] != times[1]).any()  # the share of a batch is never the time of one question
    for result, before in zip(again, times, strict=True):
        np.testing.assert_array_equal(result.queries.stages["embed"], before)  # not those of reading a file
        (told,) = [note for note in result.notes if "was not asked again" in note]
        assert "the time of `embed` is what it took then" in told
    assert not [note for result in first for note in result.notes if "was not asked again" in note]


def test_new_questions_are_sent_alone(providers, tmp_path):
    entries, corpus = [*load_handbook()], load_handbook().corpus
    for some in (entries[:5], entries[:7]):
        before = len(providers.exchanges)
        evaluate(
            VectorRAGRetriever(embedder=OpenAIEmbedder()),
            Dataset(some, TOKEN, corpus=corpus),
            save_results_path=tmp_path,
        )
    assert [content["input"] for content in sent(providers)[before:]] == [[entry.query.text for entry in entries[5:7]]]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_what_is_answered_after_ctrl_c_is_kept(providers, tmp_path):
    providers.fault("POST /v1/embeddings", delay=1.0, times=None)
    embedder = CachedEmbedder(OpenAIEmbedder(batch_size=1, max_concurrency=3), root=tmp_path)
    Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        embedder.embed([f"text {number}" for number in range(9)])
    assert providers.counts() == {"POST /v1/embeddings": 3}
    (kept,) = kept_vectors(EmbeddingCache(tmp_path))
    assert kept[1] == 3
