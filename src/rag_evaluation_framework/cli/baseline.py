"""`rag-eval baseline`: keep a run as what later ones are compared with."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework import results
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import name_line, one_line
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.output import stdout
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.results import store

if TYPE_CHECKING:
    from rag_evaluation_framework.results import EvaluationResult


def baseline(
    run: options.SavedRun,
    root: options.Root = None,
    allow_failures: options.AllowFailures = 0,
    allow_skipped: options.AllowSkipped = 0,
) -> None:
    """Keep a run as the baseline: copy its report to <root>/baseline/, in place of an earlier one.

    The folder can be kept in the repository; `rag-eval run --baseline baseline` compares with it.
    """
    where = root or store.ROOT
    found = results.find_run(run, where)
    result = results.load_result(found)
    _check(result, allow_failures, allow_skipped)
    _remark(result, Path(where) / store.BASELINE)
    report = results.keep_baseline(found, where)
    score = result.score_names[0]
    stdout().print(
        f"Wrote {one_line(str(report))}: {name_line(result.name)} on {_dataset(result)}, {result.headline}, "
        f"{score} {results.number(result.metrics[score])}",
        soft_wrap=True,
        markup=False,
        highlight=False,
    )


def _remark(result: EvaluationResult[Any], earlier: Path) -> None:
    """Say what people should know of a run before it is a baseline."""
    blocking = [verdict.gate for verdict in result.gates if verdict.counts_as != "pass"]
    if blocking:
        note(f"{name_line(result.name)} did not pass its own gates: {', '.join(map(name_line, blocking))}")
    if not (earlier / store.REPORT).exists():
        return
    try:
        before = _dataset(results.load_result(earlier))
    except ResultError:  # it is replaced, whatever it is
        return
    if before != _dataset(result):
        note(f"the baseline was of {before}, and is of {_dataset(result)} now")


def _dataset(result: EvaluationResult[Any]) -> str:
    """Return the name of the dataset of a run, for people."""
    return name_line(result.config["dataset"]["name"]) or "a dataset without a name"


def _check(result: EvaluationResult[Any], allow_failures: int, allow_skipped: int) -> None:
    """Raise ConfigError if later runs would not be watched on all questions."""
    failed = result.counts["failed"] + result.counts["metric_failed"]
    skipped = result.counts["skipped"]
    problems = [
        f"{number} of its questions {what} (--{option} allows {most})"
        for number, what, option, most in (
            (failed, "failed", "allow-failures", allow_failures),
            (skipped, "were skipped", "allow-skipped", allow_skipped),
        )
        if number > most
    ]
    if all(mean is None for mean in result.metrics.values()):
        problems = ["no question has a score"]
    if problems:
        raise ConfigError(
            f"{result.name} is not a valid baseline: {'; '.join(problems)}, so that gates would not see what is "
            "lost of them. Mend the run, and keep it then"
        )
