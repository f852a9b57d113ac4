import gzip
import json
import re
import socket
import threading
from contextlib import contextmanager, nullcontext
from itertools import repeat

import pytest
import yaml

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
from rag_evaluation_framework.components.engines import HttpEngine
from rag_evaluation_framework.components.retrievers import EngineRetriever, clean_up
from rag_evaluation_framework.errors import ConfigError, DatasetError, InputError
from rag_evaluation_framework.runs.spec import make_engine
from support.each import each
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
        clean_up(retriever, "always", failed=False)
    assert behind.documents.keys() == {"eval:ab:1"}
    assert result.config["retriever"]["engine"] == {
        "type": "http",
        "url": url,
        "allow_remote": False,
        "token_env": None,
        "timeout": 60.0,
    }


def test_an_engine_that_tells_nothing_can_only_retrieve():
    with served(MemoryEngine(CORPUS), abilities=None) as url:
        assert evaluate(EngineRetriever(HttpEngine(url), "eval:a:"), dataset_of(), 5).metrics["recall@5"] == 1.0
        with pytest.raises(ConfigError, match="has no ingest and no delete"):
            EngineRetriever(HttpEngine(url), "eval:a:", ingest=True)
        with pytest.raises(DatasetError, match="does not honour"):
            evaluate(EngineRetriever(HttpEngine(url)), dataset_of(metadataConstraints={"lang": "en"}), 5)


@each(
    ("status", "body", "told"),
    [
        *((status, b"", f"answered with status {status}: .*; expected 404, or 200") for status in (302, 401, 500)),
        *(
            (200, body, "200 and an object with abilities|something else than JSON")
            for body in (b'{"abilities": "ingest"}', b"[1]", b'{"abilities": [1]}', b"<html>")
        ),
    ],
)
def test_abilities_that_cannot_be_read_are_refused(status, body, told):
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with raw_server(lambda: (head + body,), threading.Event()) as (url, _), pytest.raises(ConfigError, match=told):
        _ = HttpEngine(url).abilities


def test_an_engine_that_is_not_running_is_told_at_once_and_one_that_is_gone_is_a_failure_of_the_question():
    with served(MemoryEngine(CORPUS)) as url:
        engine = HttpEngine(url)
    result = evaluate(EngineRetriever(engine, "eval:a:"), dataset_of(), 5)
    assert result.counts["failed"] == 1
    assert "Connection refused" in result.failures["q1"][0].message
    with pytest.raises(ConfigError, match=r"Connection refused; is the engine running there\?"):
        _ = HttpEngine(url).abilities
    for host in ("a..b", f"{'a' * 300}.de"):  # that no machine has
        with pytest.raises(ConfigError, match=r"is the engine running there\?"):
            _ = HttpEngine(f"http://{host}", allow_remote=True).abilities


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


@pytest.mark.parametrize("token", ["s3cret-of-the-test", "p@55!w0rd#x9\n", "\r\n correct horse \n"])
def test_a_token_of_the_environment_is_sent_without_the_white_space_around_it_and_never_shown(monkeypatch, token):
    monkeypatch.setenv("TOK", token)
    behind, inside = MemoryEngine(CORPUS), token.strip()
    with served(behind, answer=lambda *_: (f"{inside} is wrong".encode(), 401)) as url:
        engine = HttpEngine(url, token_env="TOK")
        result = evaluate(EngineRetriever(engine, "eval:a:"), dataset_of(), 5)
    assert behind.headers["Authorization"] == f"Bearer {inside}"
    assert inside not in repr(engine) + repr(result.failures) + str(result.config)
    assert "answered with status 401: '*** is wrong'" in result.failures["q1"][0].message
    monkeypatch.delenv("TOK")
    with pytest.raises(ConfigError, match="expected an environment variable that is set"):
        HttpEngine("http://127.0.0.1:9", token_env="TOK")


