"""`rag-eval compare`: two saved runs side by side, question by question, or any number of them in a table."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

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
    files = [path / store.REPORT if path.is_dir() else path for path in found]
    independent: Any = cluster  # whatever it is, it is checked
    if more and by:
        raise ConfigError(f"--by {by[0]}: slices are those of two runs, got {len(runs)}; compare two of them")
    if more:
        board = analysis.Leaderboard.of(runs, cluster=independent)
        again = [
            f"{one} and {other} are the same run"
            for (one, file), (other, second) in combinations(zip(board.runs, files, strict=True), 2)
            if file.samefile(second)
        ]
        board = replace(board, notes=(*again, *board.notes))
        record = board.record(score)
        for known, run in zip(record["runs"], runs, strict=True):
            known |= {"folder": str(run.folder), "created": run.created}
        page = report.leaderboard_page(board, score, worst, runs)
    else:
        before, after = runs
        compared = rag.Comparison.of(before, after, cluster=independent)
        if files[0].samefile(files[1]):
            compared = replace(compared, notes=("baseline and candidate are the same run", *compared.notes))
        sliced = {name: compared.slices(name, score) for name in dict.fromkeys(by or ())}
        record = compared.record((before, after))
        if sliced:
            record["slices"] = {name: [analysis.slice_record(one) for one in slices] for name, slices in sliced.items()}
        tables = [report.slices_table(name, slices, independent) for name, slices in sliced.items()]
        page = report.comparison_page(compared, (before, after), score, worst, tables)
    if folder is not None:
        name = "leaderboard" if more else "diff"
        texts = {f"{name}.json": json_text(record, indent=1), f"{name}.md": page.as_markdown()}
        store.write_folder(folder, lambda made: store.write_texts(made, texts))
    where = "" if folder is None else one_line(str(folder))
    with arriving(where and f"the comparison is saved in {where}"):
        print_result(record, lambda: page, as_json=as_json)
        if where and not as_json:
            print_text(report.saved_text(where))
