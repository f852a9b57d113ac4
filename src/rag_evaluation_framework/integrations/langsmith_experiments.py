"""Publishing a result as an experiment of LangSmith: what was retrieved and scored here, and nothing twice."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import write_over
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.integrations.experiment_completeness import Completeness
from rag_evaluation_framework.integrations.experiment_content import ExperimentContent
from rag_evaluation_framework.integrations.experiment_sending import ExperimentSending
from rag_evaluation_framework.integrations.langsmith_client import checked_name, opened
from rag_evaluation_framework.integrations.langsmith_listing import dataset_named, listed_examples
from rag_evaluation_framework.integrations.matching import matching_rows, query_id_of
from rag_evaluation_framework.integrations.published_experiment import PublishedExperiment
from rag_evaluation_framework.integrations.recorded_experiment import RecordedExperiment
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.result import EvaluationResult

if TYPE_CHECKING:
    from langsmith import Client

PATIENCE = 30.0
"""Seconds for which it is asked whether all is there: what is sent can be read only after a while."""


def publish_experiment(
    result: EvaluationResult[Any], dataset_name: str, *, client: "Client | None" = None, patience: float = PATIENCE
) -> PublishedExperiment:
    """Record a result as an experiment on a dataset in LangSmith, and return what of it is there.

    One run per question, with the places that were retrieved (no text), and one feedback per score, as it was computed
    here. Questions are matched by id, and not published if the dataset has them with another wording or other labels
    than they were scored with; where that cannot be seen, they are named (`uncompared`). Afterwards the numbers are
    read back, and what did not arrive is told. A result that was published before, wholly or in part, is completed:
    nothing is sent twice. The address is kept in the folder of the result, in `experiment.json`.

    Args:
        result: The result; one that was loaded from its folder will do.
        dataset_name: The name of the dataset in LangSmith.
        client: A client of LangSmith's SDK; by default one of the environment (`LANGSMITH_API_KEY`).
        patience: For how many seconds it is asked whether all is there.

    Raises:
        ConfigError: There is no key, or another argument cannot be used.
        DatasetError: There is no such dataset, or none of its examples is a question of the result.
        MissingDependency: LangSmith's SDK is not installed.
        ProviderError: LangSmith cannot be reached, or refuses.
        ResultError: What was retrieved is not known: the result was loaded from a report alone.
    """
    name, losses = checked_name(dataset_name), list[BaseException]()
    _check(result, patience)
    with opened(client, "publish_experiment", losses) as connected:
        stored = dataset_named(connected, name)
        if stored is None:
            raise DatasetError(f"LangSmith at {connected.api_url} has no dataset {name!r}; dataset push makes one")
        examples = {query_id_of(example): example for example in listed_examples(connected, stored.id)}
        hits, matches = result.queries.hits, matching_rows(result, examples)
        if not matches.rows:
            raise DatasetError(
                f"none of the questions of {result.name} is in the dataset {name!r} of LangSmith with the wording and "
                "the labels that it was scored with"
            )
        content = ExperimentContent(result, hits, examples, *matches)
        published = _published(connected, content, stored, losses, patience)
    keep_address(result, {**asdict(published), "notes": [] if published.complete else [published.told]})
    return published


def keep_address(result: EvaluationResult[Any], told: Mapping[str, Any]) -> None:
    """Keep beside the report of a result what became of its publication, if it has a folder.

    Args:
        result: The result.
        told: `url`, and `notes` which the result has whenever it is loaded.
    """
    if result.folder is not None and result.folder.is_dir():
        try:
            write_over(result.folder / store.EXPERIMENT, json.dumps(told, indent=1) + "\n")
        except OSError as error:  # the result is published all the same
            note(f"{result.folder}: the address of the experiment is not kept: {store.reason(error)}")


def _check(result: Any, patience: Any) -> None:
    if not isinstance(result, EvaluationResult):
        raise ConfigError(f"result={shown(result)}: expected an EvaluationResult")
    if isinstance(patience, bool) or not isinstance(patience, int | float) or not 0 <= patience < math.inf:
        raise ConfigError(f"patience={shown(patience)}: expected a number of seconds")


def _published(
    client: Any, content: ExperimentContent, dataset: Any, losses: list[BaseException], patience: float
) -> PublishedExperiment:
    """Send what is not there yet, and see what is there."""
    sending = ExperimentSending(client, content, dataset, losses)
    project, found, ours = sending.opened()
    recorded = RecordedExperiment(client, project.id)
    done = recorded.runs() if found else {}
    left = [row for row in content.rows if ours and content.example(row)["id"] not in done]
    if left:
        sending.send(left, project)
    completeness = Completeness(client, content, recorded, losses, patience)
    runs, scores = completeness.completed(left, found)
    if not ours and runs < len(content.rows):
        completeness.problems.append("another process is publishing it, so that nothing was sent")
    return PublishedExperiment(
        name=project.name,
        url=f"{str(dataset.url or '').rstrip('/')}/compare?selectedSessions={project.id}",
        dataset_name=dataset.name,
        questions=len(content.rows),
        runs=runs,
        scores=content.expected.total(),
        scores_there=scores,
        sent=len(left),
        problems=tuple(completeness.problems),
        unmatched=content.unmatched,
        unanswered=content.unanswered,
        uncompared=content.uncompared,
        reworded=content.reworded,
        relabelled=content.relabelled,
    )
