import socket
from contextlib import nullcontext

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    evaluate,
)
from rag_evaluation_framework.engines import HttpEngine
from rag_evaluation_framework.errors import ConfigError, DatasetError, InputError
from rag_evaluation_framework.retrievers import EngineRetriever, clean_up
from support.engines import MemoryEngine, served

CORPUS = Corpus(
    [
        Document(DocumentId("eval:a:1"), "Refunds take five days. – 💶", {"lang": "en"}),
        Document(DocumentId("eval:a:2"), "Parcels carry a number.", {"lang": "de"}),
    ]
)


def dataset_of(**kept):
    truth = [DocumentLevelGroundTruth(Query("q1", "How long do refunds take?", kept), [DocumentId("eval:a:1")])]
    return Dataset(truth, DOCUMENT, corpus=CORPUS)


def failure_of(url, **options):
    result = evaluate(EngineRetriever(HttpEngine(url), "eval:a:"), dataset_of(), 5, **options)
    return result.failures["q1"][0].message


def test_the_whole_protocol_over_a_socket():
    behind = MemoryEngine([Document(DocumentId("eval:ab:1"), "Refunds of others.")])
    with served(behind) as url:
        retriever = EngineRetriever(HttpEngine(url), "eval:a:", ingest=True)
        result = evaluate(retriever, dataset_of(metadataConstraints={"lang": "en"}), 5, budgets=[])
        assert result.metrics["recall@5"] == 1.0
        assert behind.documents["eval:a:1"] == CORPUS["eval:a:1"]
        assert HttpEngine(url).rerank("q", ["long text", "text"]) == [-9, -4]
        clean_up(retriever, "always", None)
    assert behind.documents.keys() == {"eval:ab:1"}
    assert result.config["retriever"]["engine"] == {
        "type": "http",
        "url": url,
        "allow_remote": False,
        "token_env": None,
    }


def test_an_engine_that_tells_nothing_can_only_retrieve():
    with served(MemoryEngine(CORPUS), abilities=None) as url:
        assert evaluate(EngineRetriever(HttpEngine(url), "eval:a:"), dataset_of(), 5).metrics["recall@5"] == 1.0
        with pytest.raises(ConfigError, match="has no ingest and no delete"):
            EngineRetriever(HttpEngine(url), "eval:a:", ingest=True)
        with pytest.raises(DatasetError, match="does not honour"):
            evaluate(EngineRetriever(HttpEngine(url)), dataset_of(metadataConstraints={"lang": "en"}), 5)


@pytest.mark.parametrize("status", [302, 401, 500])
def test_a_status_that_says_nothing_about_abilities_is_told(status):
    told = f"answered with status {status}: .*; expected 200 or 404"
    with served(MemoryEngine(), abilities=(), status=status) as url, pytest.raises(ConfigError, match=told):
        _ = HttpEngine(url).abilities


@pytest.mark.parametrize("told", [b'{"abilities": "ingest"}', b"[1]", b'{"abilities": [1]}', b"<html>"])
def test_abilities_that_cannot_be_read_are_refused(told, monkeypatch):
    engine = MemoryEngine()
    with served(engine) as url:
        monkeypatch.setattr("json.dumps", lambda *_, **__: told.decode())
        with pytest.raises(ConfigError, match=r"expected an object with abilities|something else than JSON"):
            _ = HttpEngine(url).abilities


