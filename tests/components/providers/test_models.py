"""What the models behind all SDKs have in common: where their keys go, and what they refuse."""

import logging
from typing import NamedTuple

import pytest

from rag_evaluation_framework import CohereReranker, OpenAIEmbedder
from rag_evaluation_framework.components import CohereEmbedder
from rag_evaluation_framework.components.embedders.cached import embedder_identity
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.errors import ConfigError, ProviderRefused
from support.each import each
from support.provider_clients import client_of

KEY = "oddly-formed-key-17"


class Kind(NamedTuple):
    of: type
    ask: str  # the method that makes a request
    arguments: tuple
    route: str
    client: str
    key: str
    body: dict  # of a refusal that quotes the key


KINDS = [
    Kind(
        OpenAIEmbedder,
        "embed",
        (["a"],),
        "POST /v1/embeddings",
        "OpenAI",
        "OPENAI_API_KEY",
        {"error": {"message": f"Incorrect API key provided: {KEY}."}},
    ),
    Kind(
        CohereEmbedder,
        "embed",
        (["a"],),
        "POST /v2/embed",
        "ClientV2",
        "CO_API_KEY",
        {"message": f"Incorrect API key provided: {KEY}."},
    ),
    Kind(
        CohereReranker,
        "scores",
        ("a", ["a"]),
        "POST /v2/rerank",
        "ClientV2",
        "CO_API_KEY",
        {"message": f"Incorrect API key provided: {KEY}."},
    ),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.of.__name__)
@pytest.mark.parametrize("given", ["api_key", "environment", "client"])
def test_the_key_goes_into_one_header_and_into_no_log_name_record_or_identity(
    providers, kind, given, caplog, monkeypatch
):
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "cohere", "httpx", "httpx2", "httpcore", "rag_evaluation_framework"):
        caplog.set_level(logging.DEBUG, logger=name)
    monkeypatch.setenv(kind.key, KEY)
    with client_of(kind.client, providers.url, KEY) as client:
        model = kind.of(**{"api_key": {"api_key": KEY}, "environment": {}, "client": {"client": client}}[given])
        getattr(model, kind.ask)(*kind.arguments)
        providers.fault(kind.route, status=401, body=kind.body)
        with pytest.raises(ProviderRefused) as refused:
            getattr(model, kind.ask)(*kind.arguments)
        identity = "" if kind.of is CohereReranker else embedder_identity(model)
    request = providers.exchanges[0].request
    assert [name for name, value in request.headers.items() if KEY in value] == ["authorization"]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in request.body
    assert caplog.records
    assert [record for record in caplog.records if KEY in f"{record.getMessage()} {vars(record)}"] == []
    assert str(refused.value).endswith(f"Incorrect API key provided: ***.; check the key in {kind.key}")
    shown = f"{model!r} {model.name} {describe(model)} {identity}"
    assert KEY not in f"{refused.value!r} {refused.value.args} {shown}"
    assert "client" not in shown


@each("kind", KINDS)
def test_a_missing_key_is_told_when_something_is_to_be_sent(kind):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CO_API_KEY", "COHERE_API_KEY", "CO_API_URL"):
            patch.delenv(name, raising=False)
        model = kind.of()
        assert model.name == kind.of.__name__
        asks = [lambda: getattr(model, kind.ask)(*kind.arguments)]
        if kind.of is CohereReranker:
            asks = [model.prepare]  # before the first question
        elif kind.of is OpenAIEmbedder:
            asks += [lambda: model.embed_query("a"), lambda: model.dimension]
        said = f"^{kind.of.__name__} needs a key of (OpenAI|Cohere): set .* {kind.key}, or in Py"
        for ask in asks:
            with pytest.raises(ConfigError, match=said):
                ask()
