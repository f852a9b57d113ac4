"""What is known of a dataset in a terminal; outside text is printed literally."""

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework.labelling.findings import MEANINGS, LintReport

_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


def show_lint(console: Console, report: LintReport) -> None:
    """Print what a check of a dataset found, of many of a kind the first ten, and what could not be checked."""
    for found in report.by_kind():
        console.print(Text(found.heading, style=f"bold {_COLOURS[MEANINGS[found.kind].severity]}"))
        for finding in found.shown:
            if finding.question:
                _indented(console, finding.question, 2)
            _indented(console, finding.told, 4 if finding.question else 2)
        if found.shown and found.more:
            _indented(console, f"… and {found.more:,} more; --json lists all of them", 2)
    for text in report.not_checked:
        console.print(Text(f"not checked: {text}", style="dim"))
    console.print(Text(report.counted(), style="bold"))


def _indented(console: Console, text: str, by: int) -> None:
    for line in Text(text).wrap(console, max(console.width - by, 1)):
        line.rstrip()
        console.print(Text.assemble(" " * by, line))
