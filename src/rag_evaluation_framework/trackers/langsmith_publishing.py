"""Publishing a result as an experiment of LangSmith, and checking what arrived."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from ..base import progress, require
from ..base.files import is_object, write_over
from ..base.notes import note
from ..base.outside import shown
from ..contracts.component import check_number
from ..contracts.registry.loading import load_installed
from ..contracts.roles import Outcome, Sink
from ..data.hits import Ranking
from ..datasets.langsmith_examples import question_id
from ..errors import ConfigError, DatasetError, Interrupted, RagEvalError, SaveFailed
from ..runs import EvaluationResult, QueryResult, store
from ..runs.naming import record_parts, servers
from .langsmith_client import Example, answering, check_ready, checked_name, opened, stored_dataset, why_lost

if TYPE_CHECKING:
    from langsmith import Client

PATIENCE = 30.0
"""Seconds for which it is asked whether all is there: what is sent can be read only after a while."""

_TEXT = "rag_evaluation_framework.report.pages.dataset:published_text"  # a door upwards
_COMPONENTS = ("chunker", "embedder", "vector_store", "reranker")
_LONGEST_NAME = 80
_FLUSH = 60  # seconds
_FIRST_WAIT = 0.05  # seconds, doubled each time


@dataclass(frozen=True)
class PublishedExperiment:
    """An experiment in LangSmith, and how much of it arrived.

    Attributes:
        name: Its name.
        url: Its address.
        dataset_name: The dataset that it belongs to.
        questions: How many questions of the result are examples of that dataset: one run each.
        runs: How many runs are there.
        scores: How many scores the result has for these questions.
        scores_there: How many of them are there.
        problems: Why runs or scores were not sent, as far as that is known.
        unmatched: The ids of questions of the result that are not published: they are not in the dataset, or have
            another wording there.
    """

    name: str
    url: str
    dataset_name: str
    questions: int
    runs: int
    scores: int
    scores_there: int
    problems: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every question and every score of the result is there, as LangSmith counts them."""
        return not (self.is_lossy or self.unmatched)

    @property
    def is_lossy(self) -> bool:
        """Whether runs or scores that were sent are missing."""
        return self.runs < self.questions or self.scores_there < self.scores

    @property
    def told(self) -> str:
        """One line for people."""
        text: str = load_installed(_TEXT)(self)
        return text


def publish_experiment(
    result: EvaluationResult[Any], dataset_name: str, *, client: Client | None = None, patience: float = PATIENCE
) -> PublishedExperiment:
    """Record a result as a new experiment on a dataset in LangSmith, and return how much of it arrived.

    One run per question, with the places that were retrieved (no text), and one feedback per score, as it was computed
    here. Questions are matched by id, and not published if the dataset has them with another wording. Afterwards
    LangSmith is asked how much is there, and what did not arrive is told. The address is kept in the folder of the
    result, in `experiment.json`.

    Args:
        result: The result; one that was loaded from its folder will do.
        dataset_name: The name of the dataset in LangSmith.
        client: A client of LangSmith's SDK; by default one of the environment (`LANGSMITH_API_KEY`).
        patience: For how many seconds it is asked whether all is there.

    Raises:
        ConfigError: There is no key, or another argument cannot be used.
        DatasetError: There is no such dataset, or none of its examples is a question of the result.
        MissingDependency: LangSmith's SDK is not installed.
        ProviderError: LangSmith cannot be reached, or refuses. What is lost later is told.
        ResultError: What was retrieved is not known: the result was loaded from a report alone.
    """
    name, losses = checked_name(dataset_name), list[BaseException]()
    given: Any = result
    if not isinstance(given, EvaluationResult):
        raise ConfigError(f"result={shown(given)}: expected an EvaluationResult")
    check_number("publish_experiment", "patience", patience)
    hits = result.queries.hits
    with opened(client, "publish_experiment", losses) as connected:
        dataset, stored = stored_dataset(connected, name)
        examples = {_query_id(example): example for example in stored}
        sent = [
            (query, hits[row], example)
            for row, query in enumerate(result.queries)
            if (example := examples.get(query.query_id))
            and (not query.text or query.text in example["inputs"].values())
        ]
        if not sent:
            raise DatasetError(
                f"none of the questions of {result.name} is in the dataset {name!r} of LangSmith with its wording"
            )
        expected = Counter(name for query, *_ in sent for name in _scores(query))
        with answering(connected, "recording the experiment"):
            project = connected.create_project(
                f"{result.name[:_LONGEST_NAME].strip() or 'rag-eval'}-{uuid4().hex[:8]}",
                description=f"{result.evaluation_type} evaluation by rag-eval",
                reference_dataset_id=dataset.id,
                metadata=_metadata(result),
                num_examples=len(sent),
                num_repetitions=1,
                evaluator_keys=list(expected),
                upsert=True,  # the name is its own: one that is there was made by this request, whose answer was lost
            )
            _send(connected, project, sent)
        runs, scores_there = _arrived(connected, project.id, len(sent), expected, losses, patience)

    there = {query.query_id for query, *_ in sent}
    published = PublishedExperiment(
        name=project.name,
        url=f"{str(dataset.url or '').rstrip('/')}/compare?selectedSessions={project.id}",
        dataset_name=dataset.name,
        questions=len(sent),
        runs=runs,
        scores=expected.total(),
        scores_there=scores_there,
        unmatched=tuple(query_id for query_id in result.scores.query_ids if query_id not in there),
    )
    if published.is_lossy:  # else only answers were lost
        published = replace(published, problems=tuple(dict.fromkeys(map(why_lost, losses))))
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


