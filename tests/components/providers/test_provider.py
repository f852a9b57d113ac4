"""Keys and addresses: where they come from, and that a key is shown nowhere."""

import pytest

from rag_evaluation_framework.base.outside import fit_to_show
from rag_evaluation_framework.components.providers.calls import ANTHROPIC, COHERE, OPENAI
from rag_evaluation_framework.errors import ConfigError
from support.each import each

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
def test_a_key_and_an_address_are_those_that_are_given_else_those_of_the_environment(provider, monkeypatch):
    assert provider.base_url(None) == provider.url
    monkeypatch.setenv(provider.address, "http://in.house/v1/")
    assert provider.base_url(None) == "http://in.house/v1"
    assert provider.base_url("http://mine/") == "http://mine"
    monkeypatch.setenv(provider.address, "")
    assert provider.base_url("") == provider.url
    for name in reversed(provider.keys):
        monkeypatch.setenv(name, f"from-{name}")
        assert provider.key(None, None, "Mine") == f"from-{name}"
    assert provider.key("given", None, "Mine") == "given"


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
def test_a_missing_key_is_told_in_a_line_with_its_variable_and_so_is_an_address_that_is_none(provider, monkeypatch):
    monkeypatch.setenv(provider.keys[0], "")
    with pytest.raises(ConfigError) as missing:
        provider.key(None, None, "MyEmbedder")
    assert str(missing.value) == (
        f"MyEmbedder needs a key of {provider.name}: set the environment variable {provider.keys[0]}, "
        "or in Python pass client="
    )
    monkeypatch.setenv(provider.address, "http://in.house/v1")
    with pytest.raises(ConfigError, match=r"^Mine needs a key of"):
        provider.key(None, f"{provider.url}/", "Mine")
    monkeypatch.setenv(provider.address, "localhost")
    with pytest.raises(ConfigError, match=f"the environment variable {provider.address}='localhost'; expected"):
        provider.key(None, None, "Mine")


@pytest.mark.parametrize("provider", EVERY, ids=lambda provider: provider.name)
@each(
    ("key", "address", "given", "url", "told"),
    [
        # A server of one's own needs no key, and gets the one that there is if the environment names it.
        ("", "", None, "http://in.house/v1", "none-needed"),
        ("", "http://in.house/v1", None, None, "none-needed"),
        ("a-key", "http://in.house/v1", None, None, "a-key"),
        ("a-key", "http://in.house/v1", None, "http://in.house/v1/", "a-key"),
        ("", "", "given", "http://in.house/v1", "given"),
        # That of the environment goes to no address that neither it nor the provider has.
        ("a-key", "", None, "{own}/", "a-key"),
        ("a-key", "", None, "http://of.a.stranger/v1", "none-needed"),
        ("a-key", "http://in.house/v1", None, "http://of.a.stranger/v1", "none-needed"),
        ("a-key", "", "given", "http://in.house/v1", "given"),
        # An address of the environment that is none harms only who uses it.
        ("", "localhost", None, "http://in.house/v1", "none-needed"),
    ],
)
def test_a_key_goes_where_it_is_meant_to_go(provider, key, address, given, url, told):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(provider.keys[0], key)
        patch.setenv(provider.address, address)
        assert provider.key(given, url and url.format(own=provider.url), "Mine") == told


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
