"""`rag-eval init`: from a folder and questions with quotes to a dataset and a configuration."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import experiments, reports
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.files import write_new

_CONFIG = """\
# Run it with: rag-eval run {config}
corpus: {corpus}
glob: {glob}
dataset: {dataset}

# The pipeline: chunks that are searched by their words (BM25) or, with an embedder, by their vectors.
# `rag-eval components` lists what can be named.
chunker: recursive-character:chunk_size=800
# embedder: lsa
# A pipeline of your own takes the place of all that:
# retriever: my_module:search

# Where rankings are cut: numbers of results, and context budgets in characters (or tokens, with a tokenizer).
k: [5, 10]
budgets: [4000ch]
# metrics: [span_recall, span_precision, span_iou, span_dcg]

# Are the right documents, or chunks, found? By default the right text is asked for.
# evaluation_type: document-level
"""


def init(
    corpus: Annotated[Path, typer.Option(help="Folder of documents.")],
    questions: Annotated[Path, typer.Option(help="CSV or JSONL of question, quote[, document].")],
    glob: Annotated[str, typer.Option(help="Which files of the folder.")] = "**/*.md",
    name: Annotated[str | None, typer.Option(help="Name of the dataset; by default that of the questions.")] = None,
    root: Annotated[Path, typer.Option(help="Where datasets, configurations and runs are kept.")] = Path(".rag-eval"),
) -> None:
    """Turn a folder and questions with quotes into a dataset and a configuration; nothing is overwritten."""
    called = name or questions.stem
    if not called or called != Path(called).name:
        raise ConfigError(f"--name {called!r}: wanted a plain name, without folders")
    config, target = root / f"{called}.yaml", root / "datasets" / f"{called}.json"
    for path in (config, target):
        if path.exists():
            raise ConfigError(f"{path} exists already and is kept as it is; choose another --name, or move it away")
    experiments.check_root(root)
    documents = rag.Corpus.from_folder(corpus, glob)
    check = rag.check_quotes(questions, documents)
    console = stdout()
    reports.show_quotes(console, check)
    settings = _CONFIG.format(
        config=shlex.quote(config.as_posix()),
        corpus=_yaml_path(corpus, root),
        glob=json.dumps(glob, ensure_ascii=False),
        dataset=_yaml_path(target, root),
    )
    rag.save_dataset(check.dataset(called), target)
    try:
        write_new(config, settings)
    except rag.DatasetError:
        target.unlink()
        raise
    kept = "" if root == Path(".rag-eval") else f" --root {shlex.quote(str(root))}"
    typer.echo(f"Wrote {target} and {config}. Next:\n\n  rag-eval run {shlex.quote(str(config))}{kept}")


def _yaml_path(path: Path, start: Path) -> str:
    """Return a path relative to a folder, as a YAML string (JSON strings are YAML)."""
    return json.dumps(Path(os.path.relpath(path, start)).as_posix(), ensure_ascii=False)
