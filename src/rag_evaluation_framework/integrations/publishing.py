"""Publishing the result of a run: whatever goes wrong, the result is there, and says so."""

from dataclasses import replace
from typing import Any

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import RagEvalError
from rag_evaluation_framework.integrations.langsmith_experiments import keep_address, publish_experiment
from rag_evaluation_framework.results.result import EvaluationResult


def published(result: EvaluationResult[U], dataset_name: str) -> EvaluationResult[U]:
    """Return a result with the address at which it was published; a note says what did not arrive.

    Args:
        result: The result.
        dataset_name: The name of the dataset in LangSmith.
    """
    try:
        experiment = publish_experiment(result, dataset_name)
    except RagEvalError as error:
        told = f"the result is not published: {error}"
        keep_address(result, {"url": None, "notes": [told]})
        return _noted(result, told)
    addressed: Any = replace(result, experiment_url=experiment.url, raw_results=experiment)
    return addressed if experiment.complete else _noted(addressed, experiment.told)


def _noted(result: EvaluationResult[U], told: str) -> EvaluationResult[U]:
    note(told)
    return replace(result, notes=(*result.notes, told))
