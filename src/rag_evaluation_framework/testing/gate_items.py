"""The gates of a configuration as tests of pytest: the run is made once, when the first of them is."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from rag_evaluation_framework.base.coroutines import was_given_up
from rag_evaluation_framework.base.exits import end_in_time
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.errors import ConfigError, RagEvalError
from rag_evaluation_framework.experiments import RunSpec, load_config, run
from rag_evaluation_framework.gates import Gate, Gating, blocks, refuse_unreliable, unreliable
from rag_evaluation_framework.report.pages.result import why_skipped
from rag_evaluation_framework.results.gate_verdict import GateVerdict
from rag_evaluation_framework.retrievers.engine import clean_up, engine_in, leave
from rag_evaluation_framework.testing.pytest_plugin import COLLECTED
from rag_evaluation_framework.trackers.sending import finish, prepared


class GateFailed(Exception):
    """A gate failed, or could not be measured."""


class GatesFile(pytest.File):
    """A configuration whose gates are tests."""

    _asked = False

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path) -> "GatesFile":
        """Return the tests of this configuration."""
        made: Any = cls
        file: GatesFile = made.from_parent(parent, path=path, nodeid=_node_id(path, parent.config.rootpath))
        return file

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for every gate.

        Raises:
            CollectError: The configuration cannot be used, it has no gates, or one cannot be measured in its run.
        """
        self.config.stash.setdefault(COLLECTED, set()).add(self.path)
        try:
            *_, gates = self._planned
        except RagEvalError as error:
            raise self.CollectError(str(error)) from error
        if not gates:
            raise self.CollectError(f"{self.path}: has no gates; expected some in gates: or thresholds:")
        for number, gate in enumerate(gates):
            made: Any = GateItem
            item = made.from_parent(self, name=str(gate))
            item.number = number
            yield item

    @cached_property
    def _planned(self) -> tuple[RunSpec, Gating, Any, tuple[Gate, ...]]:
        folder, config = self.path.parent, load_config(self.path)
        if config.allow_custom_prefix:
            raise ConfigError(
                f"{self.path}: allow_custom_prefix lets a run delete what is in its scope, whatever that is, and a "
                "test cannot ask for a confirmation; expected a prefix that begins with eval:, or the command line: "
                f"rag-eval run {self.path.name} --yes"
            )
        gating = Gating(config, folder)
        experiment = config.experiment(folder, imports=not self.config.getoption("--rag-eval-no-import"))
        self.config.add_cleanup(lambda: self._close(experiment.retriever))
        return config, gating, experiment, gating.gates_of(experiment)

    def _close(self, retriever: Any) -> None:
        """Close an engine that was made and not asked, as its tests were listed only, or others were selected."""
        found = engine_in(retriever)
        if found is not None and not self._asked:
            leave(found.engine)

    @cached_property
    def outcome(self) -> tuple[GateVerdict, ...] | Exception:
        """What became of the gates, or why that is not known: the run could not be made, or is not reliable."""
        config, gating, experiment, gates = self._planned
        self._asked = True
        outcome: tuple[GateVerdict, ...] | Exception
        failed = True
        try:
            sinks = prepared(experiment.config)
            result = run(experiment)
            made = gating.outcome(result, gates, unreliable(result))
            problems = (*made.problems, *unreliable(result, why_skipped=why_skipped(result, experiment.corpus)))
            failed = blocks(replace(made, problems=problems))
            result = finish(replace(made, problems=problems), sinks)
            refuse_unreliable(replace(result, gates=()), problems)  # each test tells of its own gate
        except Exception as error:  # noqa: BLE001  it is anybody's code, and every test tells it
            outcome = error
        else:
            outcome = result.gates
        finally:
            left = clean_up(experiment.retriever, config.cleanup, failed=failed)
        if left is None:
            return outcome
        if isinstance(outcome, Exception):
            note(left)
            return outcome
        return ConfigError(left)


class GatesFolder(pytest.Directory):
    """The folder of a configuration, of which nothing else is collected; pytest loads its conftest.py.

    Attributes:
        configuration: The configuration.
    """

    configuration: Path

    @classmethod
    def holding(cls, session: pytest.Session, path: Path) -> "GatesFolder":
        """Return the folder of this configuration."""
        made: Any = cls
        folder: GatesFolder = made.from_parent(session, path=path.parent)
        folder.configuration = path
        return folder

    def collect(self) -> Iterator[GatesFile]:
        """Yield the configuration."""
        yield GatesFile.of(self, self.configuration)


class GateItem(pytest.Item):
    """One gate as a test.

    Attributes:
        number: Its number among the gates of the file.
    """

    number: int

    def runtest(self) -> None:
        """Make the run, if that was not done, and look what became of the gate.

        Raises:
            GateFailed: It failed, or could not be measured.
            Exception: The run could not be made, is not reliable, or left behind what was to be deleted.
        """
        file: Any = self.parent
        outcome: tuple[GateVerdict, ...] | Exception = file.outcome
        if isinstance(outcome, Exception):
            raise outcome
        verdict = outcome[self.number]
        if verdict.counts_as != "pass":
            raise GateFailed(str(verdict))
        if verdict.verdict != "passed":
            pytest.skip(str(verdict))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return what pytest prints of a failure: of ours the message alone."""
        if isinstance(excinfo.value, GateFailed | RagEvalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, None, str]:
        """Return what pytest calls the test."""
        return self.path, None, self.name


def _node_id(path: Path, root: Path) -> str:
    """Return what a file is called in a session: pytest itself gives files outside of its root no id of their own."""
    try:
        return Path(os.path.relpath(path, root.resolve())).as_posix()
    except ValueError:  # on another drive of Windows
        return path.as_posix()


def end_if_late(code: int) -> None:
    """Let the process end with this code, if an engine was not waited for and may go on for ever."""
    if was_given_up():
        end_in_time(code)
