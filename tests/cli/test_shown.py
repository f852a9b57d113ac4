"""What the commands print: poison in every file, name, path and argument acts on no terminal, in any encoding."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import Embedding
from rag_evaluation_framework.contracts.registry import loading
from support.poison import HARMFUL, POISON

PATH = POISON.replace("/", "∕").replace("\ud800", "").replace("\x85", "")[:100]  # files have shorter names
TEXT = POISON.replace("\ud800", "")
RETRIEVER = f"""
import warnings
from rag_evaluation_framework import note
POISON = {TEXT!r}
def search(query, k):
    note("noted " + POISON)
    warnings.warn("warned " + POISON)
    if query.startswith("lost"):
        raise OSError("gone " + POISON)
    return ["first " + POISON]
"""


@pytest.fixture
def poisoned(tmp_path):
    """A folder in which documents, a dataset, rankings and a retriever are full of poison."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / f"{PATH}.md").write_text(f"first {TEXT}\nsecond")
    questions = [
        {"id": f"{kind} {TEXT}", "question": f"{kind} {TEXT}", "quote": quote, "document": f"{PATH}.md"}
        for kind, quote in (("ok", "second"), ("lost", f"first {TEXT}"), ("none", f"third {TEXT}"))
    ]
    (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in questions))
    (tmp_path / "own.py").write_text(RETRIEVER, encoding="utf-8")
    (tmp_path / "name.json").write_text(json.dumps({"experiment_name": TEXT}))
    (tmp_path / f"{PATH}.json").write_text(json.dumps({f"q {TEXT}": {f"d {TEXT}": 1}}))
    return tmp_path


RUN = (
    *("run", "name.json", "--corpus", "docs", "--dataset", "questions.jsonl", "--retriever", "own:search"),
    *("--root", f"root {PATH}", "--allow-failures", "9", "--allow-skipped", "9"),
)
SCORE = ("score", "--qrels", f"{PATH}.json", "--rankings", f"{PATH}.json", "--per-query")


