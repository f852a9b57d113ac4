"""Publishing a result as an experiment of LangSmith: what was retrieved and scored here, and nothing twice."""

import hashlib
import io
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from tqdm import tqdm

from rag_evaluation_framework._outside import one_line, raised
from rag_evaluation_framework._support.files import is_object, write_over
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.datasets.langsmith_examples import QUERY_ID
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.integrations.langsmith_client import answering, checked_name, opened
from rag_evaluation_framework.integrations.langsmith_listing import dataset_named, listed_examples
from rag_evaluation_framework.integrations.published_experiment import PublishedExperiment
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.result import EvaluationResult

if TYPE_CHECKING:
    from langsmith import Client

PATIENCE = 30.0
"""Seconds for which it is asked whether all is there: what is sent can be read only after a while."""

_NAMESPACE = UUID("2b1f6a4e-67e5-4d4b-9a06-0f0a4f1d1f5c")
_RUN = "rag_eval_run"  # the key in the metadata of an experiment under which it is known again
_NAME = 80  # characters
_REASON = 300  # characters
_FLUSH = 60  # seconds
_FIRST_WAIT = 0.05  # seconds, doubled each time
_AT_ONCE = 100  # runs that are listed, or whose feedback is
_SELECTED = ["id", "reference_example_id", "end_time"]


def publish_experiment(
    result: EvaluationResult[Any], dataset_name: str, *, client: "Client | None" = None, patience: float = PATIENCE
) -> PublishedExperiment:
    """Record a result as an experiment on a dataset in LangSmith, and return what of it is there.

    One run per question, with the places that were retrieved (no text), and one feedback per score, as it was computed
    here. Questions are matched by id. Afterwards the numbers are read back, and what did not arrive is told. A result
    that was published before, wholly or in part, is completed: nothing is sent twice. The address is kept in the folder
    of the result, in `experiment.json`.

    Args:
        result: The result; one that was loaded from its folder will do.
        dataset_name: The name of the dataset in LangSmith.
        client: A client of LangSmith's SDK; by default one of the environment (`LANGSMITH_API_KEY`).
        patience: For how many seconds it is asked whether all is there.

    Raises:
        ConfigError: There is no key, or the name is none.
        DatasetError: There is no such dataset, or none of its examples is a question of the result.
        MissingDependency: LangSmith's SDK is not installed.
        ProviderError: LangSmith cannot be reached, or refuses.
        ResultError: What was retrieved is not known: the result was loaded from a report alone.
    """
    name, losses = checked_name(dataset_name), list[BaseException]()
    with opened(client, "publish_experiment", losses) as connected:
        stored = dataset_named(connected, name)
        if stored is None:
            raise DatasetError(f"LangSmith at {connected.api_url} has no dataset {name!r}; dataset push makes one")
        examples = {_query_id(example): example for example in listed_examples(connected, stored.id)}
        rows = [row for row, query_id in enumerate(result.scores.query_ids) if query_id in examples]
        if not rows:
            raise DatasetError(f"none of the questions of {result.name} is in the dataset {name!r} of LangSmith")
        published = _Publishing(connected, result, stored, examples, rows, losses, patience).published()
    if result.folder is not None:
        write_over(result.folder / store.EXPERIMENT, json.dumps(asdict(published), indent=1) + "\n")
    return published


