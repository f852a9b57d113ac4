"""Sink that saves a run's folder, with all of its files."""

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.exits import errors_as
from ..base.outside import shown
from ..contracts.roles import Outcome, Sink
from ..errors import ConfigError
from ..report.gated import texts_beside
from ..runs import EvaluationResult
from ..runs.store import ROOT, check_root


@dataclass(frozen=True)
class FolderSink(Sink):
    """Saves a run in a folder of its own, all files at once: report, rankings, summary, and how a baseline differs.

    Attributes:
        root: Where runs are kept; the folder is `<root>/runs/<UTC time>-<dataset>`.
    """

    root: str | Path = ROOT

    def __post_init__(self) -> None:
        with errors_as(lambda _: ConfigError(f"root={shown(self.root)} is not a path; expected one, such as 'runs'")):
            object.__setattr__(self, "root", Path(self.root))  # whether it can be written is tried before the work

    @property
    def failure(self) -> str:
        """Message if it fails."""
        return "the result is shown, but not saved"

    def prepare(self) -> None:
        """See that runs can be saved there.

        Raises:
            ConfigError: They cannot.
        """
        check_root(Path(self.root))

    def send(self, outcome: Outcome) -> EvaluationResult[Any]:
        """Save the run, and return the result with its folder.

        Raises:
            SaveFailed: It cannot be saved; nothing is there then.
        """
        folder = outcome.result.save(root=self.root, beside=texts_beside(outcome))
        saved = copy(outcome.result)  # with its means and intervals, which are computed already, and shown next
        object.__setattr__(saved, "folder", folder)
        return saved
