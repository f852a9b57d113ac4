"""The server: what arrives is recorded as it came, and faults befall the requests that they are meant for."""

import gzip
import json
import socket
import threading
import time
from contextlib import closing
from http.client import HTTPConnection, RemoteDisconnected

import pytest
import zstandard

from rag_eval_loopback.server import (
    Answer,
    LoopbackServer,
    Refused,
    Route,
    field_of,
    text_of,
)
from rag_evaluation_framework.errors import ConfigError

ECHO = "POST /echo"


def error(status, message):
    return {"said": message, "status": status}


def echo(request):
    return Answer({"got": request.json, "query": request.query, "values": request.values})


def refuse(request):
    raise Refused(422, f"not {request.json}")


def fail(request):
    raise RuntimeError("of the route's own making")


@pytest.fixture
def server():
    routes = [
        Route(ECHO, echo, error),
        Route("GET /things/{id}/parts/{part}", echo, error),
        Route("PUT /things/{id}", refuse, error),
        Route("GET /fails", fail, error),
        Route("GET /text", lambda _: Answer("é", 201, {"Content-Type": "text/plain", "X-More": "yes"}), error),
    ]
    server = LoopbackServer(routes)
    server.start()
    yield server
    server.stop()


def ask(server, method, path, content=None, headers=None, *, broken=False):
    """Return status, headers and body of an answer, as JSON if it says so, over a connection of its own."""
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        body = content if isinstance(content, bytes) or content is None else json.dumps(content)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        read = answer.read()
        is_json = answer.headers["Content-Type"] == "application/json" and not broken
        return answer.status, dict(answer.headers), json.loads(read) if is_json else read


def test_a_request_reaches_its_route_and_is_answered_with_status_and_headers(server):
    # A request reaches its route with its body its query and what stands in its path:
    assert ask(server, "POST", "/echo?a=1&a=2&b=", {"x": "é"})[2] == {
        "got": {"x": "é"},
        "query": {"a": ["1", "2"], "b": [""]},
        "values": {},
    }
    status, _, found = ask(server, "GET", "/things/a%2Fb/parts/c%20d")
    assert (status, found["values"], found["got"]) == (200, {"id": "a/b", "part": "c d"}, None)

    # Text is answered as it is with its status and headers:
    status, headers, body = ask(server, "GET", "/text")
    assert (status, body) == (201, "é".encode())
    assert headers["X-More"] == "yes"
    assert headers["Content-Type"] == "text/plain"

    # Refusals failures and unknown paths are answered as their provider would:
    assert ask(server, "PUT", "/things/1", 5)[::2] == (422, {"said": "not 5", "status": 422})
    assert ask(server, "GET", "/fails")[::2] == (
        400,
        {"said": "RuntimeError: of the route's own making", "status": 400},
    )
    assert ask(server, "POST", "/echo", b"{no json")[0] == 400
    status, _, found = ask(server, "DELETE", "/echo")
    assert (status, found["detail"]) == (405, "the loopback server has no route DELETE /echo")

    # A body that comes in chunks is read:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.request("POST", "/echo", iter([b'{"n":', b" 1}"]), encode_chunked=True)
        assert json.loads(connection.getresponse().read())["got"] == {"n": 1}


def test_what_arrived_is_recorded_in_order_with_its_status_and_headers_hold_no_secret_when_shown(server):
    ask(server, "POST", "/echo", {"n": 1}, {"Authorization": "Bearer qz-9-odd"})
    ask(server, "PUT", "/things/1", 5, {"x-api-key": "qz-9-odd"})
    ask(server, "GET", "/nowhere")
    first, second, third = server.exchanges
    assert [first.route, second.route, third.route] == [ECHO, "PUT /things/{id}", "GET /nowhere"]
    assert [each.status for each in server.exchanges] == [200, 422, 405]
    assert (first.request.json, first.request.key, second.request.key) == ({"n": 1}, "qz-9-odd", "qz-9-odd")
    assert "qz-9-odd" not in repr(server.exchanges)
    assert server.counts() == {ECHO: 1, "PUT /things/{id}": 1, "GET /nowhere": 1}


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress), ("zstd", zstandard.ZstdCompressor().compress), ("", bytes)],
)
def test_a_compressed_body_is_read(server, encoding, packed):
    body = packed(json.dumps({"n": [1, 2, 3]}).encode())
    assert ask(server, "POST", "/echo", body, {"Content-Encoding": encoding})[2]["got"] == {"n": [1, 2, 3]}


def test_a_connection_is_kept_for_many_requests_and_none_of_them_waits(server, monkeypatch):
    packets = []
    for name, send in {name: getattr(socket.socket, name) for name in ("send", "sendall")}.items():

        def noted(self, data, send=send):
            packets.append(bytes(data))
            return send(self, data)

        monkeypatch.setattr(socket.socket, name, noted)
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.connect()
        kept = connection.sock
        for number in range(3):
            connection.request("POST", "/echo", json.dumps(number))
            answer = connection.getresponse().read()
            assert json.loads(answer)["got"] == number
            assert connection.sock is kept
            headers = [packet for packet in packets if packet.startswith(b"HTTP/")]
            assert headers[-1].endswith(answer)  # 40 ms more if headers and body went in two packets


