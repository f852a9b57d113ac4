"""Publishing a result as an experiment of LangSmith, and what became of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework.base.files import write_over
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.integrations.experiment_content import ExperimentContent
from rag_evaluation_framework.integrations.experiment_sending import Completeness, ExperimentSending, RecordedExperiment
from rag_evaluation_framework.integrations.langsmith_client import checked_name, dataset_named, listed_examples, opened
from rag_evaluation_framework.integrations.matching import matching_rows, query_id_of
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.result import EvaluationResult

if TYPE_CHECKING:
    from langsmith import Client


# What became of an experiment that was published.

_TEXT = "rag_evaluation_framework.report.pages.dataset:published_text"  # a door upwards


@dataclass(frozen=True)
class PublishedExperiment:
    """An experiment in LangSmith, and what of it is there.

    Attributes:
        name: Its name.
        url: Its address.
        dataset_name: The dataset that it belongs to.
        questions: How many questions of the result are examples of that dataset: one run each.
        runs: How many runs are there.
        scores: How many scores the result has for these questions.
        scores_there: How many of them are there.
        sent: How many runs were sent now; those that were there before are not sent again.
        problems: What went wrong, as texts.
        unmatched: The ids of questions of the result that are not published: they are not in the dataset, or have
            another wording or other labels there.
        unanswered: The ids of questions of the dataset that are not in the result.
        uncompared: The ids of questions that are published though it is not known whether their labels there are those
            that they were scored with: their examples cannot be read without documents, or tell another level.
        reworded: The ids of those that are unmatched as they have another wording there.
        relabelled: The ids of those that are unmatched as they have other labels there.
    """

    name: str
    url: str
    dataset_name: str
    questions: int
    runs: int
    scores: int
    scores_there: int
    sent: int
    problems: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the whole result is there once, as LangSmith tells, beside the labels that it was scored with."""
        return not (self.is_lossy or self.unmatched or self.uncompared or self.problems)

    @property
    def is_lossy(self) -> bool:
        """Whether runs or scores are missing, which publishing again completes."""
        return self.runs < self.questions or self.scores_there < self.scores

    @property
    def told(self) -> str:
        """What people read."""
        text: str = load_installed(_TEXT)(self)
        return text


# Publishing a result as an experiment of LangSmith: what was retrieved and scored here, and nothing twice.

PATIENCE = 30.0
"""Seconds for which it is asked whether all is there: what is sent can be read only after a while."""


def publish_experiment(
    result: EvaluationResult[Any], dataset_name: str, *, client: Client | None = None, patience: float = PATIENCE
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
    completeness = Completeness(content, recorded, losses, patience)
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
