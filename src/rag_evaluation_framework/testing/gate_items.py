"""The gates of a configuration as tests of pytest: the run is made once, when the first of them is."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import pytest

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.cli.gating import Gating
from rag_evaluation_framework.cli.run import check_reliable
from rag_evaluation_framework.errors import RagEvalError
from rag_evaluation_framework.experiments.config_file import ConfigFile
from rag_evaluation_framework.experiments.config_reading import load_config
from rag_evaluation_framework.experiments.runner import run_experiment
from rag_evaluation_framework.gates.checking import told_verdict
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.results.gate_verdict import GateVerdict
from rag_evaluation_framework.retrievers.cleanup import clean_up

_WORST = 5


class GateFailed(Exception):
    """A gate failed, or could not be measured."""


class GatesFile(pytest.File):
    """A configuration whose gates are tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for every gate.

        Raises:
            CollectError: The configuration cannot be used, it has no gates, or one cannot be measured in its run.
        """
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
    def _planned(self) -> tuple[ConfigFile, Gating, Any, tuple[Gate, ...]]:
        folder, config = self.path.parent, load_config(self.path)
        gating = Gating.of(config, folder, worst=_WORST)
        experiment = config.experiment(folder)
        return config, gating, experiment, gating.planned(experiment)

    @cached_property
    def verdicts(self) -> tuple[GateVerdict, ...]:
        """What became of the gates.

        Raises:
            RagEvalError: The run could not be made, or questions failed or were skipped.
        """
        config, gating, experiment, gates = self._planned
        ended: BaseException | None = None
        try:
            result = run_experiment(experiment, lambda made: gating.complete(made, gates))
            check_reliable(replace(result, gates=()), experiment.corpus)  # each test tells of its own gate
            failed = [told_verdict(verdict) for verdict in result.gates if verdict.counts_as != "pass"]
            ended = GateFailed(failed[0]) if failed else None
        except BaseException as error:
            ended = error
            raise
        finally:
            left = clean_up(experiment.retriever, config.cleanup, ended)
            if left is not None:
                note(left)
        return result.gates


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
        """
        file: Any = self.parent
        verdict: GateVerdict = file.verdicts[self.number]
        if verdict.counts_as != "pass":
            raise GateFailed(told_verdict(verdict))
        if verdict.verdict == "inconclusive":
            pytest.skip(told_verdict(verdict))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return what pytest prints of a failure: of ours the message alone."""
        if isinstance(excinfo.value, GateFailed | RagEvalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, None, str]:
        """Return what pytest calls the test."""
        return self.path, None, self.name
