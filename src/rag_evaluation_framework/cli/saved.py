"""Commands about saved runs: keep one as the baseline, compare, explain, report and publish them."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rag_evaluation_framework as rag

from .. import analysis, runs, trackers
from .. import report as pages
from ..analysis import attribution, gates
from ..base.files import checked_path
from ..base.notes import note
from ..base.outside import json_text, one_line
from ..errors import ConfigError, ProviderError, ResultError
from ..runs import store
from . import run_options as options
from .output import components_print_to_stderr, print_result, print_text, write_page


def baseline(run: str, *, root: Path | None = None, allow_failures: int = 0, allow_skipped: int = 0) -> None:
    """Keep a run as the baseline: copy its report to <root>/baseline/, in place of an earlier one.

    The folder can be kept in the repository; `rag-eval run --baseline baseline` compares with it.
    """
    where = root or store.ROOT
    found = runs.find_run(run, where)
    result = runs.load_result(found)
    problems = gates.unreliable(result, allow_failures, allow_skipped, allow_unlocated=1.0)
    if problems:
        raise ConfigError(
            f"{result.name} is not a valid baseline: {'; '.join(problems)}, so that gates would not see what is lost "
            "of them. Mend the run, and keep it then"
        )
    earlier = None
    with suppress(ResultError):  # it is replaced, whatever it is, if it is there
        earlier = runs.load_result(Path(where) / store.BASELINE)
    for told in pages.baseline_notes(result, earlier):
        note(told)
    print_text(pages.baseline_text(result, runs.keep_baseline(found, where)))


def compare(
    baseline: str,
    candidate: str,
    more: list[str] | None = None,
    *,
    root: Path | None = None,
    score: str | None = None,
    cluster: Literal["question", "document"] | None = None,
    by: Annotated[list[str] | None, typer.Option(metavar="PROPERTY")] = None,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    """Compare saved runs: the candidate against the baseline, question by question, or several runs in a table.

    Runs that cannot be compared fairly are refused. Exit codes: 0 compared, 2 refused.

    Args:
        baseline: The run before: a path, a folder in <root>/runs/ or the beginning of its name, an experiment, or last,
            last~1 …
        candidate: The run after, named like the baseline.
        more: Other runs: with them, one table says which are tied with the best.
        score: By which score questions got better or worse, or runs are ordered; by default the first.
        by: Show slices of the questions: by a key of their metadata such as tags, document or answer length.
        output: A new folder for diff.json, and diff.md for a pull request; of several runs leaderboard.*.
    """
    folder = None if output is None else checked_path(output, ConfigError)
    found = [runs.find_run(name, root or store.ROOT) for name in (baseline, candidate, *(more or ()))]
    loaded = [rag.load_result(path) for path in found]
    files = [path / store.REPORT if path.is_dir() else path for path in found]
    if more and by:
        raise ConfigError(f"--by {by[0]}: slices are those of two runs, got {len(loaded)}; compare two of them")
    if more:
        board = analysis.Leaderboard.of(loaded, cluster=cluster)
        pairs = combinations(zip(board.runs, files, strict=True), 2)
        again = [f"{one} and {other} are the same run" for (one, file), (other, same) in pairs if file.samefile(same)]
        board = replace(board, notes=(*again, *board.notes))
        record = board.record(score)
        for known, run in zip(record["runs"], loaded, strict=True):
            known |= {"folder": str(run.folder), "created": run.created}
        page = pages.leaderboard_page(board, score, runs=loaded)
    else:
        before, after = loaded
        compared = rag.Comparison.of(before, after, cluster=cluster)
        if files[0].samefile(files[1]):
            compared = replace(compared, notes=("baseline and candidate are the same run", *compared.notes))
        sliced = {name: compared.slices(name, score) for name in dict.fromkeys(by or ())}
        record = compared.record((before, after))
        if sliced:
            record["slices"] = {name: [analysis.slice_record(one) for one in slices] for name, slices in sliced.items()}
        tables = [pages.slices_table(name, slices, cluster) for name, slices in sliced.items()]
        page = pages.comparison_page(compared, (before, after), score, more=tables)
    if folder is not None:
        name = "leaderboard" if more else "diff"
        texts = {f"{name}.json": json_text(record, indent=1), f"{name}.md": page.as_markdown()}
        store.write_folder(folder, lambda made: store.write_texts(made, texts))
    print_result(record, lambda: page, as_json=as_json)
    if folder is not None and not as_json:
        print_text(pages.saved_text(one_line(str(folder))))


def explain(
    run: str,
    question: list[str] | None = None,
    *,
    score: str | None = None,
    deep: bool = False,
    root: Path | None = None,
    as_json: bool = False,
) -> None:
    """Tell where a run lost what was relevant: of the whole run by cause, of a question result by result.

    The documents are indexed again and every question is asked for 100 results, if all parts of the pipeline are
    built in. Exit codes: 0 explained, 2 refused.

    Args:
        question: Questions: the id of each, or the beginning or some words of it; by default the whole run.
        score: The recall to explain, such as span_recall@5; by default the first.
        deep: Ask your own pipeline, too; imports the code that the run names.
    """
    result = rag.load_result(runs.find_run(run, root or store.ROOT))
    with components_print_to_stderr():
        explained: Any = (
            result.explain(question if len(question) > 1 else question[0], score, deep=deep)
            if question
            else attribution.Attribution.of(result, score, deep=deep)
        )
        several = len(question or ()) > 1
        record = {"questions": [one.record() for one in explained]} if several else explained.record()
    print_result(record, explained.summary, as_json=as_json)


def report(
    run: str,
    others: list[str] | None = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("report.html"),
    worst: int = 50,
    root: Path | None = None,
) -> None:
    """Write a run, with its weakest questions and their passages marked, or a comparison, as one file.

    HTML loads nothing and runs nothing: it can be sent, printed and opened anywhere. A name that ends in .md is written
    as Markdown, one in .tex as LaTeX, which has the tables alone.
    Exit codes: 0 written, 2 refused.

    Args:
        others: Other runs: one is compared with the first, with more of them there is a table.
        output: The file to write; it must not exist.
        worst: How many of the weakest questions to show with their passages.
    """
    options.check_new("--output", output, *options.PAGE, ".md", ".tex")
    loaded = [runs.load_result(runs.find_run(name, root or store.ROOT)) for name in (run, *(others or ()))]
    print_text(write_page(output, pages.whole_page(loaded, worst)))


def publish(run: str, dataset: str, *, root: Path | None = None) -> None:
    """Record a run as an experiment on a dataset in LangSmith: where each result was found, and every score.

    Needs LANGSMITH_API_KEY. What arrived is counted. Publishing a run again makes a new experiment. `rag-eval dataset
    push` makes the dataset.
    Exit codes: 0 all of it is there, 2 not all of it.

    Args:
        dataset: The name of its dataset in LangSmith.
    """
    result = runs.load_result(runs.find_run(run, root or store.ROOT))
    experiment = trackers.publish_experiment(result, dataset)
    if experiment.complete:
        print_text(experiment.told)
    print_text(experiment.url)
    if not experiment.complete:
        raise ProviderError(experiment.told, "LangSmith")
