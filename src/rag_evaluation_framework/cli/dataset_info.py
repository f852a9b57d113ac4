"""`rag-eval dataset info`: what a dataset is like."""

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


def info(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset, in any format, of any level.")],
    corpus: Annotated[Path | None, typer.Option(parser=paths.path, help="The folder of documents.")] = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Describe a dataset: counts, lengths, documents, and the words that questions share with their answers."""
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    described = inspection.describe_dataset(read_dataset(dataset, documents, registry), documents, registry)
    if as_json:
        print_json({"dataset": str(dataset), **described.record()})
    else:
        report.show_dataset(stdout(), described)
