"""`Gating`: the gates and the baseline of a run, gathered before it, and its result checked against them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.experiments import ExperimentConfig, RunSpec
from rag_evaluation_framework.gates.checking import verdicts
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.gates.measuring import Runs
from rag_evaluation_framework.gates.plan import Written, gates_of_run
from rag_evaluation_framework.results import EvaluationResult, find_run, load_result, store


class Gating:
    """The gates of a run, and the baseline that its result is compared with.

    Args:
        spec: The run.
        folder: The folder to which its paths are relative.
        options: Gates that replace those of the run which bound the same.
        baseline: The saved run to compare with, in place of the one that the run names. It is looked for now: `last` is
            the run before this one.

    Raises:
        ResultError: The baseline cannot be read.
    """

    def __init__(
        self, spec: RunSpec, folder: Path, options: Written | None = None, baseline: str | None = None
    ) -> None:
        at = ("gates of the configuration", "thresholds of the configuration")
        self._places = (options or Written(), Written(spec.gates, spec.thresholds, *at))
        self._spec = spec
        self._runs: Runs | None = None
        beside = folder if folder.absolute().name == store.ROOT.name else folder / store.ROOT
        root = folder / spec.save_results_path if spec.save_results_path else beside
        name, where = (spec.baseline, folder) if baseline is None else (baseline, Path())
        self.baseline = None if name is None or spec.shard else load_result(find_run(name, root, where))

    def gates_of(self, experiment: ExperimentConfig[Any]) -> tuple[Gate, ...]:
        """Return the gates of the run, none of a shard; raises ConfigError if one cannot be measured in it."""
        if self._spec.shard is not None:
            note("a shard is not gated, nor compared with a baseline: the run that scores all shards is")
            return ()
        return gates_of_run(experiment, self._places, self.baseline)

    def runs(self, result: EvaluationResult[Any]) -> Runs:
        """Return a result beside the baseline: the same again for the same questions, as comparing takes long."""
        if self._runs is None or self._runs.result.queries is not result.queries:
            self._runs = Runs(result, self.baseline, self._spec.cluster)
        return self._runs

    def checked(
        self, result: EvaluationResult[Any], gates: Sequence[Gate], problems: Sequence[str]
    ) -> EvaluationResult[Any]:
        """Return a result with the verdicts on its gates; none passes if there are problems."""
        return replace(result, gates=verdicts(self.runs(result), gates, self._spec.on_inconclusive, problems))
