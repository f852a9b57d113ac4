"""Inputs that are command lines, run in this process: arguments, and files, that are odd."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from tests.fuzz import mutation, odd, samples, uses

from rag_evaluation_framework.cli.main import main

Case = Callable[[Random, Path], None]

_COMMANDS: list[list[str]] = [
    ["run", "config.yaml", "--root", "kept"],
    ["run", "config.json", "--root", "kept", "--json"],
    ["run", "--corpus", "docs", "--dataset", "questions.csv", "--root", "kept", "--k", "2", "--budget", "60ch"],
    [
        "run",
        "config.yaml",
        "--retriever",
        "bm25:k1=1.2",
        "--chunker",
        "sentence",
        "--metric",
        "span_recall",
        "--no-import",
    ],
    [
        "run",
        "config.yaml",
        "--reranker",
        "rag_evaluation_framework.testing:ReversingReranker",
        "--set",
        "max_concurrency=2",
    ],
    [
        "run",
        "config.yaml",
        "--allow-failures",
        "1",
        "--allow-skipped",
        "9",
        "--set",
        "on_error=raise",
        "--evaluation-type",
        "document-level",
    ],
    ["score", "--qrels", "x.qrels", "--rankings", "x.run", "--metric", "ndcg@10", "--per-query"],
    ["score", "--qrels", "qrels.json", "--rankings", "x.run", "--rankings", "run.json", "--json"],
    ["compare", "last", "last~1", "--root", "saved"],
    ["compare", "saved/runs/a", "b", "--root", "saved", "--score", "hit", "--json"],
    ["compare", "a", "runs of numbers", "--root", "saved", "--output", "diff"],
    ["compare", "a", "b", "last", "--root", "saved", "--output", "board", "--cluster", "question"],
    [
        "init",
        "--corpus",
        "docs",
        "--questions",
        "questions.csv",
        "--name",
        "mine",
        "--root",
        "kept",
        "--glob",
        "**/*.md",
    ],
    ["cache", "info", "--root", "."],
    ["cache", "clear", "--root", ".", "--yes"],
    ["components", "--json"],
]
_WORDS = [
    "--help",
    "--version",
    "--",
    "-k",
    "--json=1",
    "--k=0",
    "--allow-failures=-1",
    "--chunker",
    "--name",
    "bm25:k1=x",
    "0ch",
]


def _files() -> dict[str, bytes]:
    return {
        "config.yaml": samples.YAML.encode(),
        "config.json": json.dumps(samples.CONFIG).encode(),
        "dataset.json": json.dumps(samples.native("token")).encode(),
        "questions.csv": samples.QUOTES_CSV.encode(),
        "x.qrels": samples.QRELS_TREC.encode(),
        "x.run": samples.RANKINGS_TREC.encode(),
        "qrels.json": json.dumps(samples.QRELS).encode(),
        "run.json": json.dumps(samples.RANKINGS).encode(),
        **{f"saved/runs/{run}/{name}": content for run in "ab" for name, content in samples.report("token").items()},
        **samples.cache_files(),
        **{f"docs/{name}": content.encode() for name, content in samples.DOCUMENTS.items()},
    }


def commands(rng: Random, folder: Path) -> None:
    arguments = [*rng.choice(_COMMANDS)]
    files = _files()
    if rng.random() < 0.6:
        name = rng.choice([name for name in files if name in arguments] or [*files])
        files[name] = mutation.mutated_bytes(rng, files[name], [*files.values()])
    if rng.random() < 0.7:
        _change(rng, arguments)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    run(arguments)


def _change(rng: Random, arguments: list[str]) -> None:
    place = rng.randrange(1, len(arguments))
    words = [*odd.TEXTS, *map(str, odd.SCALARS), *_WORDS]
    words = [word for word in words if "\x00" not in word]  # no shell could pass it
    kind = rng.random()
    if kind < 0.6:
        arguments[place] = rng.choice(words)
    elif kind < 0.7:
        arguments[place] += rng.choice(words)
    elif kind < 0.85:
        arguments.insert(place, rng.choice(words))
    else:
        del arguments[place]


def run(arguments: list[str], codes: tuple[int, ...] = (0, 2)) -> int:
    """Run the command line, check what it says, and return its exit code.

    Raises:
        Broken: It ends with another code than these, says nothing about an error, or acts on the terminal.
    """
    out, err = _stream(), _stream()
    with (
        mock.patch.object(sys, "argv", ["rag-eval", *arguments]),
        mock.patch.dict(os.environ, {"RAG_EVAL_DEBUG": "1", "COLUMNS": "100"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code: Any = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
    said = [_text(stream) for stream in (out, err)]
    if code not in codes or (code == 2 and not said[1].strip()):
        raise uses.Broken(f"the command ends with {code}, saying {len(said[1])} characters")
    if len(said[1]) > 4 * uses.MOST:
        raise uses.Broken("the command line says too much")
    for what, text in zip(("standard output", "standard error"), said, strict=True):
        uses.shown(what, text)
    return int(code)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer: Any = stream.buffer
    return str(buffer.getvalue().decode())


CASES: dict[str, Case] = {"commands": commands}
