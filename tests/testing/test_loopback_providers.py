"""LoopbackProviders: while it is open the SDKs find it, and afterwards everything is as before."""

import json
import os
import socket
import subprocess
import sys

import cohere
import pytest
from openai import APIConnectionError, OpenAI

from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.testing import LoopbackProviders
from support.nightly import nightly

NAMES = {
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "CO_API_URL",
    "CO_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "LANGSMITH_ENDPOINT",
    "LANGSMITH_API_KEY",
    "LANGSMITH_CONFIG_FILE",
    "NO_PROXY",
    "no_proxy",
}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Refunds take five working days."}]}


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """Some variables that are set, and some that are not."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    monkeypatch.setenv("no_proxy", "in.house")


def asked(**given):
    return OpenAI(max_retries=0, **given).chat.completions.create(**ASKED).choices[0].message.content


def test_while_it_is_open_the_environment_points_at_it_and_afterwards_it_is_as_before():
    before = dict(os.environ)
    with LoopbackProviders() as providers:
        changed = {name for name, value in os.environ.items() if before.get(name) != value}
        assert changed == NAMES
        assert os.environ["OPENAI_BASE_URL"] == f"{providers.url}/v1"
        assert os.environ["CO_API_URL"] == os.environ["ANTHROPIC_BASE_URL"] == providers.url
        assert asked() == "Refunds take five working days."
    assert dict(os.environ) == before
    with pytest.raises(APIConnectionError):
        asked(base_url=f"{providers.url}/v1")
    with pytest.raises(ZeroDivisionError), LoopbackProviders():
        _ = 1 / 0
    assert dict(os.environ) == before


COHERE = "https://api.cohere.com"
LOADED_AT = """
import asyncio, json, sys
from rag_evaluation_framework.testing import LoopbackProviders

def made():
    import cohere
    return [getattr(cohere, name)(api_key="k") for name in ("ClientV2", "AsyncClientV2", "Client", "AsyncClient")]

def at(**names):
    urls = {url: name for name, url in names.items()}
    return [urls.get(address, address) for address in (each._client_wrapper.get_base_url() for each in made())]

when, found = sys.argv[1], []
if when == "before":
    made()
with LoopbackProviders() as outer:
    if when == "inside":
        made()
    try:
        with LoopbackProviders() as inner:
            if when == "further inside":
                made()
            if when != "after":
                found.append(at(inner=inner.url))
                made()[0].rerank(model="m", query="a", documents=["a"])
                asyncio.run(made()[1].rerank(model="m", query="a", documents=["a"]))
                found.append(inner.counts()["POST /v2/rerank"])
                raise ZeroDivisionError
    except ZeroDivisionError:
        found.append(at(outer=outer.url))
found.append(at())
with LoopbackProviders() as again:
    found.append(at(again=again.url))
print(json.dumps(found))
"""


@pytest.mark.parametrize("usual", [None, nightly("http://127.0.0.1:9")])
@pytest.mark.parametrize("when", ["before", "inside", "further inside", "after"])
def test_clients_of_cohere_find_it_whenever_their_sdk_was_loaded_and_let_go_of_it(when, usual):
    environment = {**os.environ, **({"CO_API_URL": usual} if usual else {})}
    done = subprocess.run(
        [sys.executable, "-c", LOADED_AT, when], env=environment, capture_output=True, text=True, check=True
    )
    opened = [] if when == "after" else [["inner"] * 4, 2, ["outer"] * 4]
    assert json.loads(done.stdout) == [*opened, [usual or COHERE] * 4, ["again"] * 4]


def test_cohere_keeps_the_address_that_it_read_and_those_that_are_given(monkeypatch):
    def address(**given):
        return cohere.ClientV2(api_key="k", **given)._client_wrapper.get_base_url()

    monkeypatch.setitem(cohere.ClientV2.__init__.__kwdefaults__, "base_url", "http://read.before")
    made = cohere.ClientV2(api_key="k")
    with LoopbackProviders() as providers:
        assert address() == providers.url
        assert address(base_url="http://given") == "http://given"
        assert made._client_wrapper.get_base_url() == "http://read.before"
    assert address() == "http://read.before"


def test_one_inside_of_another_is_found_while_it_is_open():
    with LoopbackProviders(answers=iter(lambda: "outer", None)):
        assert asked() == "outer"
        with LoopbackProviders(answers=["inner"]):
            assert asked() == "inner"
        assert asked() == "outer"


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "in.house")
    with LoopbackProviders():
        assert os.environ["NO_PROXY"] == "in.house,127.0.0.1,localhost"
        assert asked() == "Refunds take five working days."


def test_a_port_may_be_given_again_and_again_and_not_while_it_is_taken():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for _ in range(3):
        with LoopbackProviders(port=port) as providers:
            assert providers.url == f"http://127.0.0.1:{port}"
            before = dict(os.environ)
            with pytest.raises(ConfigError, match=f"^port {port} of 127.0.0.1 cannot be used"):
                LoopbackProviders(port=port).__enter__()
            assert dict(os.environ) == before
            asked()


def test_another_process_finds_it_by_its_environment():
    code = "from openai import OpenAI; print(len(OpenAI().embeddings.create(model='m', input='a').data[0].embedding))"
    with LoopbackProviders() as providers:
        environment = {**{name: os.environ[name] for name in os.environ if name not in NAMES}, **providers.environment}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == "256\n"
        assert providers.counts() == {"POST /v1/embeddings": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"status": None, "times": 2}, "nothing would go wrong"),
        ({"times": 0}, "fault: times=0; expected a whole number of at least 1"),
        ({"times": -1}, "times=-1"),
        ({"times": 1.5}, "times=1.5"),
        ({"after": -1}, "fault: after=-1; expected a whole number of at least 0"),
        ({"after": None}, "after=None"),
        ({"delay": -0.1}, "fault: delay=-0.1; expected a number of at least 0"),
        ({"delay": float("nan")}, "delay=nan"),
    ],
)
def test_a_fault_that_would_not_come_as_it_is_said_is_refused(options, message):
    with LoopbackProviders() as providers, pytest.raises(ConfigError, match=message):
        providers.fault("POST /v1/embeddings", **{"status": 500, **options})
