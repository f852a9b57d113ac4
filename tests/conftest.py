"""What all tests share: the public data, a small corpus, and settings that make runs repeatable."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.base import outside
from rag_evaluation_framework.testing import LoopbackProviders
from support.pgvector_server import pgvector_server

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "mutants", deadline=None, derandomize=True, max_examples=15, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "many", deadline=None, max_examples=4_000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("ci" if os.environ.get("CI") else "default")
settings.register_profile("few", settings(), max_examples=40)  # of `make test`; `make nightly` tries all


# Some runners set it, and readline does, which `os.environ` does not see: what the tests start would be as narrow.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")

# As in a terminal, also where these are ignored: behind nohup, and in the background of a script.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def interrupts_arrive():
    """Ctrl-C in a callback of the garbage collector is lost; Hypothesis has one, for deadlines that we do not set."""
    gc.callbacks.clear()


def pytest_addoption(parser):
    # Whole from the start: tests that work in a folder of their own would look for a relative one there.
    parser.addoption(
        "--shared",
        default=None,
        type=os.path.abspath,
        help="folder with the public data and golden cases (data/, facts/)",
    )


_OF_PROVIDERS = ("OPENAI_", "CO_API_", "ANTHROPIC_", "LANGSMITH_", "LANGCHAIN_", "NO_PROXY", "no_proxy")


@pytest.fixture(autouse=True)
def variables_of_providers_are_as_before():
    """Fail a test that leaves a provider's variable behind, as later tests would ask there."""
    before = {name: value for name, value in os.environ.items() if name.startswith(_OF_PROVIDERS)}
    yield
    assert {name: value for name, value in os.environ.items() if name.startswith(_OF_PROVIDERS)} == before


@pytest.fixture(autouse=True)
def no_secret_of_another_test_is_known():
    # Not by `monkeypatch`: it would be undone after the fixtures of the test, and a variable that the test deletes
    # while `LoopbackProviders` is open would come back when that is closed.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outside, "_known", {})
        yield


@pytest.fixture(scope="session")
def shared(request) -> Path:
    """The folder of public data; checks on it are skipped, visibly, where it is not given."""
    folder = request.config.getoption("--shared")
    if folder is None:
        pytest.skip("needs the public data: pytest --shared=FOLDER")
    return Path(folder)


@pytest.fixture(scope="session")
def pgvector_dsn():
    """The connection string of a PostgreSQL server with pgvector, one for each process of the tests."""
    with pgvector_server() as dsn:
        yield dsn


@pytest.fixture
def pgvector_environment(pgvector_dsn, monkeypatch):
    """The same server by the environment variables that PostgreSQL's programs read."""
    given = dict(word.split("=") for word in pgvector_dsn.split())
    for name, value in {"PGHOST": given["host"], "PGUSER": given["user"], "PGDATABASE": given["dbname"]}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def providers():
    """The wire protocols of the providers on this machine; the environment points their SDKs at it."""
    with LoopbackProviders() as served:
        yield served


@pytest.fixture
def corpus() -> Corpus:
    """Three short documents with a passage in common."""
    texts = {
        "billing.md": "# Billing\n\nInvoices are sent on the first day of the month. Refunds take five working days.\n",
        "guides/start.md": "# Start\n\nInstall the agent. Restart the server once. Support answers within one day.\n",
        "guides/stop.md": "# Stop\n\nExport your data first. Then close the account. Support answers within one day.\n",
    }
    return Corpus(Document(DocumentId(name), text) for name, text in texts.items())
