"""Sending the scores of a result to LangSmith: as they were computed here, and each once however often it is sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from rag_evaluation_framework._support.optional import require

_NAMESPACE = UUID("2b1f6a4e-67e5-4d4b-9a06-0f0a4f1d1f5c")


@dataclass(frozen=True)
class ScoreSender:
    """Sends scores on runs.

    Attributes:
        client: The client of LangSmith's SDK.
        project: The id of the project that is the experiment.
    """

    client: Any
    project: UUID

    def send(self, run_id: Any, scores: Mapping[str, float], **options: Any) -> None:
        """Send scores on a run, under ids that follow from the run and their names.

        Args:
            run_id: The run.
            scores: The scores, by name.
            options: More for the `create_feedback` of the SDK.
        """
        for name, score in scores.items():
            identity = uuid5(_NAMESPACE, f"{run_id}/{name}")
            self.client.create_feedback(
                run_id,
                name,
                score=score,
                feedback_id=identity,
                session_id=self.project,
                feedback_source_type="model",
                **options,
            )

    def evaluator(self, scores: Callable[[str], Mapping[str, float]], losses: list[BaseException]) -> Any:
        """Return a `RunEvaluator` that sends the scores that are known of an example.

        It gives none to the SDK, which would send them under ids of its own, and errors as scores.

        Args:
            scores: Gives the scores by the id of the example.
            losses: Gets the errors for which scores were not sent.
        """
        evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="publish_experiment")

        def evaluate_run(_: Any, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
            del evaluator_run_id
            try:
                # With its trace a score is queued, and sent together with the runs.
                self.send(run.id, scores(str(example.id)), trace_id=run.trace_id, start_time=run.start_time)
            except Exception as error:  # noqa: BLE001  whatever the SDK raises: it is told
                losses.append(error)
            return evaluation.EvaluationResults(results=[])

        return type("StoredScores", (evaluation.RunEvaluator,), {"evaluate_run": evaluate_run})()
