"""What can go wrong on the way to a provider and back, for each component that asks one.

Every fault ends in a known class of error after a known number of requests, or in exactly the vectors and scores that
an undisturbed run has: nothing is mislabelled, and nothing that was finished is lost.
"""

import base64
import json

import numpy as np
import pytest

from rag_eval_loopback.models import share_of_words, vector
from rag_evaluation_framework import CohereReranker, OpenAIEmbedder
from rag_evaluation_framework.components import CachedEmbedder, CohereEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.providers import calls, track_usage
from rag_evaluation_framework.errors import InvalidAnswer, ProviderError, ProviderRefused, ProviderUnavailable
from support.provider_clients import client_of

TEXTS = [f"Text {number} is about refunds and {'invoices ' * number}." for number in range(6)]
NOTHING = (InvalidAnswer, 3)  # asked three times: max_retries is 2
ONCE, TWICE = (None, 1), (None, 2)
EMBEDDINGS, EMBED, RERANK = "POST /v1/embeddings", "POST /v2/embed", "POST /v2/rerank"

ANYWHERE = {
    "429 with Retry-After": ([{"status": 429, "headers": {"Retry-After": "0.05"}}], TWICE),
    "429 with a date": ([{"status": 429, "headers": {"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}}], TWICE),
    "429 for too long": ([{"status": 429, "headers": {"Retry-After": "600"}}], (ProviderUnavailable, 1)),
    "500 twice, then success": ([{"status": 500, "times": 2}], (None, 3)),
    "500 for good": ([{"status": 500, "times": None}], (ProviderUnavailable, 3)),
    "a gateway's page": ([{"status": 502, "body": "<html>", "headers": {"Content-Type": "text/html"}}], TWICE),
    "timeout": ([{"delay": 30.0}], TWICE),
    "timeout for good": ([{"delay": 30.0, "times": None}], (ProviderUnavailable, 3)),
    "dropped connection": ([{"drop": True}], TWICE),
    "dropped for good": ([{"drop": True, "times": None}], (ProviderUnavailable, 3)),
    "answer lost on the way": ([{"drop": True, "lost": True}], TWICE),
    "one fault after another": ([{"status": 503}, {"drop": True}], (None, 3)),
    "wrong key": ([{"status": 401}], (ProviderRefused, 1)),
    "unknown model": ([{"status": 404}], (ProviderRefused, 1)),
    "refused request": ([{"status": 400}], (ProviderRefused, 1)),
    "malformed JSON once": ([{"body": b'{"data": ['}], TWICE),
    "malformed JSON": ([{"body": b'{"data": [', "times": None}], NOTHING),
    "empty body": ([{"body": b"", "times": None}], NOTHING),
    "HTML": ([{"body": "<html></html>", "headers": {"Content-Type": "text/html"}, "times": None}], NOTHING),
    "wrong shape": ([{"body": {}, "times": None}], NOTHING),
    "a list": ([{"body": [1, 2], "times": None}], NOTHING),
    "null": ([{"body": b"null", "times": None}], NOTHING),
}


def openai_rows(change):
    """Return a fault that changes the list of vectors."""
    return {"change": lambda answer: answer | {"data": change(answer["data"])}, "times": None}


def openai_first(**fields):
    return openai_rows(lambda data: [data[0] | fields, *data[1:]])


def cut(embedding, count):
    return base64.b64encode(base64.b64decode(embedding)[:count]).decode()


NAN = base64.b64encode(np.full(1536, np.nan, "<f4").tobytes()).decode()
OPENAI = ANYWHERE | {
    "other order": ([openai_rows(lambda data: data[::-1])], ONCE),
    "numbers instead of base64": (
        [openai_rows(lambda data: [row | {"embedding": floats(row["embedding"])} for row in data])],
        ONCE,
    ),
    "no usage": ([{"change": lambda answer: {"data": answer["data"]}}], ONCE),
    "no data": ([openai_rows(lambda data: [])], NOTHING),
    "data of another kind": ([openai_rows(lambda data: "abc")], NOTHING),
    "items of another kind": ([openai_rows(lambda data: [None] * len(data))], NOTHING),
    "junk base64": ([openai_first(embedding="%%%")], NOTHING),
    "base64 that is cut": (
        [openai_rows(lambda data: [data[0] | {"embedding": cut(data[0]["embedding"], 4001)}])],
        NOTHING,
    ),
    "base64 of fewer numbers": (
        [openai_rows(lambda data: [data[0] | {"embedding": cut(data[0]["embedding"], 4000)}, *data[1:]])],
        NOTHING,
    ),
    "empty vectors": ([openai_rows(lambda data: [row | {"embedding": ""} for row in data])], NOTHING),
    "too few": ([openai_rows(lambda data: data[:-1])], NOTHING),
    "too many": ([openai_rows(lambda data: [*data, data[0] | {"index": len(data)}])], NOTHING),
    "doubled index": ([openai_first(index=1)], NOTHING),
    "all twice": ([openai_rows(lambda data: data * 2)], NOTHING),
    "index out of range": ([openai_first(index=99)], NOTHING),
    "index below 0": ([openai_first(index=-1)], NOTHING),
    "no index": ([openai_rows(lambda data: [{"embedding": row["embedding"]} for row in data])], NOTHING),
    "NaN in base64": ([openai_first(embedding=NAN)], NOTHING),
    "NaN": ([openai_first(embedding=[float("nan")] * 1536)], NOTHING),
    "infinity": ([openai_first(embedding=[float("inf")] * 1536)], NOTHING),
    "beyond single precision": ([openai_first(embedding=[1e300] * 1536)], NOTHING),
    "null in a vector": ([openai_first(embedding=[None] * 1536)], NOTHING),
    "strings for numbers": ([openai_rows(lambda data: [row | {"embedding": ["0.1"] * 1536} for row in data])], NOTHING),
    "some strings for numbers": ([openai_first(embedding=["0.1"] * 1536)], NOTHING),
    "vectors in vectors": ([openai_rows(lambda data: [row | {"embedding": [[0.1]] * 4} for row in data])], NOTHING),
    "vectors of two lengths": ([openai_first(embedding=[0.1] * 3)], NOTHING),
}


def floats(embedding):
    return np.frombuffer(base64.b64decode(embedding), "<f4").tolist()


def cohere_rows(change):
    return {
        "change": lambda answer: answer | {"embeddings": {"float": change(answer["embeddings"]["float"])}},
        "times": None,
    }


COHERE = ANYWHERE | {
    "no meta": ([{"change": lambda answer: {key: answer[key] for key in ("id", "embeddings")}}], ONCE),
    "no vectors": ([cohere_rows(lambda rows: [])], NOTHING),
    "vectors of another form": (
        [{"change": lambda a: a | {"embeddings": {"int8": [[1, 2]] * 6}}, "times": None}],
        NOTHING,
    ),
    "too few": ([cohere_rows(lambda rows: rows[:-1])], NOTHING),
    "too many": ([cohere_rows(lambda rows: [*rows, rows[0]])], NOTHING),
    "NaN": ([cohere_rows(lambda rows: [[float("nan")] * 1536, *rows[1:]])], NOTHING),
    "infinity": ([cohere_rows(lambda rows: [[float("-inf")] * 1536, *rows[1:]])], NOTHING),
    "null in a vector": ([cohere_rows(lambda rows: [[None] * 1536, *rows[1:]])], NOTHING),
    "strings for numbers": ([cohere_rows(lambda rows: [["high"] * 1536 for _ in rows])], NOTHING),
    "vectors in vectors": ([cohere_rows(lambda rows: [[[0.1]] * 4 for _ in rows])], NOTHING),
    "vectors of two lengths": ([cohere_rows(lambda rows: [[0.1], *rows[1:]])], NOTHING),
    "empty vectors": ([cohere_rows(lambda rows: [[] for _ in rows])], NOTHING),
}


def results(change):
    return {"change": lambda answer: answer | {"results": change(answer["results"])}, "times": None}


def first_result(**fields):
    return results(lambda found: [found[0] | fields, *found[1:]])


RERANKER = ANYWHERE | {
    "other order": ([results(lambda found: found[::-1])], ONCE),
    "no meta": ([{"change": lambda answer: {"results": answer["results"]}}], ONCE),
    "no results": ([results(lambda found: [])], NOTHING),
    "results of another kind": ([results(lambda found: "abc")], NOTHING),
    "too few": ([results(lambda found: found[1:])], NOTHING),
    "too many": ([results(lambda found: [*found, found[0]])], NOTHING),
    "doubled index": ([results(lambda found: [found[1], *found[1:]])], NOTHING),
    "index out of range": ([first_result(index=99)], NOTHING),
    "index below 0": ([first_result(index=-1)], NOTHING),
    "no index": ([first_result(index=None)], NOTHING),
    "NaN": ([first_result(relevance_score=float("nan"))], NOTHING),
    "infinity": ([first_result(relevance_score=float("inf"))], NOTHING),
    "no score": ([first_result(relevance_score=None)], NOTHING),
    "strings for numbers": ([first_result(relevance_score="high")], NOTHING),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(calls, "_FIRST_WAIT", 0.002)
    monkeypatch.setattr(calls, "_FIRST_BUSY_WAIT", 0.002)


def patience(faults):
    return 1.0 if "delay" in faults[0] else 30.0


def check(providers, route, faults, expected, asked, right):
    """Check what comes of faults, that nothing else is asked for, and that afterwards all is well."""
    error, requests = expected
    for fault in faults:
        providers.fault(route, **fault)
    with track_usage() as usage:
        if error is None:
            assert np.array_equal(asked(), right)
        else:
            with pytest.raises(error) as failed:
                asked()
            assert type(failed.value) is error
            assert failed.value.attempts == requests
    assert providers.counts() == {route: requests}
    # A request that is made again is the same; none of these providers knows a key by which it could be told.
    assert len({json.dumps(exchange.request.json) for exchange in providers.exchanges}) == 1
    assert all("idempotency" not in name.lower() for each in providers.exchanges for name in each.request.headers)
    assert (usage.total.requests, usage.total.retries) == (requests, requests - 1)
    providers.clear_faults()
    assert np.array_equal(asked(), right)


@pytest.mark.parametrize(("faults", "expected"), OPENAI.values(), ids=OPENAI)
def test_openai_embedder(providers, faults, expected):
    embedder = OpenAIEmbedder(max_retries=2, timeout=patience(faults))
    right = np.array([vector(text, 1536) for text in TEXTS])
    check(providers, EMBEDDINGS, faults, expected, lambda: embedder.embed(TEXTS), right)


@pytest.mark.parametrize(("faults", "expected"), COHERE.values(), ids=COHERE)
def test_cohere_embedder(providers, faults, expected):
    embedder = CohereEmbedder(max_retries=2, timeout=patience(faults))
    right = np.array([vector(text, 1536, "search_document") for text in TEXTS])
    check(providers, EMBED, faults, expected, lambda: embedder.embed(TEXTS), right)


@pytest.mark.parametrize(("faults", "expected"), RERANKER.values(), ids=RERANKER)
def test_cohere_reranker(providers, faults, expected):
    reranker, query = CohereReranker(max_retries=2, timeout=patience(faults)), "3 invoices"
    right = np.array([share_of_words(query, text) for text in TEXTS])
    check(providers, RERANK, faults, expected, lambda: reranker.scores(query, TEXTS), right)


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_clients_of_openai_of_ones_own_embed_side_by_side(providers, kind):
    texts = [f"text {number}" for number in range(100)]
    providers.fault(EMBEDDINGS, status=429, headers={"retry-after-ms": "10"}, times=5)
    providers.fault(EMBEDDINGS, drop=True, times=2)
    with client_of(kind, providers.url) as client:
        vectors = OpenAIEmbedder(client=client, batch_size=3, max_concurrency=8).embed(texts)
    assert np.array_equal(vectors, [vector(text, 1536) for text in texts])
    assert providers.counts()[EMBEDDINGS] == 34 + 7


@pytest.mark.parametrize("kind", ["ClientV2", "AsyncClientV2"])
def test_clients_of_cohere_of_ones_own_embed_and_rank_side_by_side(providers, kind):
    texts = [f"text {number}" for number in range(100)]
    providers.fault(EMBED, status=429, headers={"retry-after-ms": "10"}, times=5)
    providers.fault(RERANK, drop=True)
    with client_of(kind, providers.url) as client:
        vectors = CohereEmbedder(client=client, batch_size=3, max_concurrency=8).embed(texts)
        scores = CohereReranker(client=client).scores("text 7", texts)
    assert np.array_equal(vectors, [vector(text, 1536, "search_document") for text in texts])
    assert np.array_equal(scores, [share_of_words("text 7", text) for text in texts])
    assert providers.counts() == {EMBED: 34 + 5, RERANK: 2}


BATCHES = [f"{'long ' * (20 - number)}{number}" for number in range(20)]  # a batch each, sent in this order


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize(
    ("kind", "route", "fault"),
    [
        (OpenAIEmbedder, EMBEDDINGS, {"status": 400}),
        (OpenAIEmbedder, EMBEDDINGS, {"change": lambda answer: answer | {"data": []}, "times": 2}),
        (CohereEmbedder, EMBED, {"status": 403}),
    ],
    ids=["refused", "nonsense", "forbidden"],
)
def test_no_finished_work_is_lost_when_one_batch_fails_for_good(providers, tmp_path, kind, route, fault, at_once):
    def embedder():
        return CachedEmbedder(kind(batch_size=1, max_concurrency=at_once, max_retries=0), root=tmp_path)

    providers.fault(route, after=9, **fault)
    with pytest.raises(ProviderError):
        embedder().embed(BATCHES)
    answered = [asked(exchange) for exchange in providers.exchanges]
    failed = set(answered) - set(kept(tmp_path, embedder()))
    assert 1 <= len(failed) <= min(at_once, 2)
    assert 10 <= len(answered) < (11 if at_once == 1 else len(BATCHES))  # others may begin until the failure is seen
    providers.clear_faults()
    before = len(providers.exchanges)
    vectors = embedder().embed(BATCHES)
    again = [asked(exchange) for exchange in providers.exchanges[before:]]
    assert sorted(again) == sorted({*BATCHES} - {*answered} | failed)
    role = "" if kind is OpenAIEmbedder else "search_document"
    assert np.array_equal(vectors, [vector(text, 1536, role) for text in BATCHES])
    embedder().embed(BATCHES)
    assert len(providers.exchanges) == before + len(again)


def asked(exchange):
    content = exchange.request.json
    (text,) = content.get("input") or content["texts"]
    return text


def kept(root, embedder):
    return EmbeddingCache(root).get(embedder._identity, BATCHES)
