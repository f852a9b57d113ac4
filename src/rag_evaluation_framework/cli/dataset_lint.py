"""`rag-eval dataset lint`: check the labels and questions of a dataset."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import labelling, reports
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.dataset_file import chunks_of, read_dataset
from rag_evaluation_framework.cli.endings import Found
from rag_evaluation_framework.cli.output import print_json


def lint(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset, in any format, of any level.")],
    corpus: Annotated[Path | None, typer.Option(parser=paths.path, help="The folder of documents.")] = None,
    glob: Annotated[str, typer.Option(help="Which files of the folder to read.")] = "**/*.md",
    chunks: Annotated[
        Path | None, typer.Option(parser=paths.path, help="The chunks that were labelled, of ChunkRegistry.save.")
    ] = None,
    budget: Annotated[str, typer.Option(help="The largest context budget, in characters.")] = "4000ch",
    k: Annotated[int, typer.Option(min=1, help="The largest number of results.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with all that was found.")] = False,
) -> None:
    """Check a dataset: labels that no retriever can find, questions that mislead.

    Exit codes: 0 nothing is wrong, 1 errors or warnings were found, 2 the dataset cannot be read.
    """
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, glob)
    registry = chunks_of(chunks)
    loaded = read_dataset(dataset, documents, registry)
    report = labelling.lint_dataset(loaded, documents, registry, budget, k)
    if as_json:
        print_json({"dataset": str(dataset), **report.record()})
    else:
        reports.show_lint(stdout(), report)
    if report.problems:
        raise Found
