"""Keys and addresses: where they come from, and that a key is shown nowhere."""

import pytest

from rag_evaluation_framework.base.outside import fit_to_show
from rag_evaluation_framework.components.providers.calls import ANTHROPIC, COHERE, OPENAI
from rag_evaluation_framework.errors import ConfigError

EVERY = [OPENAI, COHERE, ANTHROPIC]
NAMES = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CO_API_KEY",
    "COHERE_API_KEY",
    "CO_API_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
]


@pytest.fixture(autouse=True)
def _bare(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_an_address_is_the_one_that_is_given_else_that_of_the_environment_else_the_providers_own(provider, monkeypatch):
    assert provider.base_url(None) == provider.url
    monkeypatch.setenv(provider.address, "http://in.house/v1/")
    assert provider.base_url(None) == "http://in.house/v1"
    assert provider.base_url("http://mine/") == "http://mine"
    monkeypatch.setenv(provider.address, "")
    assert provider.base_url("") == provider.url


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_a_key_is_the_one_that_is_given_else_that_of_the_environment(provider, monkeypatch):
    for name in reversed(provider.keys):
        monkeypatch.setenv(name, f"from-{name}")
        assert provider.key(None, None, "Mine") == f"from-{name}"
    assert provider.key("given", None, "Mine") == "given"


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_a_missing_key_is_told_in_a_line_with_the_variable_that_may_hold_it(provider, monkeypatch):
    monkeypatch.setenv(provider.keys[0], "")
    with pytest.raises(ConfigError) as missing:
        provider.key(None, None, "MyEmbedder")
    assert str(missing.value) == (
        f"MyEmbedder needs a key of {provider.name}: set the environment variable {provider.keys[0]}, "
        "or in Python pass client="
    )


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_a_server_of_ones_own_needs_no_key_and_gets_the_one_that_there_is(provider, monkeypatch):
    assert provider.key(None, "http://127.0.0.1:8000/v1", "Mine") == "none-needed"
    monkeypatch.setenv(provider.address, "http://127.0.0.1:8000/v1")
    assert provider.key(None, None, "Mine") == "none-needed"
    monkeypatch.setenv(provider.keys[0], "in-house-key")
    assert provider.key(None, None, "Mine") == "in-house-key"
    monkeypatch.delenv(provider.keys[0])
    with pytest.raises(ConfigError):
        provider.key(None, f"{provider.url}/", "Mine")


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_a_key_of_the_environment_goes_to_no_address_that_neither_it_nor_the_provider_has(provider, monkeypatch):
    monkeypatch.setenv(provider.keys[0], "a-key-of-mine")
    assert provider.key(None, "http://of.a.stranger/v1", "Mine") == "none-needed"
    assert provider.key("given", "http://in.house/v1", "Mine") == "given"
    assert provider.key(None, f"{provider.url}/", "Mine") == "a-key-of-mine"
    monkeypatch.setenv(provider.address, "http://in.house/v1")
    assert provider.key(None, "http://in.house/v1/", "Mine") == "a-key-of-mine"
    assert provider.key(None, "http://of.a.stranger/v1", "Mine") == "none-needed"


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_an_address_of_the_environment_that_is_none_harms_only_who_uses_it(provider, monkeypatch):
    monkeypatch.setenv(provider.address, "localhost")
    assert provider.key(None, "http://127.0.0.1:8000/v1", "Mine") == "none-needed"
    with pytest.raises(ConfigError, match=f"the environment variable {provider.address}='localhost'; expected"):
        provider.key(None, None, "Mine")


@pytest.mark.parametrize("given", [True, False])
def test_a_key_is_hidden_from_then_on(given, monkeypatch):
    if not given:
        monkeypatch.setenv("OPENAI_API_KEY", "oddly formed; key!")
    assert "oddly" in fit_to_show("it was oddly formed; key!")
    OPENAI.key("oddly formed; key!" if given else None, None, "Mine")
    assert fit_to_show("it was oddly formed; key!") == "it was ***"


@pytest.mark.parametrize("key", ["sk-ключ-12345", "sk-12345\n6789"])
def test_a_key_that_no_header_can_hold_is_refused_and_hidden(key):
    with pytest.raises(
        ConfigError, match=r"Mine: the key of OpenAI is not printable ASCII; see OPENAI_API_KEY"
    ) as told:
        OPENAI.key(key, None, "Mine")
    assert key not in str(told.value)
