"""`rag-eval baseline`: keep a run as what later ones are compared with."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rag_evaluation_framework import gates, report, results
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.output import print_text
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.results import store


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
    problems = gates.unreliable(result, allow_failures, allow_skipped, allow_unlocated=1.0)
    if problems:
        raise ConfigError(
            f"{result.name} is not a valid baseline: {'; '.join(problems)}, so that gates would not see what is lost "
            "of them. Mend the run, and keep it then"
        )
    earlier = None
    with suppress(ResultError):  # it is replaced, whatever it is, if it is there
        earlier = results.load_result(Path(where) / store.BASELINE)
    for told in report.baseline_notes(result, earlier):
        note(told)
    print_text(report.baseline_text(result, results.keep_baseline(found, where)))