@pytest.mark.parametrize("token", ["hunter\nzwo-geheim", "hunter-zwö-geheim", "hunter\x01zwo-geheim"])
def test_a_token_that_cannot_be_sent_is_refused_and_not_quoted(monkeypatch, token):
    monkeypatch.setenv("TOK", token)
    with pytest.raises(ConfigError, match=r"token_env='TOK'; expected .* that is set, to printable") as caught:
        HttpEngine("http://127.0.0.1:9", token_env="TOK")
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(("status", "works"), [(200, True), (201, True), (204, True), (302, False), (404, False)])
def test_any_status_of_success_is_one_where_documents_are_written(status, works):
    with served(MemoryEngine(), answer=lambda *_: (b"", status)) as url:
        engine = HttpEngine(url)
        for step in (lambda: engine.ingest(next(iter(CORPUS))), lambda: engine.delete("eval:a:")):
            with (
                nullcontext() if works else pytest.raises(InputError, match=f"status {status}: .*; expected 200 to 299")
            ):
                step()


METHODS = {
    "abilities": lambda engine: engine.abilities,
    "retrieve": lambda engine: engine.retrieve("q", 5, ""),
    "ingest": lambda engine: engine.ingest(next(iter(CORPUS))),
    "delete": lambda engine: engine.delete("eval:a:"),
    "rerank": lambda engine: engine.rerank("q", ["text"]),
}


@contextmanager
def raw_server(parts, until):
    """Answer every request with parts of bytes; between two of them it waits a moment, and ends early once told."""
    asked = []

    def serve():
        while not until.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection:
                asked.append(connection.recv(65_536))
                for part in parts():
                    if until.wait(0.02):
                        break
                    connection.sendall(part)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        finally:
            until.set()
            thread.join()


@pytest.mark.parametrize(
    ("method", "begin", "step"),
    [
        *((method, b"HTTP/1.1 200 OK\r\n", b"A: b\r\n") for method in METHODS),
        ("ingest", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
    ],
)
def test_an_answer_that_comes_drop_by_drop_is_ended(method, begin, step):
    until = threading.Event()
    with (
        raw_server(lambda: (begin, *repeat(step, 100)), until) as (url, _),
        pytest.raises(InputError, match=r"took longer than 0\.3 seconds; if it needs more, set .*HttpEngine") as late,
    ):
        METHODS[method](HttpEngine(url, timeout=0.3))
    advised = yaml.safe_load(re.search(r"\{.*\}", str(late.value))[0])
    assert make_engine(advised, imports=False, allow_remote=False) == HttpEngine(url, timeout=3.0)


@pytest.mark.parametrize("method", METHODS)
def test_a_compressed_answer_is_not_asked_for_and_refused_undecoded(method):
    body = gzip.compress(json.dumps({"hits": [], "scores": [1], "abilities": []}).encode())
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with raw_server(lambda: (head + body,), threading.Event()) as (url, asked):
        with pytest.raises(InputError, match=r"answered in encoding 'gzip'; expected Accept-Encoding: identity"):
            METHODS[method](HttpEngine(url))
        assert b"accept-encoding: identity\r\n" in asked[0].lower()


@pytest.mark.parametrize("method", METHODS)
def test_the_size_of_every_answer_is_limited(method, monkeypatch):
    monkeypatch.setattr("rag_evaluation_framework.components.engines.http._LARGEST", 1 << 20)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {1 << 21}\r\n\r\n".encode()
    with (
        raw_server(lambda: (head, *repeat(b" " * (1 << 18), 8)), threading.Event()) as (url, _),
        pytest.raises(InputError, match="answered more than 1 MiB"),
    ):
        METHODS[method](HttpEngine(url))


def test_without_a_timeout_an_answer_may_take_its_time():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"
    with raw_server(lambda: (head, *(bytes([byte]) for byte in b'{"hits": []}')), threading.Event()) as (url, _):
        assert HttpEngine(url, timeout=None).retrieve("q", 5, "") == {"hits": []}


@pytest.mark.parametrize("value", [float("nan"), {1}, b"x", {"a": object()}])
def test_constraints_that_are_not_json_are_refused(value):
    with pytest.raises(InputError, match=r"/retrieve: .* is not JSON: \w"):
        HttpEngine("http://127.0.0.1:9").retrieve("q", 5, "", {"lang": value})


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with served(MemoryEngine(CORPUS)) as url:
        assert HttpEngine(url).abilities


def test_loopback_has_several_names_and_another_machine_can_be_allowed():
    for url in ("http://localhost:8000/", "http://[::1]:8000", "http://127.1.2.3/api"):
        assert HttpEngine(url).url == url.rstrip("/")
    assert HttpEngine("https://example.com/search", allow_remote=True).name == "https://example.com/search"