def test_faults_befall_their_route_in_their_order(server):
    # A fault befalls the next requests of its route and no others:
    server.fault(ECHO, status=429, headers={"Retry-After": "7"}, times=2)
    assert ask(server, "GET", "/text")[0] == 201
    status, headers, found = ask(server, "POST", "/echo", 1)
    assert (status, headers["Retry-After"]) == (429, "7")
    assert found == {"said": "status 429, as was asked for", "status": 429}
    assert [ask(server, "POST", "/echo", 1)[0] for _ in range(3)] == [429, 200, 200]

    # Faults come in their order after as many good answers as was said:
    server.fault(ECHO, status=500, after=1)
    server.fault(ECHO, status=503, after=2, times=None)
    assert [ask(server, "POST", "/echo", 1)[0] for _ in range(7)] == [200, 500, 200, 200, 503, 503, 503]
    server.clear_faults()
    assert ask(server, "POST", "/echo", 1)[0] == 200

    # An answer is replaced or changed:
    server.fault(ECHO, body=b"{not json")
    server.fault(ECHO, body="<html>", headers={"Content-Type": "text/html"})
    server.fault(ECHO, body={"got": 2}, status=202)
    server.fault(ECHO, change=lambda answer: answer | {"more": 1})
    assert ask(server, "POST", "/echo", 1, broken=True)[::2] == (200, b"{not json")
    status, headers, body = ask(server, "POST", "/echo", 1)
    assert (status, headers["Content-Type"], body) == (200, "text/html", b"<html>")
    assert ask(server, "POST", "/echo", 1)[::2] == (202, {"got": 2})
    assert ask(server, "POST", "/echo", 1)[2] == {"got": 1, "query": {}, "values": {}, "more": 1}

    # A fault of no route is refused with those that there are:
    with pytest.raises(ConfigError, match=r"route 'POST /nowhere' is not there; expected one of POST /echo, GET /thin"):
        server.fault("POST /nowhere", status=500)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"change": lambda answer: answer["none"]}, "KeyError: 'none'"),
        ({"change": lambda answer: {1, 2}}, "TypeError: Object of type set is not JSON serializable"),
        ({"body": b"{not json", "change": lambda answer: answer}, "JSONDecodeError: Expecting property name"),
        ({"body": {1, 2}}, "TypeError: Object of type set is not JSON serializable"),
    ],
)
def test_a_fault_that_raises_is_answered_and_recorded(server, capfd, fault, told):
    server.fault(ECHO, **fault)
    status, headers, found = ask(server, "POST", "/echo", 1)
    assert (status, found["status"], headers["Content-Type"]) == (500, 500, "application/json")
    assert f"the fault of {ECHO} raised {told}" in found["said"]
    assert [(each.route, each.status, each.request.json) for each in server.exchanges] == [(ECHO, 500, 1)]
    assert ask(server, "POST", "/echo", 1)[0] == 200
    assert capfd.readouterr().err == ""


def test_an_answer_that_is_delayed_comes_late_and_keeps_no_other_one_waiting(server):
    server.fault(ECHO, delay=5.0)
    begin = time.monotonic()
    late = threading.Thread(target=ask, args=(server, "POST", "/echo", 1))
    late.start()
    while not server.exchanges:
        time.sleep(0.001)
    ask(server, "POST", "/echo", 2)
    assert late.is_alive()
    late.join()
    assert time.monotonic() - begin >= 5.0


@pytest.mark.parametrize(("lost", "done"), [(True, 3), (False, 1)])
def test_the_work_of_an_answer_that_is_dropped_or_lost_is_done_only_if_that_is_asked_for(lost, done):
    seen = []
    server = LoopbackServer([Route(ECHO, lambda request: Answer([seen.append(request.json)]), error)])
    server.start()
    try:
        server.fault(ECHO, drop=True, lost=lost)
        server.fault(ECHO, status=500, lost=lost)
        with pytest.raises((RemoteDisconnected, ConnectionResetError)):
            ask(server, "POST", "/echo", 1)
        assert ask(server, "POST", "/echo", 2)[0] == 500
        assert ask(server, "POST", "/echo", 3)[0] == 200
    finally:
        server.stop()
    assert len(seen) == done
    assert [each.status for each in server.exchanges] == [None, 500, 200]


def test_a_client_that_goes_away_is_no_matter(server, capfd):
    server.fault(ECHO, delay=0.2, body=b"x" * 10_000_000)
    with closing(HTTPConnection("127.0.0.1", server.port)) as connection:
        connection.request("POST", "/echo", "1")
        while not server.exchanges:
            time.sleep(0.001)
    time.sleep(0.4)
    assert ask(server, "POST", "/echo", 1)[0] == 200
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (b"Content-Length: 100", b'{"n": 1}'),
        (b"Content-Length: 100", b""),
        (b"Transfer-Encoding: chunked", b""),
        (b"Transfer-Encoding: chunked", b"64\r\n12345"),
        (b"Transfer-Encoding: chunked", b"5\r\n12345\r\n"),
    ],
)
def test_a_client_that_goes_away_before_all_is_sent_has_asked_for_nothing(server, header, body, capfd):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n" + body)
    ask(server, "POST", "/echo", 1)
    time.sleep(0.05)
    assert [exchange.request.body for exchange in server.exchanges] == [b"1"]
    assert capfd.readouterr().err == ""


def test_a_stopped_server_closes_kept_connections_and_its_port(server):
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.request("POST", "/echo", "1")
        connection.getresponse().read()
        server.stop()
        connection.sock.settimeout(10)
        assert connection.sock.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        ask(server, "POST", "/echo", 1)


@pytest.mark.parametrize(("value", "kind"), [(None, str), ("1", int), (True, int), (1, bool), ({}, list)])
def test_a_field_of_another_type_is_refused(value, kind):
    with pytest.raises(Refused, match="size: got") as refused:
        field_of({"size": value}, "size", kind)
    assert refused.value.status == 400


def test_a_message_may_be_text_or_parts_of_it():
    assert text_of("a b") == "a b"
    assert text_of([{"type": "text", "text": "a "}, {"type": "image"}, {"text": "b"}, "c"]) == "a b"
    assert text_of(None) == ""