@dataclass
class _Publishing:
    client: Any
    result: EvaluationResult[Any]
    dataset: Any
    examples: Mapping[str, Mapping[str, Any]]
    rows: Sequence[int]
    losses: list[BaseException]
    patience: float
    problems: list[str] = field(default_factory=list[str])

    def published(self) -> PublishedExperiment:
        """Send what is not there yet, and see what is there."""
        earlier = known = self._known_experiment()
        done = set[str]() if known is None else set(self._runs(known.id))
        left = [row for row in self.rows if self._example(row)["id"] not in done]
        if left:
            known = self._sent(left, known)
        assert known is not None  # noqa: S101  there is a row, so it is known or was sent now
        self._complete_scores(known, sent_before=earlier is not None)
        runs, scores = self._there(known.id)
        return PublishedExperiment(
            name=known.name,
            url=self._url(known.id),
            dataset_name=self.dataset.name,
            questions=len(self.rows),
            runs=min(runs, len(self.rows)),
            scores=sum(self._expected.values()),
            scores_there=sum(min(scores[key], count) for key, count in self._expected.items()),
            sent=len(left),
            problems=tuple(dict.fromkeys([*self.problems, *map(_lost, self.losses)])),
        )

    @cached_property
    def _identity(self) -> str:
        result = self.result
        told = [result.created, result.name, result.config["dataset"]["hash"], dict(result.metrics)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def _expected(self) -> Counter[str]:
        """How many questions have each score."""
        return Counter(key for row in self.rows for key in self._scores(row))

    def _example(self, row: int) -> Mapping[str, Any]:
        return self.examples[self.result.scores.query_ids[row]]

    def _scores(self, row: int) -> dict[str, float]:
        columns = self.result.scores.columns.items()
        return {name: float(column[row]) for name, column in columns if not isnan(column[row])}

    def _known_experiment(self) -> Any:
        """Return the experiment as which this result was published before, wholly or in part; None if it was not."""
        with answering(self.client, "looking for an earlier experiment"):
            for project in self.client.list_projects(reference_dataset_id=self.dataset.id):
                metadata: Any = project.metadata or {}
                if metadata.get(_RUN) == self._identity:
                    return project
        return None

    def _runs(self, project: UUID) -> dict[str, str]:
        """Return the runs that are finished, by the id of their example."""
        found: dict[str, str] = {}
        # Not list_runs, which is to be removed; what replaces it asks another service.
        wanted: dict[str, Any] = {"session": [str(project)], "is_root": True, "limit": _AT_ONCE, "select": _SELECTED}
        with answering(self.client, "listing the runs of the experiment"):
            while True:
                page: Any = self.client.request_with_retries("POST", "/runs/query", json=wanted).json()
                found |= {run["reference_example_id"]: run["id"] for run in page["runs"] if run.get("end_time")}
                if not (following := page["cursors"].get("next")):
                    return found
                wanted["cursor"] = following

    def _sent(self, rows: Sequence[int], known: Any) -> Any:
        """Record runs and scores through `client.evaluate`, and return the experiment."""
        schemas: Any = require("langsmith.schemas", extra="langsmith", needed_by="publish_experiment")
        row_of = {self._example(row)["id"]: row for row in rows}
        data = [
            schemas.Example(id=identity, dataset_id=self.dataset.id, inputs=self._example(row)["inputs"], outputs=None)
            for identity, row in row_of.items()
        ]
        experiment = (
            {"experiment_prefix": self.result.name[:_NAME].rstrip(" ,(=")}
            if known is None
            else {"experiment": known.id}
        )
        with (
            answering(self.client, "recording the experiment"),
            tqdm(data, desc="Publishing", unit="run", delay=2, disable=None, leave=False, file=sys.stderr) as shown,
            redirect_stdout(io.StringIO()),  # it prints the address, which may be between lines of JSON
            redirect_stderr(io.StringIO()),  # a bar of its own, and warnings of losses, which are told here
        ):
            recorded = self.client.evaluate(
                self._target(row_of),
                data=shown,
                evaluators=[stored_scores(list(self._expected), lambda example: self._scores(row_of[example]))],
                metadata=self._metadata(),
                description=f"{self.result.evaluation_type} evaluation by rag-eval",
                max_concurrency=0,
                disable_evaluator_tracing=True,
                **experiment,
            )
            recorded.wait()  # raises what it caught
            self.client.flush(timeout=_FLUSH)
            return self.client.read_project(project_id=recorded.experiment_id) if known is None else known

    def _target(self, row_of: Mapping[str, int]) -> Callable[[dict[str, Any]], dict[str, Any]]:
        helpers: Any = require("langsmith.run_helpers", extra="langsmith", needed_by="publish_experiment")

        def retrieved(inputs: dict[str, Any]) -> dict[str, Any]:
            """Return what was retrieved for the example that is asked for."""
            del inputs
            row = row_of[str(helpers.get_current_run_tree().reference_example_id)]
            query = self.result.queries[row]
            if query.status == "failed":
                raise RuntimeError("; ".join(f"{each.stage}: {each.kind}: {each.message}" for each in query.failures))
            return {"hits": [_place(hit) for hit in query.hits], "seconds": dict(query.stages), "status": query.status}

        return retrieved

    def _metadata(self) -> dict[str, Any]:
        config = self.result.config
        return {
            _RUN: self._identity,
            "rag_eval_version": self.result.version,
            "evaluation_type": self.result.evaluation_type,
            "retriever": self.result.name,
            **_components(config.get("retriever")),
            "k": self.result.cutoffs[0],
            "cutoffs": list(self.result.cutoffs),
            "dataset_hash": config["dataset"]["hash"],
            "corpus_hash": config["corpus"]["hash"],
            "means": {name: mean for name, mean in self.result.metrics.items() if mean is not None},
        }

    def _complete_scores(self, project: Any, *, sent_before: bool) -> None:
        """Wait until all is there; scores that were lost, though their runs are there, are sent once more, one by one.

        Not those of which nothing says that they were lost: they may be on their way, and would be there twice.
        """
        if self._wait(project.id) or not (self.losses or sent_before):
            return
        runs = self._runs(project.id)
        there = self._feedback(list(runs.values()))
        for row in self.rows:
            run = runs.get(self._example(row)["id"])
            if run is None:
                continue
            for key, score in self._scores(row).items():
                if (run, key) not in there and not self._send_score(project.id, run, key, score):
                    return
        self._wait(project.id)

    def _send_score(self, project: UUID, run: str, key: str, score: float) -> bool:
        identity = uuid5(_NAMESPACE, f"{run}/{key}")  # always the same: sent twice, it is there once
        try:
            self.client.create_feedback(run, key, score=score, feedback_id=identity, session_id=project)
        except Exception as error:  # noqa: BLE001  whatever the SDK raises: it is told
            self.problems.append(f"a score was refused: {one_line(raised(error))}")
            return False
        return True

    def _feedback(self, runs: Sequence[str]) -> set[tuple[str, str]]:
        found = set[tuple[str, str]]()
        with answering(self.client, "listing the scores"):
            for first in range(0, len(runs), _AT_ONCE):
                for feedback in self.client.list_feedback(run_ids=runs[first : first + _AT_ONCE]):
                    found.add((str(feedback.run_id), feedback.key))
        return found

    def _wait(self, project: UUID) -> bool:
        end, wait = time.monotonic() + self.patience, _FIRST_WAIT
        while True:
            runs, scores = self._there(project)
            if runs >= len(self.rows) and all(scores[key] >= count for key, count in self._expected.items()):
                return True
            if self.losses or time.monotonic() + wait > end:
                return False
            time.sleep(wait)
            wait *= 2

    def _there(self, project: UUID) -> tuple[int, Counter[str]]:
        """Return how many runs are there, and how many scores of each name."""
        with answering(self.client, "reading back what arrived"):
            read = self.client.read_project(project_id=project, include_stats=True)
        stats: Any = read.feedback_stats or {}
        counts = Counter({key: int(stats[key]["n"] or 0) for key in self._expected if key in stats})
        return int(read.run_count or 0), counts

    def _url(self, project: UUID) -> str:
        return f"{str(self.dataset.url or '').rstrip('/')}/compare?selectedSessions={project}"


def stored_scores(keys: Sequence[str], scores: Callable[[str], Mapping[str, float]]) -> Any:
    """Return a `RunEvaluator` that gives the scores that are known of an example; none to a run that failed.

    Args:
        keys: The names of the scores.
        scores: Gives the scores by the id of the example.
    """
    evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="publish_experiment")

    def evaluate_run(_: Any, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
        del evaluator_run_id
        known: Mapping[str, float] = {}
        if example is not None and not run.error:
            known = scores(str(example.id))
        results = [evaluation.EvaluationResult(key=key, score=score) for key, score in known.items()]
        return evaluation.EvaluationResults(results=results)

    members = {"evaluate_run": evaluate_run, "feedback_keys": property(lambda _: list(keys))}
    return type("StoredScores", (evaluation.RunEvaluator,), members)()


def _query_id(example: Mapping[str, Any]) -> str:
    """Return the id of the question of an example, as a dataset that is pulled has it."""
    given = example["metadata"].get(QUERY_ID)
    return given if isinstance(given, str) and given else example["id"]


def _lost(error: BaseException) -> str:
    """Return why runs were lost, without their ids, of which there may be a hundred."""
    return one_line(raised(error).partition("trace=")[0], _REASON)


def _place(hit: Hit) -> dict[str, Any]:
    fields = {"doc_id": hit.doc_id, "start": hit.start, "end": hit.end, "chunk_id": hit.chunk_id, "score": hit.score}
    return {name: value for name, value in fields.items() if value is not None}


def _components(record: Any) -> dict[str, str]:
    """Return the classes of the components of a recorded retriever, by what they are."""
    found: dict[str, str] = {}
    waiting: list[Any] = [record]
    while waiting:
        inner = waiting.pop()
        if not is_object(inner):
            continue
        for key, value in inner.items():
            if key in ("chunker", "embedder", "vector_store", "reranker") and is_object(value):
                found.setdefault(key, str(value.get("type", "")))
            waiting.append(value)
    return found
