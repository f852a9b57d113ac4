"""`rag-eval explain`: where a saved run, or one of its questions, lost what was relevant."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import results
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.output import components_print_to_stderr, print_result
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results import store


def explain(
    run: options.SavedRun,
    question: Annotated[
        str | None,
        typer.Argument(help="One question: its id, or the beginning or some words of it; by default the whole run."),
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="The recall to explain, such as span_recall@5; by default the first.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Another run, to see what changed rank; with a question.")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Ask your own pipeline, too; imports the code that the run names.")
    ] = False,
    worst: Annotated[int, typer.Option(min=0, help="How many of the questions that lost most to show.")] = 5,
    root: options.Root = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell where a run lost what was relevant: of the whole run by cause, of a question result by result.

    The documents are indexed again and every question is asked for 100 results, if all parts of the pipeline are
    built in. Exit codes: 0 explained, 2 refused.
    """
    if baseline is not None and question is None:
        raise ConfigError(
            "--baseline was given without a question: name one, or compare the runs with `rag-eval compare`"
        )
    result = rag.load_result(results.find_run(run, root or store.ROOT))
    before: Any = None if baseline is None else rag.load_result(results.find_run(baseline, root or store.ROOT))
    with components_print_to_stderr():
        if question is None:
            lost = rag.Attribution.of(result, score, deep=deep)
            record, page = lost.record(), partial(lost.summary, worst)
        else:
            explanation = result.explain(question, score, baseline=before, deep=deep)
            record, page = explanation.record(), partial(explanation.summary)
    print_result(record, page, as_json=as_json)
