"""Losses and explanations in a terminal; outside text is printed literally."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rag_evaluation_framework.attribution.attribution import Attribution
from rag_evaluation_framework.attribution.explanation import Explanation, Line, Style
from rag_evaluation_framework.report.summaries import show_summary
from rag_evaluation_framework.report.wrapped import print_wrapped

_STYLES: Mapping[Style, str] = {
    "": "",
    "title": "bold",
    "label": "bold",
    "place": "cyan",
    "relevant": "bold green",
    "missed": "bold red",
    "faint": "dim",
}


def show_attribution(console: Console, attribution: Attribution, worst: int) -> None:
    """Print where a run lost what was relevant, what to change first, and the questions that lost most.

    Args:
        console: Where to print.
        attribution: What was lost.
        worst: How many of the questions that lost most to name.
    """
    summary = attribution.summary(worst)
    show_summary(console, summary, "cause")
    if not summary.worst:
        return
    console.print(Text(summary.worst_title, style="bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for recall, query_id, wording in summary.worst:
        grid.add_row(Text(recall, style="red"), Text.assemble(f"{wording} ", (f"({query_id})", "dim")))
    console.print(grid)


def show_explanation(console: Console, explanation: Explanation) -> None:
    """Print what one question found, what it missed, and why; what is relevant is coloured, or between » and «."""
    coloured = console.is_terminal and not console.no_color and console.color_system is not None
    for line in explanation.lines:
        print_wrapped(console, _styled(line, coloured=coloured), line.indent, line.before)


def _styled(line: Line, *, coloured: bool) -> Text:
    text = Text()
    for part in line.parts:
        marked = part.style in ("relevant", "missed") and not coloured
        text.append(f"»{part.text}«" if marked else part.text, _STYLES[part.style])
    return text
