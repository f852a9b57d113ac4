"""The gates of `rag-eval run`: gathered before it, checked when its result is there, and told where that was asked."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rag_evaluation_framework as rag
from rag_evaluation_framework import gates, report, results
from rag_evaluation_framework._outside import json_text
from rag_evaluation_framework._support.files import checked_path, from_home, open_at_once, write_over
from rag_evaluation_framework.cli.compare import record_of
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results import store

if TYPE_CHECKING:
    from rag_evaluation_framework.experiments.spec import RunSpec

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_JUNIT = b'<testsuites name="rag-eval"'


@dataclass
class Gating:
    """What a run is checked against, and where that is told.

    Attributes:
        written: The gates of the command line, then those of the configuration.
        on_inconclusive: As what an inconclusive verdict counts.
        cluster: What counts as independent in population gates.
        baseline: The run before, or None.
        junit: The file for JUnit XML, or None.
        step_summary: The file to which Markdown is added, or None.
    """

    written: Sequence[gates.Written]
    on_inconclusive: Any
    cluster: Any
    baseline: rag.EvaluationResult[Any] | None
    junit: Path | None
    step_summary: Path | None
    _runs: gates.Runs | None = field(default=None, init=False)

    @classmethod
    def of(
        cls,
        run_file: RunSpec,
        folder: Path,
        *,
        gate: Sequence[str] | None = None,
        threshold: Sequence[str] | None = None,
        baseline: str | None = None,
        junit: Path | None = None,
        step_summary: bool = False,
    ) -> Gating:
        """Return what options and configuration ask for; the baseline is looked for now: `last` is not this run.

        Raises:
            ConfigError: A file cannot be written.
            ResultError: The baseline cannot be read.
        """
        options = gates.Written(gate or (), threshold or (), "--gate", "--threshold")
        file = "of the configuration"
        config = gates.Written(run_file.gates, run_file.thresholds, f"gates {file}", f"thresholds {file}")
        return cls(
            (options, config),
            run_file.on_inconclusive,
            run_file.cluster,
            _baseline(baseline, run_file, folder),
            junit,
            _step_summary() if step_summary else None,
        )

    def planned(self, experiment: rag.ExperimentConfig[Any]) -> tuple[gates.Gate, ...]:
        """Return the gates of a run; raises ConfigError if one cannot be measured in it."""
        return gates.gates_of_run(experiment, self.written, self.baseline)

    def complete(
        self, result: rag.EvaluationResult[Any], checked: Sequence[gates.Gate], problems: Sequence[str]
    ) -> rag.EvaluationResult[Any]:
        """Return a result with the verdicts of gates, and with its comparison as files."""
        told = replace(result, gates=gates.verdicts(self._runs_of(result), checked, self.on_inconclusive, problems))
        return replace(told, beside=self._diff(told))

    def _diff(self, result: rag.EvaluationResult[Any]) -> dict[str, str]:
        compared = self.compared(result)
        if self.baseline is None or not isinstance(compared, rag.Comparison):
            return {}
        page = report.comparison_page(compared, (self.baseline, result), gated=True)
        return {
            "diff.json": json_text(record_of(compared, self.baseline, result), indent=1),
            "diff.md": report.with_gates(page, result.gates).as_markdown(),
            store.SUMMARY: f"\n{page.as_markdown(2)}",  # the page around it has the gates
        }

    def compared(self, result: rag.EvaluationResult[Any]) -> gates.Compared:
        """Return how a result differs from the baseline, or why they cannot be compared; None without a baseline."""
        return self._runs_of(result).compared

    def _runs_of(self, result: rag.EvaluationResult[Any]) -> gates.Runs:
        """Return a result beside the baseline: the same again for the same questions, as comparing takes long."""
        if self._runs is None or self._runs.result.queries is not result.queries:
            self._runs = gates.Runs(result, self.baseline, self.cluster)
        return self._runs

    def write(self, result: rag.EvaluationResult[Any], problems: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Write what was asked for beside the run's folder.

        Args:
            result: The result.
            problems: Why it cannot be relied on.

        Returns:
            What could not be written, and why.
        """
        wrong: tuple[str, ...] = ()
        if self.step_summary is not None:
            try:
                with self.step_summary.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{result.summary().as_markdown()}{result.beside.get(store.SUMMARY, '')}\n")
            except OSError as error:
                wrong = (f"--step-summary {self.step_summary}: cannot be written ({store.reason(error)})",)
        return (*self.write_junit(result, (*problems, *wrong)), *wrong)

    def write_junit(self, result: rag.EvaluationResult[Any], problems: tuple[str, ...]) -> tuple[str, ...]:
        """Write the JUnit XML, if it was asked for; the arguments and what is returned are those of `write`."""
        if self.junit is None:
            return ()
        compared = self.compared(result)
        notes = report.comparison_notes(compared) if isinstance(compared, rag.Comparison) else result.all_notes
        runs = {"baseline": self.baseline, "run": result}
        hashes = (f"dataset of the {name}: sha256 {run.config['dataset']['hash']}" for name, run in runs.items() if run)
        try:
            write_over(self.junit, report.gates_as_junit(result, problems, (*notes, *hashes)))
        except OSError as error:
            return (f"--junit {self.junit}: cannot be written ({store.reason(error)}); choose another file",)
        return ()


def _baseline(given: str | None, run_file: RunSpec, folder: Path) -> rag.EvaluationResult[Any] | None:
    """Return the run before: of a configuration a path relative to its folder, or a name."""
    beside = folder if folder.absolute().name == store.ROOT.name else folder / store.ROOT
    root = folder / run_file.save_results_path if run_file.save_results_path else beside
    if given is None and run_file.baseline is not None:
        path = folder / from_home(run_file.baseline)
        given = str(path) if path.exists() else run_file.baseline
    return None if given is None else rag.load_result(results.find_run(given, root))


def forget_junit(junit: Path) -> None:
    """Remove the JUnit XML of an earlier run, which would be taken for that of this one if this one ends without it.

    Nothing else is removed or replaced, whatever it is.

    Raises:
        ConfigError: Something else is there.
    """
    path = checked_path(junit, ConfigError)
    try:
        mode = path.lstat().st_mode
    except OSError:  # there is none, or it cannot be written either, which is told later
        return
    if stat.S_ISDIR(mode):
        raise ConfigError(f"--junit {junit}: is a folder; expected the name of a file, such as {junit / 'gates.xml'}")
    if not stat.S_ISREG(mode):
        what = "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket"
        raise ConfigError(f"--junit {junit}: is {what}; expected the name of a file, such as gates.xml")
    try:
        with open_at_once(path) as file:
            begin = file.read(len(_JUNIT))
    except OSError as error:
        raise ConfigError(f"--junit {junit}: cannot be read ({store.reason(error)}); choose another file") from error
    if begin != _JUNIT:
        raise ConfigError(f"--junit {junit}: is there, and is not the JUnit XML of an earlier run; choose another file")
    with suppress(OSError):
        path.unlink()


def _step_summary() -> Path:
    given = os.environ.get(STEP_SUMMARY)
    if not given:
        raise ConfigError(
            f"--step-summary: ${STEP_SUMMARY} is not set; GitHub Actions sets it to the file of the step's summary. "
            "Elsewhere, leave the option out: the same is in the summary.md of the run"
        )
    return checked_path(Path(given), ConfigError)
