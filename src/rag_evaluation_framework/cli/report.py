"""`rag-eval report`: saved runs as one file of HTML."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_evaluation_framework import report as pages
from rag_evaluation_framework import results
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.output import print_text, write_page
from rag_evaluation_framework.results import store


def report(
    run: options.SavedRun,
    others: Annotated[
        list[str] | None,
        typer.Argument(help="Other runs: one is compared with the first, with more of them there is a table."),
    ] = None,
    output: Annotated[Path, paths.PathOption("--output", "-o", help="The file to write; it must not exist.")] = Path(
        "report.html"
    ),
    worst: Annotated[
        int, typer.Option(min=0, help="How many of the weakest questions to show with their passages.")
    ] = 50,
    root: options.Root = None,
) -> None:
    """Write a run, with its weakest questions and their passages marked, or a comparison, as one file of HTML.

    The file loads nothing and runs nothing: it can be sent, printed and opened anywhere.
    Exit codes: 0 written, 2 refused.
    """
    paths.new_page("--output", output)
    runs = [results.load_result(results.find_run(name, root or store.ROOT)) for name in (run, *(others or ()))]
    print_text(write_page(output, pages.whole_page(runs, worst)))
