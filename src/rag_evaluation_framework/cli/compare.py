"""`rag-eval compare`: two saved runs side by side, question by question, or any number of them in a table."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import analysis, report, results
from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.base.outside import json_text, one_line
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.output import arriving, print_result, print_text
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results import store

if TYPE_CHECKING:
    from rag_evaluation_framework.results.means import Cluster


def compare(
    baseline: Annotated[
        str,
        typer.Argument(
            help="The run before: a path, a folder in <root>/runs/ or the beginning of its name, an experiment, or "
            "last, last~1 …"
        ),
    ],
    candidate: Annotated[str, typer.Argument(help="The run after, named like the baseline.")],
    more: Annotated[
        list[str] | None, typer.Argument(help="Other runs: with them, one table says which are tied with the best.")
    ] = None,
    root: options.Root = None,
    score: Annotated[
        str | None,
        typer.Option(help="By which score questions got better or worse, or runs are ordered; by default the first."),
    ] = None,
    cluster: options.Cluster = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROPERTY",
            help="Show slices of the questions: by a key of their metadata such as tags, document or answer length.",
        ),
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the questions that got worse to show.")] = 5,
    output: Annotated[
        Path | None,
        paths.PathOption(
            help="A new folder for diff.json, and diff.md for a pull request; of several runs leaderboard.*."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare saved runs: the candidate against the baseline, question by question, or several runs in a table.

    Runs that cannot be compared fairly are refused. Exit codes: 0 compared, 2 refused.
    """
    folder = None if output is None else checked_path(output, ConfigError)
    found = [results.find_run(name, root or store.ROOT) for name in (baseline, candidate, *(more or ()))]
    runs = [rag.load_result(path) for path in found]
    independent: Any = cluster  # whatever it is, it is checked
    if more and by:
        raise ConfigError(f"--by {by[0]}: slices are those of two runs, got {len(runs)}; compare two of them")
    record, page = (
        _several(runs, found, score, worst, independent)
        if more
        else _two(runs, found, score, worst, independent, dict.fromkeys(by or ()))
    )
    if folder is not None:
        name = "leaderboard" if more else "diff"
        files = {f"{name}.json": json_text(record, indent=1), f"{name}.md": page.as_markdown()}
        store.write_folder(folder, lambda made: store.write_texts(made, files))
    where = "" if folder is None else one_line(str(folder))
    with arriving(where and f"the comparison is saved in {where}"):
        print_result(record, lambda: page, as_json=as_json)
        if where and not as_json:
            print_text(report.saved_text(where))


def _two(
    runs: Sequence[rag.EvaluationResult[Any]],
    found: Sequence[Path],
    score: str | None,
    worst: int,
    cluster: Cluster | None,
    by: Iterable[str],
) -> tuple[dict[str, Any], report.Page]:
    """Return a comparison for JSON, and as people read it."""
    before, after = runs
    compared = rag.Comparison.of(before, after, cluster=cluster)
    if _is_same(*found):
        compared = replace(compared, notes=("baseline and candidate are the same run", *compared.notes))
    sliced = {name: compared.slices(name, score) for name in by}
    record = compared.record((before, after))
    if sliced:
        record["slices"] = {name: [analysis.slice_record(one) for one in slices] for name, slices in sliced.items()}
    tables = [report.slices_table(name, slices, cluster) for name, slices in sliced.items()]
    return record, report.comparison_page(compared, (before, after), score, worst, tables)


def _several(
    runs: Sequence[rag.EvaluationResult[Any]],
    found: Sequence[Path],
    score: str | None,
    worst: int,
    cluster: Cluster | None,
) -> tuple[dict[str, Any], report.Page]:
    """Return a table of runs for JSON, and as people read it."""
    board = analysis.Leaderboard.of(runs, cluster=cluster)
    again = [
        f"{one} and {other} are the same run"
        for (one, path), (other, second) in combinations(zip(board.runs, found, strict=True), 2)
        if _is_same(path, second)
    ]
    board = replace(board, notes=(*again, *board.notes))
    record = board.record(score)
    for known, run in zip(record["runs"], runs, strict=True):
        known |= {"folder": str(run.folder), "created": run.created}
    return record, report.leaderboard_page(board, score, worst, runs)


def _is_same(one: Path, other: Path) -> bool:
    return _report(one).samefile(_report(other))


def _report(run: Path) -> Path:
    return run / store.REPORT if run.is_dir() else run