def _query_id(example: Example) -> str:
    """Return the id of the question of an example, as a dataset that is pulled has it."""
    own: Any = example["outputs"].get("metadata")
    everything = {**example["inputs"], **example["outputs"], **(own if is_object(own) else {}), **example["metadata"]}
    return question_id({"metadata": everything, "id": example["id"]}) or ""


# What is sent: metadata of the whole and, for each question, places and scores. No text of the documents.


def _metadata(result: EvaluationResult[Any]) -> dict[str, Any]:
    """Return the metadata of the experiment."""
    retriever = result.config.get("retriever")
    parts = [(key, part.get(key)) for part in record_parts(retriever) for key in _COMPONENTS]
    asked = servers(retriever)
    return {
        "rag_eval_version": result.version,
        "evaluation_type": result.evaluation_type,
        "retriever": result.name,
        **{key: str(part.get("type", "")) for key, part in reversed(parts) if is_object(part)},  # the outermost counts
        **({"servers": asked} if asked else {}),
        "k": result.cutoffs[0],
        "cutoffs": list(result.cutoffs),
        "dataset_hash": result.config["dataset"]["hash"],
        "corpus_hash": result.config["corpus"]["hash"],
        "means": {name: mean for name, mean in result.metrics.items() if mean is not None},
    }


def run_outputs(query: QueryResult[Any], hits: Ranking) -> dict[str, Any]:
    """Return the outputs of a question: the place of each result, and the seconds of each stage.

    Args:
        query: The question.
        hits: What was retrieved for it.
    """
    fields = ("doc_id", "start", "end", "chunk_id", "score")
    places = [{name: told for name in fields if (told := getattr(hit, name)) is not None} for hit in hits]
    return {"hits": places, "seconds": dict(query.stages), "status": query.status}


def _scores(query: QueryResult[Any]) -> dict[str, float]:
    """Return the scores that a question has."""
    return {name: score for name, score in query.scores.items() if score is not None}


