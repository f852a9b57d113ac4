"""What goes over the wire: keys, bodies, and faults that can befall something."""

import pytest

from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.loopback.server import Answer, Fault, Request


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": 0}, "Fault: times=0; expected a whole number of at least 1"),
        ({"times": -1}, "times=-1"),
        ({"times": 1.5}, "times=1.5"),
        ({"after": -1}, "Fault: after=-1; expected a whole number of at least 0"),
        ({"after": None}, "after=None"),
        ({"delay": -0.1}, "Fault: delay=-0.1; expected a number of at least 0"),
        ({"delay": float("nan")}, "delay=nan"),
    ],
)
def test_a_fault_that_would_never_or_always_come_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Fault(status=500, **options)


def test_a_fault_may_befall_all_requests_and_hides_what_it_replaces():
    assert Fault(times=None, after=0, delay=0).times is None
    assert [Fault(status=500).hides, Fault(body={}).hides, Fault(delay=1.0).hides] == [True, True, False]
