"""`rag-eval dataset lint`: check the labels and questions of a dataset."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import inspection, report
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.dataset_file import chunks_of, read_dataset, write_dataset
from rag_evaluation_framework.cli.endings import Found
from rag_evaluation_framework.cli.output import arriving, print_json, print_text
from rag_evaluation_framework.errors import ConfigError


def lint(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset, in any format, of any level.")],
    corpus: Annotated[Path | None, typer.Option(parser=paths.path, help="The folder of documents.")] = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    budget: Annotated[str, typer.Option(help="The largest context budget, in characters.")] = "4000ch",
    k: Annotated[int, typer.Option(min=1, help="The largest number of results.")] = 10,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what is certain, in a native .json or .jsonl file; it is kept beside.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with all that was found.")] = False,
) -> None:
    """Check a dataset: labels that no retriever can find, questions that mislead.

    With --fix labels that moved are found again, copies removed, and labels trimmed.
    Exit codes: 0 nothing is wrong, 1 errors or warnings were found, 2 the dataset cannot be read.
    """
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    loaded = read_dataset(dataset, documents, registry)
    fixed, written = _fixed(loaded, documents, dataset) if fix else (None, "")
    found = inspection.lint_dataset(loaded if fixed is None else fixed.dataset, documents, registry, budget, k)
    with arriving(written) if written else nullcontext():
        if as_json:
            told = None if fixed is None else {**fixed.record(), "written": written}
            print_json({"dataset": str(dataset), "fixed": told, **found.record()})
        else:
            if fixed is not None:
                report.show_fixes(stdout(), fixed)
                print_text(written)
            report.show_lint(stdout(), found)
    if found.problems:
        raise Found


def _fixed(
    loaded: rag.Dataset[Any], documents: rag.Corpus | None, dataset: Path
) -> tuple[inspection.FixedDataset, str]:
    """Mend a dataset and write it in place of the one that is kept beside it; return what was done.

    Raises:
        ConfigError: Its file is not one that is written.
        DatasetError: It cannot be written.
    """
    if loaded.recorded is None or dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(
            f"{dataset}: --fix writes native .json and .jsonl files, as `rag-eval init` makes them; correct this one "
            "where it was made"
        )
    fixed = inspection.fix_dataset(loaded, documents)
    return fixed, write_dataset(fixed.dataset, dataset) if fixed.fixes else f"{dataset} is as it was"