def str_of(value):
    """All texts of a value of JSON."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    return "\n".join(map(str_of, value)) if isinstance(value, list) else str(value)


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        (*RUN, "--json"),
        ("run", "--corpus", f"no {PATH}", "--dataset", "questions.jsonl"),
        ("run", "--corpus", "docs", "--dataset", f"no {PATH}"),
        ("run", "--corpus", "docs", "--dataset", "questions.jsonl", "--glob", PATH),
        ("run", f"no {PATH}.yaml"),
        ("run", "--corpus", "docs", "--dataset", "questions.jsonl", "--retriever", TEXT),
        ("run", "--corpus", "docs", "--dataset", "questions.jsonl", "--chunker", f"sentence:{TEXT}=1"),
        SCORE,
        (*SCORE, "--json"),
        ("score", "--qrels", f"{PATH}.json", "--rankings", f"no {PATH}"),
        ("score", "--qrels", f"{PATH}.json", "--rankings", f"{PATH}.json", "--metric", TEXT),
        ("compare", PATH, "last", "--root", f"root {PATH}"),
        ("compare", "last", "last", "--root", f"root {PATH}", "--score", TEXT),
        ("compare", "last", "last", "last", "--root", f"root {PATH}", "--score", TEXT),
        ("compare", "last", "last", "--root", f"root {PATH}", "--cluster", TEXT),
        ("init", "--corpus", "docs", "--questions", "questions.jsonl", "--root", f"root {PATH}"),
        ("cache", "info", "--root", f"cached {PATH}"),
        ("cache", "clear", "--root", f"cached {PATH}", "--yes"),
        ("cache", TEXT),
        ("run", f"--{TEXT}"),
        ("run", "a", TEXT),
        ("run", "--k", TEXT),
        (TEXT,),
    ],
    ids=lambda arguments: " ".join(argument[:9] for argument in arguments).encode("ascii", "ignore").decode()[:60],
)
def test_nothing_that_is_printed_acts_on_a_terminal(rag_eval, poisoned, arguments):
    identity = json.dumps({"type": f"own:{TEXT}", "parameters": {TEXT: TEXT}, "source": None, "content": None})
    EmbeddingCache(f"cached {PATH}").put(identity, {"text": Embedding(np.ones(3, dtype=np.float32), False)})
    outcome = rag_eval(*arguments)
    assert outcome.out or outcome.err
    assert not HARMFUL.findall(outcome.out)
    assert not HARMFUL.findall(outcome.err)
    if arguments[-1] == "--json":
        assert PATH in str_of(json.loads(outcome.out))


@pytest.mark.parametrize("more", [(), ("--json",), ("--output", f"new {PATH}")], ids=["tables", "json", "files"])
def test_nothing_of_a_comparison_acts_on_a_terminal(rag_eval, poisoned, more):
    rag_eval(*RUN)
    rag_eval(*RUN)
    outcome = rag_eval("compare", "last~1", "last", "--root", f"root {PATH}", *more)
    assert outcome.code == 0
    assert not HARMFUL.findall(outcome.out + outcome.err)
    refused = rag_eval("compare", "nothing", "last", "--root", f"root {PATH}")
    assert "no path, run or experiment is called 'nothing'; the runs in " in refused.err
    assert not HARMFUL.findall(refused.err)
    if more == ("--json",):
        assert json.loads(outcome.out)["baseline"]["folder"].startswith(f"root {PATH}/runs/")
    if "--output" in more:
        assert not any(HARMFUL.findall(file.read_text()) for file in (poisoned / f"new {PATH}").iterdir())
    again = [word.replace(f"new {PATH}", f"newer {PATH}") for word in more]
    several = rag_eval("compare", "last~1", "last", "last", "--root", f"root {PATH}", *again)
    assert several.code == 0
    assert not HARMFUL.findall(several.out + several.err)
    if "--output" in more:
        assert not any(HARMFUL.findall(file.read_text()) for file in (poisoned / f"newer {PATH}").iterdir())


def test_a_broken_plug_in_is_listed_harmlessly(rag_eval, poisoned, monkeypatch):
    (poisoned / "broken_parts.py").write_text(f"raise RuntimeError({TEXT!r})")
    monkeypatch.syspath_prepend(poisoned)
    real = loading.built_in
    monkeypatch.setattr(loading, "built_in", lambda kind: {**real(kind), TEXT: "broken_parts:X"})
    loading.components.cache_clear()
    outcomes = [rag_eval("components"), rag_eval("components", "--json")]
    loading.components.cache_clear()
    assert not any(HARMFUL.findall(outcome.out) for outcome in outcomes)
    assert TEXT in [entry["name"] for entry in json.loads(outcomes[1].out)["embedder"]]


@pytest.mark.parametrize(
    ("encoding", "arguments"),
    [
        ("ascii", RUN),
        ("ascii", (*RUN, "--json")),
        ("ascii", SCORE),
        ("latin-1", (*SCORE, "--json")),
        ("latin-1", ("components",)),
    ],
    ids=["ascii run", "ascii run json", "ascii score", "latin-1 score json", "latin-1 components"],
)
def test_standard_output_may_be_of_any_encoding(poisoned, encoding, arguments):
    done = subprocess.run(
        [sys.executable, "-m", "rag_evaluation_framework", *arguments],
        cwd=poisoned,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"error" in done.stderr) == (0, False)
    text = done.stdout.decode(encoding)
    if "--json" in arguments:
        told = json.loads(text)
        if arguments[0] == "run":
            assert f"ok {TEXT}" in [entry["query"] for entry in told["worst"]]
        else:
            assert f"q {TEXT}" in told["rankings"][0]["per_query"]["hit@10"]


def test_names_of_files_that_look_like_markup_are_printed_as_they_are(rag_eval, folder):
    outcome = rag_eval("run", "--corpus", "docs", "--dataset", "questions.csv", "--root", ":smile: [bold]x[/bold]")
    assert "Saved to" in outcome.out
    assert ":smile: [bold]x[/bold]/runs/" in outcome.out
