"""The summary of a step of GitHub Actions."""

import os
from dataclasses import dataclass

from ..base.exits import errors_as
from ..base.files import checked_path
from ..contracts.roles import Outcome, Sink
from ..errors import ConfigError, SaveFailed
from ..report.gated import summary_text
from ..runs import store

_VARIABLE = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True)
class StepSummarySink(Sink):
    """Adds a run to the summary of a step of GitHub Actions, which sets `$GITHUB_STEP_SUMMARY` to the file."""

    @property
    def failure(self) -> str:
        """Message if it fails."""
        return f"the run is not in the summary of the step, ${_VARIABLE}"

    def prepare(self) -> None:
        """See that there is a step, and that its file can be written; it is made if there is none.

        Raises:
            ConfigError: There is none, or it cannot.
        """
        if not os.environ.get(_VARIABLE):
            raise ConfigError(
                f"step summary: ${_VARIABLE} is not set; GitHub Actions sets it to the file of the step's summary. "
                "Elsewhere, leave it out: the same is in the summary.md of the run"
            )
        path = checked_path(os.environ[_VARIABLE], ConfigError)
        with errors_as(lambda error: ConfigError(f"${_VARIABLE}: {path} cannot be written ({store.reason(error)})")):
            path.open("a").close()

    def send(self, outcome: Outcome) -> None:
        """Add the run.

        Raises:
            SaveFailed: The file cannot be written.
        """
        path = checked_path(os.environ[_VARIABLE], ConfigError)
        try:
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{summary_text(outcome)}\n")
        except OSError as error:
            raise SaveFailed(f"{path} cannot be written ({store.reason(error)})", outcome.result) from error
