"""The connection to LangSmith: keys and addresses that cannot be used are refused before anything is asked."""

import json
from contextlib import closing

import pytest
from langsmith import Client

from rag_evaluation_framework import TOKEN
from rag_evaluation_framework.errors import ConfigError, DatasetError, ProviderUnavailable
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import publish_experiment, pull_dataset, push_dataset
from support.each import each
from support.published import NAME, published_dataset, published_result, quick_client

USES = {
    "push": lambda **options: push_dataset(published_dataset(), NAME, **options),
    "pull": lambda **options: pull_dataset(NAME, TOKEN, **options),
    "publish": lambda **options: publish_experiment(published_result(), NAME, **options),
}
KEYS = {
    "lsv2_pt_SECRETSECRET\nfoo": "",
    "lsv2_pt_SECRET\r\nX-Other: SECRET": "",
    "lsv2_pt_ключSECRET": "CYRILLIC SMALL LETTER KA",
    "lsv2_pt SECRETSECRET": "SPACE",
    "lsv2_pt_SECRET\x7fSECRET": r"U\+007F",
}


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


def every_use(test):
    return pytest.mark.parametrize("use", USES.values(), ids=USES)(test)


@every_use
@each(
    ("message", "environment", "options"),
    [
        *(
            (f"^LANGSMITH_API_KEY has a character that no key has: .*{sign}$", {"LANGSMITH_API_KEY": key}, {})
            for key, sign in KEYS.items()
        ),
        (r"^LANGCHAIN_API_KEY has a character", {"LANGSMITH_API_KEY": None, "LANGCHAIN_API_KEY": "a\nb"}, {}),
        ("set LANGSMITH_API_KEY", {"LANGSMITH_API_KEY": None, "LANGSMITH_CONFIG_FILE": "none.json"}, {}),
        *(
            (
                f"^LANGSMITH_ENDPOINT='{address}': expected an address that beg",
                {"LANGSMITH_ENDPOINT": address},
                {},
            )
            for address in ("foo", "localhost:1984", "ftp://example.org")
        ),
        *(("^client=.*: expected a langsmith.Client", {}, {"client": client}) for client in ("x", 5, object(), Client)),
    ],
)
def test_keys_addresses_and_clients_that_cannot_be_used_are_refused_and_no_key_is_shown(
    providers, monkeypatch, use, message, environment, options
):
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value or "")
            if value is None:
                patch.delenv(name)
        with pytest.raises(ConfigError, match=message) as caught:
            use(**options)
    assert "SECRET" not in str(caught.value)
    assert providers.exchanges == []


def test_white_space_and_quotes_around_a_key_do_not_matter(providers, monkeypatch):
    push_dataset(published_dataset(), NAME)
    monkeypatch.setenv("LANGSMITH_API_KEY", " 'loopback-key'\n")
    monkeypatch.setenv("LANGCHAIN_API_KEY", "never\nread")
    assert len(pull_dataset(NAME, TOKEN)) == 8


def test_the_key_of_a_login_and_of_a_client_are_refused_too(providers, monkeypatch, tmp_path):
    login = tmp_path / "config.json"
    login.write_text(json.dumps({"profiles": {"default": {"api_key": "lsv2_pt_SECRET\nSECRET"}}}))
    with pytest.raises(ConfigError, match=r"^the key of the client has a character that no key has: U") as caught:
        pull_dataset(NAME, TOKEN, client=Client(api_key="lsv2_pt_SECRET\nSECRET", auto_batch_tracing=False))
    assert "SECRET" not in str(caught.value)
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_CONFIG_FILE", str(login))
    with pytest.raises(ConfigError, match=r"^the key of the login of LangSmith's command line has") as caught:
        pull_dataset(NAME, TOKEN)
    assert "SECRET" not in str(caught.value)
    assert providers.exchanges == []


@pytest.mark.parametrize("use", ["pull", "publish"])
def test_a_dataset_that_is_not_there_is_named_with_the_address(providers, use):
    with pytest.raises(DatasetError, match=f"LangSmith at {providers.url} has no dataset '{NAME}'; check its name"):
        USES[use]()


@every_use
def test_a_client_that_is_given_stays_open(providers, monkeypatch, use):
    push_dataset(published_dataset(), NAME)
    with closing(quick_client()) as client:
        with monkeypatch.context() as patch:
            patch.setattr(Client, "close", lambda *_, **__: pytest.fail("it is closed"))
            use(client=client)
        assert client.has_dataset(dataset_name=NAME)


@every_use
def test_a_server_that_is_not_there_is_one_error_without_key_and_login(providers, monkeypatch, use):
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://user:pwpwpw@127.0.0.1:9")
    monkeypatch.setenv("LANGSMITH_API_KEY", "secret-key-7")
    with pytest.raises(
        ProviderUnavailable, match=r"LangSmith at http://.*127\.0\.0\.1:9: looking for .*: no answer"
    ) as caught:
        use()
    assert caught.value.status is None
    assert "pwpwpw" not in str(caught.value)
    assert "secr" not in str(caught.value)
