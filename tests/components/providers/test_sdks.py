"""Clients of the SDKs: made of what is given, without retries of their own, and closed when nobody needs them."""

import gc
import os
import time
import warnings
from contextlib import nullcontext
from functools import partial
from inspect import signature

import anthropic
import cohere
import httpx
import openai
import pytest

from rag_evaluation_framework.base.outside import fit_to_show
from rag_evaluation_framework.components.embedders import CohereEmbedder, OpenAIEmbedder
from rag_evaluation_framework.components.providers.calls import (
    ANTHROPIC,
    COHERE,
    NO_RETRIES,
    OPENAI,
    address_of,
    sdk_client,
)
from rag_evaluation_framework.components.rerankers import CohereReranker
from rag_evaluation_framework.errors import ConfigError
from support.provider_clients import client_of

KEY = "oddly-formed.key"

openai_client, anthropic_client, cohere_client = (partial(sdk_client, each) for each in (OPENAI, ANTHROPIC, COHERE))
EVERY = [(openai_client, openai.OpenAI), (anthropic_client, anthropic.Anthropic), (cohere_client, cohere.ClientV2)]
NAMES = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CO_API_KEY",
    "COHERE_API_KEY",
    "CO_API_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
]


@pytest.mark.parametrize(("made", "kind"), EVERY)
def test_a_client_is_made_of_the_key_and_the_address_that_are_given_and_not_without_a_key(made, kind, monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match=r"^Mine needs a key of \w+: set the environment variable"):
        made(None, None, None, 7.0, "Mine")
    client = made(None, KEY, "http://127.0.0.1:9/v1", 7.0, "Mine")
    assert type(client) is kind
    assert address_of(client) == "http://127.0.0.1:9/v1"
    assert fit_to_show(KEY) == "***"


MADE = [
    pytest.param(openai_client, "OpenAI", "POST /v1/embeddings", id="openai"),
    pytest.param(anthropic_client, "Anthropic", "POST /v1/messages", id="anthropic"),
    pytest.param(cohere_client, "ClientV2", "POST /v2/embed", id="cohere"),
]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("made", "kind", "route"), MADE)
def test_a_request_is_made_once_whatever_the_client_would_do(providers, made, kind, route, own):
    with client_of(kind, providers.url) if own else nullcontext() as given:
        client = made(given, None, None, 7.0, "Mine")
        providers.fault(route, status=500, times=None)
        with pytest.raises((openai.APIStatusError, anthropic.APIStatusError, cohere.core.ApiError)):
            ask(client, kind)
        assert providers.counts() == {route: 1}


def ask(client, kind):
    if kind == "OpenAI":
        return client.embeddings.create(model="m", input="a")
    if kind == "Anthropic":
        return client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "a"}])
    return client.embed(model="m", input_type="search_query", texts=["a"], request_options=NO_RETRIES)


HEADERS = "Authorization: Bearer of-a-gateway\nX-Gateway-Key: of-a-gateway"


@pytest.mark.parametrize(("made", "kind", "route"), MADE[:2])
def test_headers_of_the_environment_go_only_where_its_key_goes(providers, made, kind, route, monkeypatch):
    variables = {
        f"{kind.upper()}_CUSTOM_HEADERS": HEADERS,
        "OPENAI_ORG_ID": "org-mine",
        "OPENAI_PROJECT_ID": "proj-mine",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    name = f"{kind.upper()}_BASE_URL"
    url = os.environ[name]
    for address in (None, url):
        ask(made(None, None, address, 7.0, "Mine"), kind)
        assert providers.exchanges[-1].request.headers["x-gateway-key"] == "of-a-gateway"
    with monkeypatch.context() as without:
        without.delenv(name)
        for key, told in ((None, "none-needed"), (KEY, KEY)):
            ask(made(None, key, url, 7.0, "Mine"), kind)
            headers = providers.exchanges[-1].request.headers
            assert headers["authorization"] == f"Bearer {told}"
            assert not [value for value in headers.values() if "gateway" in value or "mine" in value]


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI", "ClientV2", "AsyncClientV2"])
def test_of_a_client_that_is_given_the_key_is_hidden_and_the_address_known(kind):
    made = openai_client if "OpenAI" in kind else cohere_client
    with client_of(kind, "http://127.0.0.1:9", KEY) as given:
        made(given, None, None, 7.0, "Mine")
        assert fit_to_show(f"Incorrect key: {KEY}.") == "Incorrect key: ***."
        assert address_of(given) == ("http://127.0.0.1:9/v1" if "OpenAI" in kind else "http://127.0.0.1:9")


def test_anything_of_the_shape_of_a_client_is_used_as_it_is():
    class Mine:
        api_key = None

    mine = Mine()
    assert openai_client(mine, None, None, 7.0, "Mine") is mine
    assert cohere_client(mine, None, None, 7.0, "Mine") is mine
    assert address_of(mine) is None
    assert address_of(None) is None


@pytest.mark.parametrize(("made", "kind", "route"), MADE)
def test_connections_are_closed_when_nobody_has_the_client_any_more(providers, made, kind, route):
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # the clients of other tests, which may not be closed
    client = made(None, None, None, 7.0, "Mine")
    ask(client, kind)
    connections = client._client if kind != "ClientV2" else client._client_wrapper.httpx_client.httpx_client
    assert not connections.is_closed
    del client
    for _ in range(20):  # other threads of the server may still be leaving what they did
        gc.collect()
        if connections.is_closed:
            break
        time.sleep(0.1)
    assert connections.is_closed


@pytest.mark.parametrize(("made", "kind", "route"), MADE)
def test_a_timeout_is_the_one_that_is_given(providers, made, kind, route):
    client = made(None, None, None, 0.3, "Mine")
    providers.fault(route, delay=10.0)  # then it would be answered
    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError, httpx.ReadTimeout)):
        ask(client, kind)


CONNECTED = ["base_url", "api_key", "client"]
LIMITED = ["max_concurrency", "max_retries", "timeout"]
EMBEDDING = ["model", "dimensions", *CONNECTED, "batch_size", *LIMITED, "price_in"]


@pytest.mark.parametrize(
    ("kind", "listed"),
    [
        (OpenAIEmbedder, EMBEDDING),
        (CohereEmbedder, [*EMBEDDING, "truncate"]),
        (CohereReranker, ["model", "max_tokens_per_doc", *CONNECTED, *LIMITED, "price_search"]),
    ],
)
def test_parameters_have_their_places(kind, listed):
    """Which come from several bases, of which the last is first."""
    assert [*signature(kind).parameters] == listed
