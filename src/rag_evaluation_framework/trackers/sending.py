"""Sinks on this machine, and sending a run to its sinks."""

import os
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..base import exits
from ..base.coroutines import resolved
from ..base.files import checked_path
from ..base.notes import note
from ..base.outside import class_name, error_text
from ..contracts.component import component_name
from ..contracts.registry.building import OwnFunction
from ..contracts.roles import Outcome, Sink
from ..errors import ConfigError, Interrupted, RagEvalError, SaveFailed
from ..report.gated import summary_text, texts_beside
from ..runs import EvaluationConfig, EvaluationResult, Journal, store

_SUMMARY = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True)
class FolderSink(Sink):
    """Saves a run in a folder of its own, all files at once: report, rankings, summary, and how a baseline differs.

    Attributes:
        root: Where runs are kept; the folder is `<root>/runs/<UTC time>-<dataset>`.
    """

    root: str | Path = store.ROOT

    @property
    def failure(self) -> str:
        """Message if it fails."""
        return "the result is shown, but not saved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", checked_path(self.root, ConfigError))

    def prepare(self) -> None:
        """See that runs can be saved there.

        Raises:
            ConfigError: They cannot.
        """
        store.check_root(Path(self.root))

    def send(self, outcome: Outcome) -> EvaluationResult[Any]:
        """Save the run, and return the result with its folder.

        Raises:
            SaveFailed: It cannot be saved; nothing is there then.
        """
        folder = outcome.result.save(root=self.root, beside=texts_beside(outcome))
        saved = copy(outcome.result)  # with its means and intervals, which are computed already, and shown next
        object.__setattr__(saved, "folder", folder)
        return saved


class FunctionSink(OwnFunction[Callable[[Outcome], Any]], Sink):
    """A plain function `(outcome)`, which may be a coroutine function; what it returns is not read.

    Attributes:
        function: What gets the `Outcome` of each run.

    Raises:
        ConfigError: `function` is none, or has to be called with something else.
    """

    _kind = "sink"

    def send(self, outcome: Outcome) -> None:
        """Call the function."""
        resolved(self.function(outcome))


@dataclass(frozen=True)
class StepSummarySink(Sink):
    """Adds a run to the summary of a step of GitHub Actions, which sets `$GITHUB_STEP_SUMMARY` to the file."""

    @property
    def failure(self) -> str:
        """Message if it fails."""
        return f"the run is not in the summary of the step, ${_SUMMARY}"

    def prepare(self) -> None:
        """See that there is a step, and that its file can be written; it is made if there is none.

        Raises:
            ConfigError: There is none, or it cannot.
        """
        if not os.environ.get(_SUMMARY):
            raise ConfigError(
                f"step summary: ${_SUMMARY} is not set; GitHub Actions sets it to the file of the step's summary. "
                "Elsewhere, leave it out: the same is in the summary.md of the run"
            )
        path = checked_path(os.environ[_SUMMARY], ConfigError)
        with exits.errors_as(
            lambda error: ConfigError(f"${_SUMMARY}: {path} cannot be written ({store.reason(error)})")
        ):
            path.open("a").close()

    def send(self, outcome: Outcome) -> None:
        """Add the run.

        Raises:
            SaveFailed: The file cannot be written.
        """
        path = checked_path(os.environ[_SUMMARY], ConfigError)
        try:
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{summary_text(outcome)}\n")
        except OSError as error:
            raise SaveFailed(f"{path} cannot be written ({store.reason(error)})", outcome.result) from error


# Sending a run.


class Sent(NamedTuple):
    """Outcome of sending a run.

    Attributes:
        outcome: The run, as more is known of it: its folder, its address, and which sinks failed.
        not_saved: Why its folder could not be written, if it was to be.
        interrupt: The interrupt that came meanwhile; the sinks behind got nothing.
    """

    outcome: Outcome
    not_saved: SaveFailed | None = None
    interrupt: KeyboardInterrupt | None = None


