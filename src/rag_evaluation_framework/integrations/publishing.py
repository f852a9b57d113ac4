"""Publishing a result as an experiment of LangSmith, and what became of it."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID, uuid4, uuid5

from rag_evaluation_framework.base import progress, require
from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.files import is_list, is_object, write_over
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import one_line, raised, shown
from rag_evaluation_framework.data import CharacterSpan, Dataset
from rag_evaluation_framework.data.ground_truth import LabelIdentity
from rag_evaluation_framework.data.ids import canonical_chunk_id, generate_chunk_id
from rag_evaluation_framework.data.levels import DOCUMENT, LEVELS, TOKEN, Level
from rag_evaluation_framework.datasets.langsmith_examples import dataset_from_examples, labels_of, question_id
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch, ProviderUnavailable
from rag_evaluation_framework.integrations.experiment_content import RUN, ExperimentContent
from rag_evaluation_framework.integrations.langsmith_client import (
    PROVIDER,
    advice,
    answering,
    checked_name,
    dataset_named,
    listed_examples,
    opened,
    silent,
    status_of,
)
from rag_evaluation_framework.levels.document import in_documents
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results import EvaluationResult, QueryResult, store

if TYPE_CHECKING:
    from langsmith import Client


# Which questions of a result a dataset in LangSmith holds as the result was scored with them.


class Matches(NamedTuple):
    """The questions of a result that are examples of a dataset.

    Attributes:
        rows: Their rows in the result: of those with the same wording, and not with other labels.
        uncompared: The ids of those of them of which it is not known whether their labels are the same.
        reworded: The ids of the others that have another wording there.
        relabelled: The ids of the others that have other labels there.
    """

    rows: list[int]
    uncompared: tuple[str, ...]
    reworded: tuple[str, ...]
    relabelled: tuple[str, ...]


def query_id_of(example: Mapping[str, Any]) -> str:
    """Return the id of the question of an example, as a dataset that is pulled has it."""
    own: Any = example["outputs"].get("metadata")
    everything = {**example["inputs"], **example["outputs"], **(own if is_object(own) else {}), **example["metadata"]}
    return question_id({"metadata": everything, "id": example["id"]}) or ""


def matching_rows(result: EvaluationResult[Any], examples: Mapping[str, Mapping[str, Any]]) -> Matches:
    """Return the questions of a result that are examples, with the same wording and without other labels.

    Labels are compared example by example, as the dataset of the result has them and, read as documents, as they were
    scored. Quotes, and ids of chunks in place of spans, are compared with the texts of these.

    Args:
        result: The result.
        examples: The examples, by the id of their question.
    """
    level = LEVELS[result.evaluation_type]
    comparison = _Comparison(level, LEVELS.get(result.config["dataset"].get("evaluation_type"), level))
    rows: list[int] = []
    uncompared: list[str] = []
    reworded: list[str] = []
    relabelled: list[str] = []
    for row, query in enumerate(result.queries):
        example = examples.get(query.query_id)
        if example is None:
            continue
        if query.text and query.text not in example["inputs"].values():
            reworded.append(query.query_id)
            continue
        same = comparison.is_same(query, example)
        if same is None:
            uncompared.append(query.query_id)
        if same is False:
            relabelled.append(query.query_id)
        else:
            rows.append(row)
    return Matches(rows, tuple(uncompared), tuple(reworded), tuple(relabelled))


@dataclass(frozen=True)
class _Comparison:
    """Compares the labels of questions with those of examples.

    Attributes:
        level: The level at which questions were scored.
        labelled: The level of the labels of their dataset.
    """

    level: Level[Any]
    labelled: Level[Any]

    def is_same(self, query: QueryResult[Any], example: Mapping[str, Any]) -> bool | None:
        """Return whether an example has the labels of a question; None if that cannot be told."""
        read = self._read(query, example, None)
        if read is not None:
            return self._equals(query, read)
        if self.level is TOKEN and _has_texts(query, example["outputs"]):
            return True
        # Labels under a key that nobody knows, which the run was told: equal ones are the same, others may be others'.
        named = (self._read(query, example, key) for key in example["outputs"])
        return True if any(read is not None and self._equals(query, read) for read in named) else None

    def _read(self, query: QueryResult[Any], example: Mapping[str, Any], key: str | None) -> Dataset[Any] | None:
        """Return the ground truth of an example, alone in a dataset; None if it cannot be read without more."""
        outputs = labels_of(example["outputs"], key)
        row = {"inputs": {"query": query.text}, "outputs": outputs, "metadata": example["metadata"]}
        try:
            return dataset_from_examples([row], self.labelled, ground_truth_key=key)
        except (DatasetError, LevelMismatch):
            return None

    def _equals(self, query: QueryResult[Any], read: Dataset[Any]) -> bool | None:
        """Return whether labels are those of a question, or are so at the level of the result; None if not known."""
        labels = LabelIdentity.of_truth(read.ground_truth[0])
        scored = LabelIdentity.of(query.text, query.answers, query.gains)
        if query.labelled is not None and labels.equals(query.labelled):
            return True
        if self.level is self.labelled:
            return labels.equals(scored)
        if self.level is DOCUMENT:
            return LabelIdentity.of_truth(in_documents(read)[0]).equals(scored)
        return None if query.labelled is None else False


def _has_texts(query: QueryResult[Any], outputs: Mapping[str, Any]) -> bool:
    """Return whether quotes, or ids of chunks, are those of the spans of a question, wherever these are."""
    if any(len(answer.places) > 1 for answer in query.answers):
        return False
    spans = [unit for unit in query.relevant if isinstance(unit, CharacterSpan)]
    if not spans or not all(span.text for span in spans):
        return False
    quoted, ids = {_even(span.text) for span in spans}, {generate_chunk_id(span.text) for span in spans}
    return any(
        {_even(text) for text in texts} == quoted or ids == {*map(canonical_chunk_id, texts)}
        for texts in _texts(outputs)
    )


def _texts(outputs: Mapping[str, Any]) -> Iterator[list[str]]:
    yield from (items for items in outputs.values() if is_list(items) and all(isinstance(item, str) for item in items))


def _even(text: str) -> str:
    return " ".join(text.split())


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


# Sending a result to LangSmith, and reading back what of it arrived.

_AT_ONCE = 100  # runs that are listed, or whose feedback is
_SELECTED = ["id", "reference_example_id", "end_time"]
_OF_SCORES = UUID("2b1f6a4e-67e5-4d4b-9a06-0f0a4f1d1f5c")
_NAMESPACE = UUID("7d0c5a52-2d0e-4a55-9a0c-5a6a1a3f6b1e")
_PUBLICATION = "rag_eval_publication"  # in the metadata: who made the experiment, if two try to at once
_DIGITS = (8, 12, 16, 20, 24, 32)  # of the name: more if another experiment has it
_FLUSH = 60  # seconds
_REASON = 300  # characters
_OF_ONE_REQUEST = re.compile(r"trace=|Content-Length")
_FIRST_WAIT = 0.05  # seconds, doubled each time

_Score: TypeAlias = tuple[int, str, str, float]
"""A row of the result, its run, the name of a score, and the score."""


@dataclass
class _Publication:
    """A result as an experiment in LangSmith.

    Attributes:
        client: The client of LangSmith's SDK.
        content: The result.
        dataset: The dataset of the SDK.
        losses: Gets the errors for which runs or scores were not sent.
        patience: For how many seconds it is asked whether all is there.
        project: The experiment, as the SDK's project.
        found: Whether it was there before.
        ours: Whether this publication made it, or found it before it began to.
        problems: What went wrong, as texts.
    """

    client: Any
    content: ExperimentContent
    dataset: Any
    losses: list[BaseException]
    patience: float
    project: Any = None
    found: bool = False
    ours: bool = True
    problems: list[str] = field(default_factory=list[str])

    def publish(self) -> PublishedExperiment:
        """Send what is not there yet, and see what is there.

        Raises:
            ProviderError: LangSmith cannot be reached, or refuses. What is lost later is told.
        """
        content = self.content
        self._open()
        done = self._runs() if self.found else {}
        left = [row for row in content.rows if self.ours and content.example(row)["id"] not in done]
        if left:
            self._send(left)
        runs, scores = self._arrived(left)
        if doubled := sum(
            count > 1 for count in Counter(example for example, _ in self._finished(self.project)).values()
        ):
            self.problems.append(
                f"{doubled} of its questions have several runs, as another publication of it was sending meanwhile"
            )
        if not self.ours and runs < len(content.rows):
            self.problems.append("another process is publishing it, so that nothing was sent")
        return PublishedExperiment(
            name=self.project.name,
            url=f"{str(self.dataset.url or '').rstrip('/')}/compare?selectedSessions={self.project.id}",
            dataset_name=self.dataset.name,
            questions=len(content.rows),
            runs=runs,
            scores=content.expected.total(),
            scores_there=scores,
            sent=len(left),
            problems=tuple(self.problems),
            unmatched=content.unmatched,
            unanswered=content.unanswered,
            uncompared=content.uncompared,
            reworded=content.reworded,
            relabelled=content.relabelled,
        )

    # The experiment, which is made once.

    def _open(self) -> None:
        """Find the experiment as which this result was published before, wholly or in part, or make one.

        Its name follows from the result and the dataset, so that LangSmith refuses the second of two that are made at
        the same time.
        """
        self.project = self._known()
        self.found = self.project is not None
        utils: Any = require("langsmith.utils", extra="langsmith", needed_by="publish_experiment")
        token, unique = uuid4().hex, uuid5(_NAMESPACE, f"{self.dataset.id}/{self.content.identity}").hex
        names = (f"{self.content.name}-{unique[:digits]}" for digits in _DIGITS)
        while self.project is None:
            if (name := next(names, None)) is None:
                raise ProviderUnavailable(
                    f"LangSmith at {self.client.api_url}: recording the experiment failed: it has one of each name "
                    "that was tried",
                    PROVIDER,
                    409,
                )
            self.project = self._made(name, token, utils)
            if self.project is None and (known := self._known()) is not None:
                # Another publication made it, or this one, and the answer was lost.
                self.project, self.ours = known, known.metadata.get(_PUBLICATION) == token
                self.found = not self.ours

    def _known(self) -> Any:
        """Return the experiment of this result; of several, that with the most runs."""
        found: list[Any] = []
        with answering(self.client, "looking for an earlier experiment"):
            for project in self.client.list_projects(reference_dataset_id=self.dataset.id):
                metadata: Any = project.metadata or {}
                if metadata.get(RUN) == self.content.identity:
                    found.append(project)
        return max(found, key=lambda project: len({example for example, _ in self._finished(project)}), default=None)

    def _made(self, name: str, token: str, utils: Any) -> Any:
        """Return a new experiment; None if there is one of that name."""
        content = self.content
        with answering(self.client, "recording the experiment"):
            try:
                return self.client.create_project(
                    name,
                    description=f"{content.result.evaluation_type} evaluation by rag-eval",
                    reference_dataset_id=self.dataset.id,
                    metadata={**content.metadata, _PUBLICATION: token},
                    num_examples=len(content.rows),
                    num_repetitions=1,
                    evaluator_keys=list(content.expected),
                )
            except utils.LangSmithConflictError:
                return None

    # Its runs and scores, which are sent through `client.evaluate`.

    def _send(self, rows: Sequence[int]) -> None:
        """Record the runs and scores of questions; what is lost later is not known here."""
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
            progress(data, "Publishing", "run", file=sys.stderr) as shown,
            helpers.tracing_context(parent=False),  # else they were runs within that of a caller that is traced
            silent(),
        ):
            evaluated = self.client.evaluate(
                retrieved,
                data=shown,
                evaluators=[self._evaluator(lambda example: content.scores(row_of[example]))],
                metadata=content.metadata,
                max_concurrency=0,
                disable_evaluator_tracing=True,
                experiment=self.project,
            )
            evaluated.wait()  # raises what it caught
            self.client.flush(timeout=_FLUSH)

    def _evaluator(self, scores: Callable[[str], Mapping[str, float]]) -> Any:
        """Return a `RunEvaluator` that sends the scores that are known of an example.

        It gives none to the SDK, which would send them under ids of its own, and errors as scores.

        Args:
            scores: Gives the scores by the id of the example.
        """
        evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="publish_experiment")

        def evaluate_run(_: Any, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
            del evaluator_run_id
            # With its trace a score is queued, and sent together with the runs.
            queued = {"trace_id": run.trace_id, "start_time": run.start_time}
            outcome(lambda: self._score(run.id, scores(str(example.id)), **queued), self.losses.append)
            return evaluation.EvaluationResults(results=[])

        return type("StoredScores", (evaluation.RunEvaluator,), {"evaluate_run": evaluate_run})()

    def _score(self, run_id: Any, scores: Mapping[str, float], **options: Any) -> None:
        """Send scores on a run, under ids that follow from the run and their names.

        Args:
            run_id: The run.
            scores: The scores, by name.
            options: More for the `create_feedback` of the SDK.
        """
        for name, score in scores.items():
            identity = uuid5(_OF_SCORES, f"{run_id}/{name}")
            self.client.create_feedback(
                run_id,
                name,
                score=score,
                feedback_id=identity,
                session_id=self.project.id,
                feedback_source_type="model",
                **options,
            )

    # What of it is there, read back after it was sent; scores that are missing are sent one by one.

    def _runs(self) -> dict[str, str]:
        """Return the runs that are finished, by the id of their example."""
        return dict(self._finished(self.project))

    def _finished(self, project: Any) -> list[tuple[str, str]]:
        """Return example and run of all runs of an experiment that are finished."""
        found: list[tuple[str, str]] = []
        # Not list_runs, which is to be removed; what replaces it asks another service.
        wanted: dict[str, Any] = {"session": [str(project.id)], "is_root": True}
        wanted |= {"limit": _AT_ONCE, "select": _SELECTED}
        with answering(self.client, "listing the runs of the experiment"):
            while True:
                page: Any = self.client.request_with_retries("POST", "/runs/query", json=wanted).json()
                found += [(run["reference_example_id"], run["id"]) for run in page["runs"] if run.get("end_time")]
                if not (following := page["cursors"].get("next")):
                    return found
                wanted["cursor"] = following

    def _scored(self, runs: Sequence[str]) -> set[tuple[str, str]]:
        """Return the run and the name of each score that is there."""
        found = set[tuple[str, str]]()
        with answering(self.client, "listing the scores"):
            for first in range(0, len(runs), _AT_ONCE):
                for feedback in self.client.list_feedback(run_ids=runs[first : first + _AT_ONCE]):
                    found.add((str(feedback.run_id), feedback.key))
        return found

    def _counts(self) -> tuple[int, Counter[str]]:
        """Return how many runs are there, and how many scores of each name, as LangSmith counts them."""
        with answering(self.client, "reading back what arrived"):
            read = self.client.read_project(project_id=self.project.id, include_stats=True)
            stats: Any = read.feedback_stats or {}
            return int(read.run_count or 0), Counter({key: int(known["n"] or 0) for key, known in stats.items()})

    def _arrived(self, sent: Collection[int]) -> tuple[int, int]:
        """Wait until all is there, send scores that were lost, and return how many runs and scores are there.

        The counts of LangSmith are believed if everything was sent now, and nothing lost. Else they also have scores of
        runs that did not arrive, and runs that did not end.

        Args:
            sent: The rows of the questions that were sent now.
        """
        content = self.content
        seen = self._is_there if self.found else self._seems_there
        if self._waited(seen) and (self.found or not self.losses):
            return len(content.rows), content.expected.total()
        if self.found and not self.losses:
            self._send_lost(sent)
        there = self._runs()
        finished = [row for row in content.rows if content.example(row)["id"] in there]
        scores = sum(len(content.scores(row)) for row in finished)
        missing = len(self._missing())
        if missing or len(finished) < len(content.rows):  # else only answers were lost
            self.problems.extend(dict.fromkeys(map(_why, self.losses)))
        return len(finished), scores - missing

    def _waited(self, is_there: Callable[[], bool]) -> bool:
        """Return whether something is there, which may take a while; it is not waited for if something was lost."""
        end, wait = time.monotonic() + self.patience, _FIRST_WAIT
        while not is_there():
            if self.losses or time.monotonic() + wait > end:
                return False
            time.sleep(wait)
            wait *= 2
        return True

    def _seems_there(self) -> bool:
        content = self.content
        runs, scores = self._counts()
        if runs < len(content.rows) or any(scores[key] < count for key, count in content.expected.items()):
            return False
        return self._has_runs()

    def _is_there(self) -> bool:
        return self._has_runs() and not self._missing()

    def _has_runs(self) -> bool:
        return self._runs().keys() >= {self.content.example(row)["id"] for row in self.content.rows}

    def _missing(self) -> list[_Score]:
        """Return the scores that are not there though their runs are."""
        runs = self._runs()
        there = self._scored(list(runs.values()))
        return [
            (row, run, name, value)
            for row in self.content.rows
            if (run := runs.get(self.content.example(row)["id"])) is not None
            for name, value in self.content.scores(row).items()
            if (run, name) not in there
        ]

    def _send_lost(self, sent: Collection[int]) -> None:
        """Send scores that were lost by an earlier publication, one by one, until one is refused.

        Not those that were sent now, of which nobody knows what is lost and what only late.
        """
        lost = [score for score in self._missing() if score[0] not in sent]
        for _, run, name, value in lost:
            why = outcome(partial(self._score, run, {name: value}), _why)
            if why is not None:
                self.problems.append(f"a score was refused: {why}")
                break
        if lost:
            self._waited(lambda: not {*lost} & {*self._missing()})


def _why(error: BaseException) -> str:
    """Return why something was lost, without what differs from request to request: ids of runs, and its length."""
    return one_line(_OF_ONE_REQUEST.split(raised(error))[0], _REASON) + advice(status_of(error))


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
        published = _Publication(connected, content, stored, losses, patience).publish()
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
