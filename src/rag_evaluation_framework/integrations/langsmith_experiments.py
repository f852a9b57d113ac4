"""Publishing a result as an experiment of LangSmith: what was retrieved and scored here, and nothing twice."""

import io
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from tqdm import tqdm

from rag_evaluation_framework._outside import one_line, raised
from rag_evaluation_framework._support.files import write_over
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.integrations.experiment_content import RUN, ExperimentContent
from rag_evaluation_framework.integrations.langsmith_client import answering, checked_name, opened
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

_NAMESPACE = UUID("2b1f6a4e-67e5-4d4b-9a06-0f0a4f1d1f5c")
_REASON = 300  # characters
_FLUSH = 60  # seconds
_FIRST_WAIT = 0.05  # seconds, doubled each time


def publish_experiment(
    result: EvaluationResult[Any], dataset_name: str, *, client: "Client | None" = None, patience: float = PATIENCE
) -> PublishedExperiment:
    """Record a result as an experiment on a dataset in LangSmith, and return what of it is there.

    One run per question, with the places that were retrieved (no text), and one feedback per score, as it was computed
    here. Questions are matched by id, and published only if the dataset has them with the wording and the labels that
    they were scored with. Afterwards the numbers are read back, and what did not arrive is told. A result that was
    published before, wholly or in part, is completed: nothing is sent twice. The address is kept in the folder of the
    result, in `experiment.json`.

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
        examples = {query_id_of(example): example for example in listed_examples(connected, stored.id)}
        hits, matches = result.queries.hits, matching_rows(result, examples)
        if not matches.rows:
            raise DatasetError(
                f"none of the questions of {result.name} is in the dataset {name!r} of LangSmith with the wording and "
                "the labels that it was scored with"
            )
        content = ExperimentContent(result, hits, examples, matches.rows, matches.uncompared)
        published = _Publishing(connected, content, stored, losses, patience).published()
    if result.folder is not None and result.folder.is_dir():
        try:
            write_over(result.folder / store.EXPERIMENT, json.dumps(asdict(published), indent=1) + "\n")
        except OSError as error:  # the result is published all the same
            note(f"{result.folder}: the address of the experiment is not kept: {store.reason(error)}")
    return published


@dataclass
class _Publishing:
    client: Any
    content: ExperimentContent
    dataset: Any
    losses: list[BaseException]
    patience: float
    problems: list[str] = field(default_factory=list[str])

    def published(self) -> PublishedExperiment:
        """Send what is not there yet, and see what is there."""
        content, known = self.content, self._known()
        sent_before = known is not None
        done = set(RecordedExperiment(self.client, known.id).runs()) if known else set[str]()
        left = [row for row in content.rows if content.example(row)["id"] not in done]
        if left or known is None:
            known = self._sent(left, known)
        runs, scores = self._completed(RecordedExperiment(self.client, known.id), sent_before)
        return PublishedExperiment(
            name=known.name,
            url=f"{str(self.dataset.url or '').rstrip('/')}/compare?selectedSessions={known.id}",
            dataset_name=self.dataset.name,
            questions=len(content.rows),
            runs=runs,
            scores=content.expected.total(),
            scores_there=scores,
            sent=len(left),
            problems=tuple(dict.fromkeys([*self.problems, *map(_lost, self.losses)])),
            unmatched=content.unmatched,
            uncompared=content.uncompared,
        )

    def _known(self) -> Any:
        """Return the experiment as which this result was published before, wholly or in part; None if it was not.

        There are two if the answer to the request for one was lost, and the SDK asked again; one of them is empty.
        """
        found: list[Any] = []
        with answering(self.client, "looking for an earlier experiment"):
            for project in self.client.list_projects(reference_dataset_id=self.dataset.id):
                metadata: Any = project.metadata or {}
                if metadata.get(RUN) == self.content.identity:
                    found.append(project)
        return max(found, key=lambda project: len(RecordedExperiment(self.client, project.id).runs()), default=None)

    def _sent(self, rows: Sequence[int], known: Any) -> Any:
        """Record runs and scores through `client.evaluate`, and return the experiment."""
        content = self.content
        schemas: Any = require("langsmith.schemas", extra="langsmith", needed_by="publish_experiment")
        helpers: Any = require("langsmith.run_helpers", extra="langsmith", needed_by="publish_experiment")
        row_of = {content.example(row)["id"]: row for row in rows}
        with answering(self.client, "reading the examples"):  # whose ids may be anything
            data = [
                schemas.Example(id=identity, dataset_id=self.dataset.id, inputs=content.example(row)["inputs"])
                for identity, row in row_of.items()
            ]

        def retrieved(inputs: dict[str, Any]) -> dict[str, Any]:
            """Return what was retrieved for the example that is asked for."""
            del inputs
            return content.outputs(row_of[str(helpers.get_current_run_tree().reference_example_id)])

        with (
            answering(self.client, "recording the experiment"),
            tqdm(data, desc="Publishing", unit="run", delay=2, disable=None, leave=False, file=sys.stderr) as shown,
            redirect_stdout(io.StringIO()),  # it prints the address, which may be between lines of JSON
            redirect_stderr(io.StringIO()),  # a bar of its own, and warnings of losses, which are told here
        ):
            evaluated = self.client.evaluate(
                retrieved,
                data=shown,
                evaluators=[stored_scores(list(content.expected), lambda example: content.scores(row_of[example]))],
                metadata=content.metadata,
                description=f"{content.result.evaluation_type} evaluation by rag-eval",
                max_concurrency=0,
                disable_evaluator_tracing=True,
                **({"experiment_prefix": content.name} if known is None else {"experiment": known.id}),
            )
            evaluated.wait()  # raises what it caught
            self.client.flush(timeout=_FLUSH)
            return self.client.read_project(project_id=evaluated.experiment_id) if known is None else known

    def _completed(self, recorded: RecordedExperiment, sent_before: bool) -> tuple[int, int]:
        """Wait until all is there, send scores that were lost, and return how many runs and scores are there.

        The counts of LangSmith are believed if everything was sent now, and nothing lost. Else they also have scores of
        runs that did not arrive, and runs that did not end.
        """
        content = self.content
        seen = self._is_there if sent_before else self._seems_there
        if self._waited(lambda: seen(recorded)) and (sent_before or not self.losses):
            return len(content.rows), content.expected.total()
        # Not what was sent now, of which nobody knows what is lost and what only late: that would be there twice.
        if sent_before and not self.losses:
            self._send(recorded, self._missing(recorded))
            self._waited(lambda: not self._missing(recorded))
        there = recorded.runs()
        finished = [row for row in content.rows if content.example(row)["id"] in there]
        scores = sum(len(content.scores(row)) for row in finished)
        return len(finished), scores - len(self._missing(recorded))

    def _waited(self, is_there: Callable[[], bool]) -> bool:
        """Return whether something is there, which may take a while; it is not waited for if something was lost."""
        end, wait = time.monotonic() + self.patience, _FIRST_WAIT
        while not is_there():
            if self.losses or time.monotonic() + wait > end:
                return False
            time.sleep(wait)
            wait *= 2
        return True

    def _seems_there(self, recorded: RecordedExperiment) -> bool:
        content = self.content
        runs, scores = recorded.counts()
        if runs < len(content.rows) or any(scores[key] < count for key, count in content.expected.items()):
            return False
        return self._has_runs(recorded)

    def _is_there(self, recorded: RecordedExperiment) -> bool:
        return self._has_runs(recorded) and not self._missing(recorded)

    def _has_runs(self, recorded: RecordedExperiment) -> bool:
        return recorded.runs().keys() >= {self.content.example(row)["id"] for row in self.content.rows}

    def _missing(self, recorded: RecordedExperiment) -> list[tuple[str, str, float]]:
        """Return the scores that are not there though their runs are: the run, the name and the score."""
        runs = recorded.runs()
        there = recorded.scored(list(runs.values()))
        return [
            (run, key, score)
            for row in self.content.rows
            if (run := runs.get(self.content.example(row)["id"])) is not None
            for key, score in self.content.scores(row).items()
            if (run, key) not in there
        ]

    def _send(self, recorded: RecordedExperiment, scores: Iterable[tuple[str, str, float]]) -> None:
        """Send scores one by one, until one is refused."""
        for run, key, score in scores:
            identity = uuid5(_NAMESPACE, f"{run}/{key}")  # always the same: sent twice, it is there once
            try:
                self.client.create_feedback(run, key, score=score, feedback_id=identity, session_id=recorded.project)
            except Exception as error:  # noqa: BLE001  whatever the SDK raises: it is told
                self.problems.append(f"a score was refused: {one_line(raised(error))}")
                return


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


def _lost(error: BaseException) -> str:
    """Return why runs were lost, without their ids, of which there may be a hundred."""
    return one_line(raised(error).partition("trace=")[0], _REASON)