def _send(client: Any, project: Any, sent: Sequence[tuple[QueryResult[Any], Ranking, Example]]) -> None:
    """Give the runs and the scores of questions to the SDK, which sends them later; what is lost is not known here.

    These are the calls that `client.evaluate` makes. It would also print an address, show a bar and log a traceback for
    each question that failed.

    Args:
        client: The client of the SDK.
        project: The experiment.
        sent: Each question with what was retrieved for it, and its example.
    """
    langsmith: Any = require("langsmith", extra="langsmith", needed_by="publish_experiment")
    for query, hits, example in progress(sent, "Publishing", "run", file=sys.stderr):
        run_id, end = langsmith.uuid7(), datetime.now(UTC)
        start = end - timedelta(seconds=query.total or 0.0)
        error = "; ".join(f"{each.stage}: {each.kind}: {each.message}" for each in query.failures)
        failed = query.status == "failed"
        client.create_run(
            "retrieve",
            example["inputs"],
            "chain",
            outputs=None if failed else run_outputs(query, hits),
            error=error if failed else None,
            id=run_id,
            trace_id=run_id,
            dotted_order=f"{start:%Y%m%dT%H%M%S%fZ}{run_id}",
            start_time=start,
            end_time=end,
            project_name=project.name,
            reference_example_id=example["id"],
        )
        # With its trace a score is queued, and sent together with the runs.
        about = {"trace_id": run_id, "session_id": project.id, "start_time": start, "feedback_source_type": "model"}
        for name, score in _scores(query).items():
            client.create_feedback(run_id, name, score=score, **about)
    client.flush(timeout=_FLUSH)


# What of it is there.


def _arrived(
    client: Any,
    project_id: Any,
    questions: int,
    expected: Counter[str],
    losses: Sequence[BaseException],
    patience: float,
) -> tuple[int, int]:
    """Return how many runs and scores are there, as LangSmith counts them.

    It is asked again until all is there, `patience` seconds are over, or something is known to be lost.
    """
    end, wait = time.monotonic() + patience, _FIRST_WAIT
    while True:
        with answering(client, "reading back what arrived"):
            read = client.read_project(project_id=project_id, include_stats=True)
            stats: Any = read.feedback_stats or {}
            there = Counter({key: int(known["n"] or 0) for key, known in stats.items()})
            runs, scores = min(int(read.run_count or 0), questions), (there & expected).total()
        if (runs == questions and scores == expected.total()) or losses or time.monotonic() + wait > end:
            return runs, scores
        time.sleep(wait)
        wait *= 2


# Runs are published as they are made.


@dataclass(frozen=True)
class LangSmithSink(Sink):
    """Publishes a run as an experiment of a dataset in LangSmith, and sees that it is there.

    What is missing is told, and kept in the folder of the run: the notes of its result have it until
    `publish_experiment` or `rag-eval publish` has published the whole of it.

    Attributes:
        dataset: The name of the dataset in LangSmith.
    """

    requires: ClassVar[Mapping[str, str]] = {"langsmith": "langsmith"}

    dataset: str

    @property
    def failure(self) -> str:
        """Message if it fails."""
        return "publishing the result"

    def prepare(self) -> None:
        """See that LangSmith can be asked; nothing is asked yet.

        Raises:
            ConfigError: There is no key, or none that can be sent; the address is none; or the name of the dataset.
            MissingDependency: The SDK is not installed.
        """
        checked_name(self.dataset)
        check_ready(type(self).__name__)

    def send(self, outcome: Outcome) -> EvaluationResult[Any]:
        """Publish the run, and return the result with its address.

        Raises:
            SaveFailed: Not all of it is there.
            Interrupted: Ctrl-C came meanwhile.
        """
        result = outcome.result
        try:
            experiment = publish_experiment(result, self.dataset)
        except RagEvalError as error:
            self._keep(result, None, str(error))
            raise
        except KeyboardInterrupt as interrupt:
            how = "" if result.folder is None else ": publish_experiment publishes it"
            told = f"the run is finished; the result is {result.whereabouts}, and maybe not published{how}"
            raise Interrupted(told) from interrupt
        result = replace(result, experiment_url=experiment.url, raw_results=experiment)
        if not experiment.complete:
            self._keep(result, experiment.url, experiment.told)
            raise SaveFailed(experiment.told, result)
        return result

    def _keep(self, result: EvaluationResult[Any], url: str | None, why: str) -> None:
        keep_address(result, {"url": url, "notes": [f"{self.failure}: {why}"]})
