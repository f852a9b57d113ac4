"""What continuous integration reads of a run: JUnit XML, and the summary of a step of GitHub Actions."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import rag_evaluation_framework as rag
from rag_evaluation_framework import gates, report
from rag_evaluation_framework.base.files import checked_path, open_at_once, write_over
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results import store

_JUNIT = b'<testsuites name="rag-eval"'


def step_summary() -> Path:
    """Return the file of the summary of this step; raises ConfigError if there is none."""
    given = os.environ.get("GITHUB_STEP_SUMMARY")
    if not given:
        raise ConfigError(
            "--step-summary: $GITHUB_STEP_SUMMARY is not set; GitHub Actions sets it to the file of the step's "
            "summary. Elsewhere, leave the option out: the same is in the summary.md of the run"
        )
    return checked_path(Path(given), ConfigError)


def add_to_step_summary(path: Path, result: rag.EvaluationResult[Any]) -> tuple[str, ...]:
    """Add the page of a result to the summary of a step; return why that could not be done, nothing if it was."""
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{result.summary().as_markdown()}{result.beside.get(store.SUMMARY, '')}\n")
    except OSError as error:
        return (f"--step-summary {path}: cannot be written ({store.reason(error)})",)
    return ()


def write_junit(
    path: Path, result: rag.EvaluationResult[Any], runs: gates.Runs, problems: Sequence[str]
) -> tuple[str, ...]:
    """Write the gates of a result as JUnit XML; return why that could not be done, nothing if it was."""
    try:
        write_over(path, report.gates_as_junit(result, problems, runs))
    except OSError as error:
        return (f"--junit {path}: cannot be written ({store.reason(error)}); choose another file",)
    return ()


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
