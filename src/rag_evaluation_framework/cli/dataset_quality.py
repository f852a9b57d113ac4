"""`rag-eval dataset quality`: how good a dataset is as a test, beside public questions."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import inspection, report
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.dataset_file import chunks_of, read_dataset
from rag_evaluation_framework.cli.output import print_json


def quality(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset, in any format, of any level.")],
    corpus: Annotated[Path, typer.Option(parser=paths.path, help="The folder of documents.")],
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Judge a dataset as a test: words, places, coverage, repetition, difficulty, beside public questions."""
    documents = rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    measured = inspection.dataset_quality(read_dataset(dataset, documents, registry), documents, registry)
    public = inspection.public_questions()
    if as_json:
        print_json({"dataset": str(dataset), **measured.record(), "public": [one.record() for one in public]})
    else:
        report.show_quality(stdout(), measured, public)