def test_an_engine_that_is_not_running_is_told_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConfigError, match=r"Connection refused; is the engine running there\?"):
        _ = HttpEngine(url).abilities


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((b"oops", 500), "answered with status 500: 'oops'; expected 200"),
        ((b"", 302), "answered with status 302"),
        ((b"<html>", 200), "answered something else than JSON"),
        ((b'{"hits": [{"doc_id": "a", "score": NaN}]}', 200), "answered something else than JSON"),
        ((b'{"hits": 5}', 200), "expected"),
        ((b"[5]", 200), "returned a result of type int"),
        ((b"null", 200), "expected a list"),
        ((b'{"hits": [{"start": 1}]}', 200), "expected"),
        ((b'{"hits": [{"doc_id": "eval:a:1", "start": 5, "end": 2}]}', 200), "expected 0 <= start <= end"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_a_failure_of_the_question(answer, said):
    with served(MemoryEngine(CORPUS), answer=lambda path, _: answer if path == "/retrieve" else None) as url:
        assert said in failure_of(url)


def test_an_engine_that_is_gone_is_a_failure_of_the_question():
    with served(MemoryEngine(CORPUS)) as url:
        engine = HttpEngine(url)
    result = evaluate(EngineRetriever(engine, "eval:a:"), dataset_of(), 5)
    assert result.counts["failed"] == 1
    assert "Connection refused" in result.failures["q1"][0].message


def test_a_token_of_the_environment_is_sent_and_never_shown(monkeypatch):
    monkeypatch.setenv("ENGINE_TOKEN", "s3cret-of-the-test")
    behind = MemoryEngine(CORPUS)
    with served(behind, answer=lambda *_: (b"s3cret-of-the-test is wrong", 401)) as url:
        engine = HttpEngine(url, token_env="ENGINE_TOKEN")
        result = evaluate(EngineRetriever(engine, "eval:a:"), dataset_of(), 5)
    assert behind.headers["Authorization"] == "Bearer s3cret-of-the-test"
    assert "s3cret" not in repr(engine) + repr(result.failures) + str(result.config)
    assert "status 401" in result.failures["q1"][0].message
    monkeypatch.delenv("ENGINE_TOKEN")
    with pytest.raises(ConfigError, match="expected an environment variable that is set"):
        HttpEngine("http://127.0.0.1:9", token_env="ENGINE_TOKEN")


@pytest.mark.parametrize("token", ["p@55!w0rd#x9\n", "\r\n correct horse \n", "hunterzwosecret\n"])
def test_white_space_around_a_token_is_not_sent_and_what_is_inside_never_shown(monkeypatch, token):
    monkeypatch.setenv("TOK", token)
    behind, inside = MemoryEngine(CORPUS), token.strip()
    with served(behind, answer=lambda *_: (f"{inside} is wrong".encode(), 401)) as url:
        result = evaluate(EngineRetriever(HttpEngine(url, token_env="TOK"), "eval:a:"), dataset_of(), 5)
    assert behind.headers["Authorization"] == f"Bearer {inside}"
    assert "'*** is wrong'" in result.failures["q1"][0].message


@pytest.mark.parametrize("token", ["hunter\nzwo-geheim", "hunter-zwö-geheim", "hunter\x01zwo-geheim"])
def test_a_token_that_cannot_be_sent_is_refused_and_not_quoted(monkeypatch, token):
    monkeypatch.setenv("TOK", token)
    with pytest.raises(ConfigError, match="the token in 'TOK' cannot be sent; expected printable") as caught:
        HttpEngine("http://127.0.0.1:9", token_env="TOK")
    assert "hunter" not in str(caught.value)


def test_a_password_of_the_environment_that_comes_back_over_http_is_hidden(monkeypatch):
    monkeypatch.setenv("ENGINE_PASSWORD", "correct horse")
    with served(MemoryEngine(CORPUS), answer=lambda *_: (b"correct horse is wrong", 500)) as url:
        result = evaluate(EngineRetriever(HttpEngine(url), "eval:a:"), dataset_of(), 5)
    assert "'*** is wrong'" in result.failures["q1"][0].message


@pytest.mark.parametrize(("status", "works"), [(200, True), (201, True), (204, True), (302, False), (404, False)])
def test_any_status_of_success_is_one_where_documents_are_written(status, works):
    with served(MemoryEngine(), answer=lambda *_: (b"", status)) as url:
        engine = HttpEngine(url)
        for step in (lambda: engine.ingest(next(iter(CORPUS))), lambda: engine.delete("eval:a:")):
            with (
                nullcontext() if works else pytest.raises(InputError, match=f"status {status}: .*; expected 200 to 299")
            ):
                step()


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with served(MemoryEngine(CORPUS)) as url:
        assert HttpEngine(url).abilities


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://127.0.0.1", "expected a URL such as"),
        ("127.0.0.1:8000", "expected a URL such as"),
        ("http://", "expected a URL such as"),
        ("http://127.0.0.1:99999", "out of range"),
        ("http://127.0.0.1/?a=b", "without [?] and #"),
        ("http://127.0.0.1/?", "without [?] and #"),
        ("http://127.0.0.1/#", "without [?] and #"),
        ("http://me:pw@127.0.0.1", "holds a user or a password"),
        ("http://example.com", "is another machine"),
        ("http://127.0.0.1.example.com", "is another machine"),
        ("http://10.0.0.1", "is another machine"),
        (7, "expected a URL such as"),
    ],
)
def test_a_url_that_is_none_or_of_another_machine_is_refused(url, said):
    with pytest.raises(ConfigError, match=said):
        HttpEngine(url)


@pytest.mark.parametrize("url", ["http://localhost:8000/", "http://[::1]:8000", "http://127.1.2.3/api"])
def test_loopback_has_several_names(url):
    assert HttpEngine(url).url == url.rstrip("/")


def test_another_machine_can_be_allowed():
    assert HttpEngine("https://example.com/search", allow_remote=True).name == "https://example.com/search"