def prepared(config: EvaluationConfig, others: Sequence[Sink] = ()) -> tuple[Sink, ...]:
    """Return the sinks of a run, the folder first, when each has done what comes before the run.

    Args:
        config: How the run is saved.
        others: Sinks that are asked for beside those of `config`, and in place of those that equal them.

    Raises:
        ConfigError: One could not be sent anything.
    """
    folders = () if config.save_results_path is None else (FolderSink(config.save_results_path),)
    sinks = (*folders, *(sink for sink in config.sinks if sink not in others), *others)
    for sink in sinks:
        name = component_name(sink)
        with exits.no_exit(name, "prepare"), exits.errors_as(partial(_unprepared, name)):
            sink.prepare()
    return sinks


def _unprepared(name: str, error: Exception) -> ConfigError:
    return ConfigError(f"sink {name}: {error_text(error)}")


def send(outcome: Outcome, sinks: Sequence[Sink], required: Collection[Sink] = ()) -> Sent:
    """Send a run to sinks; one that fails stops no other, and is noted.

    Args:
        outcome: The run.
        sinks: Where it goes, in this order.
        required: Those without which the run is no success: what became of them is a problem of the run, which the
            sinks behind are told.
    """
    not_saved: SaveFailed | None = None
    for number, sink in enumerate(sinks):
        sending = exits.no_exit(component_name(sink), "send")(sink.send)
        try:
            sent: Any = exits.outcome(partial(sending, outcome), lambda error: error)
        except KeyboardInterrupt as interrupt:  # alone or in a group of errors
            behind = ", ".join(map(component_name, sinks[number:]))
            told = f"the run is finished, and the result {outcome.result.whereabouts}; not sent to {behind}"
            known = interrupt if isinstance(interrupt, Interrupted) else Interrupted(told)
            return Sent(outcome, not_saved, known)
        result: Any = sent.result if isinstance(sent, SaveFailed) else sent
        if isinstance(result, EvaluationResult):
            outcome = replace(outcome, result=result)
        if not isinstance(sent, BaseException):
            continue
        told = f"{_failure(sink)}: {_why(sent)}"
        if any(sink is one for one in required):
            outcome = replace(outcome, problems=(*outcome.problems, told))
        else:
            note(told)
            outcome = replace(outcome, result=replace(outcome.result, notes=(*outcome.result.notes, told)))
        if isinstance(sink, FolderSink):  # whatever it raised
            not_saved = SaveFailed(_why(sent), outcome.result)
            not_saved.__cause__ = sent
    return Sent(outcome, not_saved)


def _failure(sink: Sink) -> str:
    """Return the failure message of a sink; its class if it has none."""
    return exits.outcome(lambda: str(sink.failure), lambda _: f"the result is not sent to {class_name(sink)}")


def _why(error: BaseException) -> str:
    if isinstance(error, SaveFailed):
        return error.why
    return str(error) if isinstance(error, RagEvalError) else error_text(error)


def finish(outcome: Outcome, sinks: Sequence[Sink], journal: Journal | None = None) -> EvaluationResult[Any]:
    """Send a run to sinks, and return its result as it is known then.

    Args:
        outcome: The run.
        sinks: Where it goes, in this order.
        journal: What keeps its answers until it is saved.

    Raises:
        SaveFailed: It could not be saved; the error has the result.
        KeyboardInterrupt: One came meanwhile.
    """
    sent = send(outcome, sinks, [sink for sink in sinks if isinstance(sink, FolderSink)])
    if journal is not None:
        journal.is_finished = sent.outcome.result.folder is not None
    if sent.interrupt is not None:
        raise sent.interrupt
    if sent.not_saved is not None:
        raise SaveFailed(sent.not_saved.why, sent.outcome.result) from sent.not_saved.__cause__
    return sent.outcome.result
