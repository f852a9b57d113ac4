"""`rag-eval publish`: record a run as an experiment in LangSmith."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rag_evaluation_framework import integrations, results
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.output import arriving, print_result
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.results import store


def publish(
    run: options.SavedRun,
    dataset: Annotated[str, typer.Argument(help="The name of its dataset in LangSmith.")],
    root: options.Root = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Record a run as an experiment on a dataset in LangSmith: where each result was found, and every score.

    Needs LANGSMITH_API_KEY. What arrived is read back; a run that was published in part is completed, and nothing is
    sent twice. `rag-eval dataset push` makes the dataset.
    Exit codes: 0 all of it is there, 2 not all of it, or beside labels that could not be compared.
    """
    result = results.load_result(results.find_run(run, root or store.ROOT))
    experiment = integrations.publish_experiment(result, dataset)
    with arriving(f"the experiment is at {experiment.url}"):
        record = {**asdict(experiment), "complete": experiment.complete}
        told = f"{experiment.told}\n" if experiment.complete else ""
        print_result(record, lambda: f"{told}{experiment.url}", as_json=as_json)
    if not experiment.complete:
        raise ProviderError(experiment.told, "LangSmith")
