"""What goes over the wire: keys and bodies."""

import pytest

from rag_eval_loopback.server import Answer, Request


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"authorization": "Bearer odd-key"}, "odd-key"),
        ({"authorization": "odd-key"}, "odd-key"),
        ({"x-api-key": "odd-key"}, "odd-key"),
        ({"authorization": "Bearer ", "x-api-key": "odd-key"}, "odd-key"),
        ({"authorization": "Bearer ", "content-type": "odd-key"}, ""),
        ({}, ""),
    ],
)
def test_a_key_is_found_in_the_headers_of_every_provider(headers, key):
    assert Request("GET", "/", headers=headers).key == key


@pytest.mark.parametrize(
    ("content", "body"),
    [(None, b""), (b"\x00{", b"\x00{"), ("é", "é".encode()), ({"a": 1}, b'{"a": 1}')],
)
def test_an_answer_is_written_as_json_but_for_texts_and_bytes(content, body):
    assert Answer(content).body == body
