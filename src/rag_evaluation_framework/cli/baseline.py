"""`rag-eval baseline`: keep a run as what later ones are compared with."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from typing import Annotated

import typer

from rag_evaluation_framework import results
from rag_evaluation_framework._outside import one_line
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.results import store


def baseline(
    run: Annotated[str, typer.Argument(help="A saved run, named as in `rag-eval compare`, such as last.")],
    root: options.Root = None,
) -> None:
    """Keep a run as the baseline: copy its report to <root>/baseline/, in place of an earlier one.

    The folder can be kept in the repository; `rag-eval run --baseline baseline` compares with it.
    """
    where = root or store.ROOT
    report = results.keep_baseline(results.find_run(run, where), where)
    stdout().print(f"Wrote {one_line(str(report))}", soft_wrap=True)
