"""`rag-eval compare`: two saved runs side by side, question by question."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import reports, results
from rag_evaluation_framework._outside import json_text, one_line
from rag_evaluation_framework._support.files import checked_path
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.output import arriving, print_json
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results import store

if TYPE_CHECKING:
    from rag_evaluation_framework.results.summary import Summary

_NAMING = "a path, a folder in <root>/runs/ or the beginning of its name, an experiment, or last, last~1 …"


def compare(
    baseline: Annotated[str, typer.Argument(help=f"The run before: {_NAMING}")],
    candidate: Annotated[str, typer.Argument(help="The run after, named like the baseline.")],
    root: options.Root = None,
    score: Annotated[
        str | None, typer.Option(help="By which score questions got better or worse; by default the first.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the questions that got worse to show.")] = 5,
    output: Annotated[
        Path | None, typer.Option(parser=paths.path, help="A new folder for diff.json, and diff.md for a pull request.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare two saved runs: the candidate against the baseline, question by question.

    Runs that cannot be compared fairly are refused. Exit codes: 0 compared, 2 refused.
    """
    folder = None if output is None else checked_path(output, ConfigError)
    found = [results.find_run(name, root or store.ROOT) for name in (baseline, candidate)]
    before, after = map(rag.load_result, found)
    compared = rag.Comparison.of(before, after)
    if _report(found[0]).samefile(_report(found[1])):
        compared = replace(compared, notes=("baseline and candidate are the same run", *compared.notes))
    record, summary = record_of(compared, before, after), reports.difference(compared, before, after, score, worst)
    if folder is not None:
        store.write_folder(folder, lambda made: _write(made, record, summary))
    where = "" if folder is None else one_line(str(folder))
    with arriving(f"the comparison is saved in {where}") if where else nullcontext():
        if as_json:
            print_json(record)
            return
        console = stdout()
        reports.show_difference(console, summary)
        if where:
            console.print(f"\nSaved to {where}", soft_wrap=True)


def _report(run: Path) -> Path:
    return run / store.REPORT if run.is_dir() else run


def _write(folder: Path, record: dict[str, Any], summary: Summary) -> None:
    store.write_lines(folder / "diff.json", [json_text(record, indent=1)])
    store.write_lines(folder / "diff.md", [summary.as_markdown().removesuffix("\n")])


def record_of(
    compared: rag.Comparison, before: rag.EvaluationResult[Any], after: rag.EvaluationResult[Any]
) -> dict[str, Any]:
    """Return a comparison for JSON, with where its runs are."""
    record = compared.record()
    for which, run in (("baseline", before), ("candidate", after)):
        record[which] |= {"folder": str(run.folder), "created": run.created}
    return record
