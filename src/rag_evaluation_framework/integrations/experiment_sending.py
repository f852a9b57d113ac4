"""Sending a result to LangSmith: the experiment, which is made once, and its runs through `client.evaluate`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID, uuid4, uuid5

from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework._support.progress import progress
from rag_evaluation_framework.errors import ProviderUnavailable
from rag_evaluation_framework.integrations.experiment_content import RUN, ExperimentContent
from rag_evaluation_framework.integrations.experiment_scores import ScoreSender
from rag_evaluation_framework.integrations.langsmith_client import PROVIDER, answering
from rag_evaluation_framework.integrations.langsmith_silence import silent
from rag_evaluation_framework.integrations.recorded_experiment import RecordedExperiment

_NAMESPACE = UUID("7d0c5a52-2d0e-4a55-9a0c-5a6a1a3f6b1e")
_PUBLICATION = "rag_eval_publication"  # in the metadata: who made the experiment, if two try to at once
_DIGITS = (8, 12, 16, 20, 24, 32)  # of the name: more if another experiment has it
_FLUSH = 60  # seconds


class Opened(NamedTuple):
    """The experiment as which a result is published.

    Attributes:
        project: The project of LangSmith's SDK.
        found: Whether it was there before.
        ours: Whether this publication made it, or found it before it began to.
    """

    project: Any
    found: bool
    ours: bool = True


@dataclass(frozen=True)
class ExperimentSending:
    """What is sent of a result.

    Attributes:
        client: The client of LangSmith's SDK.
        content: The result.
        dataset: The dataset of the SDK.
        losses: Gets the errors for which scores were not sent.
    """

    client: Any
    content: ExperimentContent
    dataset: Any
    losses: list[BaseException]

    def opened(self) -> Opened:
        """Return the experiment as which this result was published before, wholly or in part, or make one.

        Its name follows from the result and the dataset, so that LangSmith refuses the second of two that are made at
        the same time.

        Raises:
            ProviderError: It cannot be found or made.
        """
        known = self._known()
        if known is not None:
            return Opened(known, found=True)
        utils: Any = require("langsmith.utils", extra="langsmith", needed_by="publish_experiment")
        token, unique = uuid4().hex, uuid5(_NAMESPACE, f"{self.dataset.id}/{self.content.identity}").hex
        for digits in _DIGITS:
            made = self._made(f"{self.content.name}-{unique[:digits]}", token, utils)
            if made is not None:
                return Opened(made, found=False)
            known = self._known()
            if known is not None:  # another publication made it, or this one, and the answer was lost
                ours = known.metadata.get(_PUBLICATION) == token
                return Opened(known, found=not ours, ours=ours)
        raise ProviderUnavailable(
            f"LangSmith at {self.client.api_url}: recording the experiment failed: it has one of each name that was "
            "tried",
            PROVIDER,
            409,
        )

    def _known(self) -> Any:
        """Return the experiment of this result; of several, that with the most runs."""
        found: list[Any] = []
        with answering(self.client, "looking for an earlier experiment"):
            for project in self.client.list_projects(reference_dataset_id=self.dataset.id):
                metadata: Any = project.metadata or {}
                if metadata.get(RUN) == self.content.identity:
                    found.append(project)
        return max(found, key=lambda project: len(RecordedExperiment(self.client, project.id).runs()), default=None)

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

    def send(self, rows: Sequence[int], project: Any) -> None:
        """Record runs and scores through `client.evaluate`.

        Args:
            rows: The questions.
            project: The experiment.

        Raises:
            ProviderError: They cannot be sent. What is lost later is not known here.
        """
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

        scores = ScoreSender(self.client, project.id)
        with (
            answering(self.client, "recording the experiment"),
            progress(data, "Publishing", "run", file=sys.stderr) as shown,
            helpers.tracing_context(parent=False),  # else they were runs within that of a caller that is traced
            silent(),
        ):
            evaluated = self.client.evaluate(
                retrieved,
                data=shown,
                evaluators=[scores.evaluator(lambda example: content.scores(row_of[example]), self.losses)],
                metadata=content.metadata,
                max_concurrency=0,
                disable_evaluator_tracing=True,
                experiment=project,
            )
            evaluated.wait()  # raises what it caught
            self.client.flush(timeout=_FLUSH)
