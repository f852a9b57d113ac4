"""Providers from the command line: what is missing is told in a line, and nothing is connected to that is not asked."""

import os
import subprocess
import sys

import pytest

NAMES = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "CO_API_KEY", "COHERE_API_KEY", "CO_API_URL"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "LANGSMITH_API_KEY"),
)
RUN = ("run", "--corpus", "docs", "--dataset", "questions.csv")
RECORDING = """\
import os, socket

def refuse(*arguments, **_keywords):
    with open(os.environ["ATTEMPTS"], "a") as attempts:
        attempts.write(repr(arguments[-1]) + "\\n")
    raise OSError("the network is off in this test")

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refuse
"""


@pytest.fixture
def offline(tmp_path, folder):
    """Run a program that can connect to nothing, without any key; and return how often it tried."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(RECORDING)
    attempts = tmp_path / "attempts"
    kept = {name: value for name, value in os.environ.items() if name not in NAMES}
    path = os.pathsep.join(filter(None, [str(tmp_path / "site"), kept.get("PYTHONPATH")]))

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**kept, "PYTHONPATH": path, "ATTEMPTS": str(attempts), "COLUMNS": "120"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done, attempts.read_text().splitlines() if attempts.exists() else []

    return run


@pytest.fixture
def no_keys(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _questions(folder, tmp_path):
    """Questions of which nothing has to be said."""
    (tmp_path / "questions.csv").write_text(
        "question,quote\nWhen do invoices come?,Invoices are sent on the first day.\n"
        "What comes first?,Install the agent first.\n"
    )


PROVIDERS = [
    pytest.param(("--embedder", "openai"), "OpenAIEmbedder", "OpenAI", "OPENAI_API_KEY", "openai", id="openai"),
    pytest.param(("--embedder", "cohere"), "CohereEmbedder", "Cohere", "CO_API_KEY", "cohere", id="cohere"),
    pytest.param(
        ("--retriever", "bm25", "--reranker", "cohere"),
        "CohereReranker",
        "Cohere",
        "CO_API_KEY",
        "cohere",
        id="reranker",
    ),
]


CONNECTING = "import contextlib, socket\nwith contextlib.suppress(OSError): socket.create_connection(('127.0.0.1', 9))"
EVERY_NAME = "import rag_evaluation_framework as rag; [getattr(rag, name) for name in rag.__all__]"
MAKING = "from rag_evaluation_framework.components import *; OpenAIEmbedder(); CohereEmbedder(); CohereReranker()"


@pytest.mark.parametrize(
    ("arguments", "attempts"),
    [
        (("-c", CONNECTING), ["('127.0.0.1', 9)"]),
        (("-c", EVERY_NAME), []),
        (("-c", MAKING), []),
        *(
            (("-m", "rag_evaluation_framework", *command), [])
            for command in (
                ("--help",),
                ("run", "--help"),
                ("components",),
                (*RUN, "--retriever", "bm25"),
                (*RUN, "--embedder", "lsa"),
            )
        ),
    ],
    ids=[
        *("an attempt that is seen", "import", "components without a request", "help", "help of run", "components"),
        *("BM25", "local embedder"),
    ],
)
def test_what_asks_no_provider_connects_to_nothing_and_needs_no_key(offline, arguments, attempts):
    done, seen = offline(*arguments)
    assert done.returncode == 0, done.stderr
    assert seen == attempts


@pytest.mark.parametrize(("chosen", "component", "provider", "variable", "extra"), PROVIDERS)
def test_a_missing_key_and_a_missing_extra_are_told_in_a_line_before_anything_is_done(
    offline, rag_eval, folder, monkeypatch, no_keys, chosen, component, provider, variable, extra
):
    done, attempts = offline("-m", "rag_evaluation_framework", *RUN, *chosen)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {component} needs a key of {provider}: set the environment variable {variable}, or in Python pass "
        "client=\n"
    )
    assert attempts == []
    monkeypatch.setenv(variable, "a-key-of-mine")
    monkeypatch.setitem(sys.modules, extra, None)
    code, out, err = rag_eval(*RUN, *chosen)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert component in err
    assert f"pip install 'rag-evaluation-framework[{extra}]'" in err
    assert not list(folder.glob(".rag-eval/*"))


def test_a_wrong_key_is_told_in_a_line_without_it(rag_eval, folder, providers, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "oddly-formed-key-20")
    refusal = {"error": {"message": "Incorrect API key provided: oddly-formed-key-20."}}
    providers.fault("POST /v1/embeddings", status=401, body=refusal)
    code, out, err = rag_eval(*RUN, "--embedder", "openai")
    assert (code, out) == (2, "")
    assert err == (
        "error: OpenAI (text-embedding-3-small) answered with status 401: Incorrect API key provided: ***.; check the "
        "key in OPENAI_API_KEY\n"
    )


def test_a_gate_on_the_latency_asks_again(providers, rag_eval, folder):
    command = ("run", "--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2", "--embedder", "openai")
    counts = []
    for gate in ((), (), ("--gate", "p95 <= 60s"), ("--gate", "span_recall@5 >= 0.001")):
        before = len(providers.exchanges)
        assert rag_eval(*command, *gate).code == 0
        counts.append(len(providers.exchanges) - before)
    assert counts[1] == counts[3] == 0
    assert counts[2] == 1
