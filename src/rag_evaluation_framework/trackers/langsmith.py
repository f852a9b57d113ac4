"""LangSmith, where a run becomes an experiment beside its dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..contracts.roles import Outcome, Sink
from ..errors import Interrupted, RagEvalError, SaveFailed
from ..runs import EvaluationResult
from .langsmith_client import check_ready, checked_name
from .langsmith_publishing import keep_address, publish_experiment


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
