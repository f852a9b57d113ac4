"""`Gating`: the gates and the baseline of a run, gathered before it, and its result checked against them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.contracts.sink import Outcome
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

    def outcome(self, result: EvaluationResult[Any], gates: Sequence[Gate], problems: Sequence[str]) -> Outcome:
        """Return a run with the verdicts on its gates, and how it differs from the baseline.

        Args:
            result: The result of the run.
            gates: Its gates.
            problems: Why it cannot be relied on; no gate passes then. That it cannot be compared with the baseline is
                a problem of the outcome.
        """
        runs = Runs(result, self.baseline, self._spec.cluster)
        result = replace(result, gates=verdicts(runs, gates, self._spec.on_inconclusive, problems))
        compared = runs.compared
        if isinstance(compared, Exception):
            return Outcome(result, self.baseline, problems=(str(compared),))
        return Outcome(result, self.baseline, compared)
