"""Summaries in a terminal: the means of one result, and how two results differ."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rag_evaluation_framework.analysis.comparison import Comparison
from rag_evaluation_framework.data.score_table import full_name
from rag_evaluation_framework.report.tables import Column, show_table
from rag_evaluation_framework.report.wrapped import print_wrapped
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.results.summary import Summary, SummaryTable


def show_summary(console: Console, summary: Summary, rows: str) -> None:
    """Print the title of a summary, the lines below it, its table, and its notes.

    Args:
        console: Where to print.
        summary: What to print.
        rows: What a row of the table is.
    """
    names, *means = (
        Column(Text(header or rows), [Text(cell) for cell in cells])
        for header, *cells in zip(summary.header, *summary.rows, strict=True)
    )
    console.print(Text(summary.title, style="bold"))
    for line in summary.headline:
        print_wrapped(console, Text(line, "dim"), 0)
    show_table(console, [names], means)
    for table in summary.tables:
        show_summary_table(console, table)
    for note in summary.notes:
        print_wrapped(console, Text(note, "yellow"), 2, "! ", "yellow")


def show_summary_table(console: Console, table: SummaryTable) -> None:
    """Print a table below the means."""
    names, *cells = (
        Column(Text(header), [Text(cell) for cell in column])
        for header, *column in zip(table.header, *table.rows, strict=True)
    )
    console.print(Text(table.title, style="bold"))
    for line in table.lines:
        print_wrapped(console, Text(line, "dim"), 0)
    show_table(console, [names], cells)


def show_difference(console: Console, summary: Summary) -> None:
    """Print how two results differ: the scores, the questions that got worse, and where the results are."""
    show_summary(console, summary, "score")
    if summary.worst:
        console.print(Text(summary.worst_title, style="bold"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        for loss, query_id, wording in summary.worst:
            grid.add_row(Text(loss, style="red"), Text.assemble(f"{wording} ", (f"({query_id})", "dim")))
        console.print(grid)
    console.print()
    for fact in summary.facts:
        print_wrapped(console, fact, 0)


def show_differences(console: Console, pages: Sequence[Summary]) -> None:
    """Print how two results differ, and then their slices."""
    first, *slices = pages
    show_difference(console, first)
    for page in slices:
        console.print()
        show_summary(console, page, "questions")


def show_leaderboard(console: Console, pages: Sequence[Summary]) -> None:
    """Print how several results differ: their tables, the questions that got worse, and where the results are."""
    *others, last = pages
    for page in others:
        show_summary(console, page, "run" if page is pages[0] else "score")
    show_difference(console, last)


def difference(
    compared: Comparison,
    before: EvaluationResult[Any],
    after: EvaluationResult[Any],
    score: str | None = None,
    worst: int = 5,
) -> Summary:
    """Return the comparison as people read it, with the questions that got worse by a score, and where the runs are.

    Those that failed in the candidate and count as 0 come last: what was retrieved for them is not known.

    Args:
        compared: The comparison.
        before: The baseline.
        after: The candidate.
        score: By which score questions got better or worse; by default the first.
        worst: How many of the questions that got worse to name.

    Raises:
        ConfigError: There is no such score in both.
    """
    name = next(iter(compared.deltas)) if score is None else full_name(score, compared.change.columns) or score
    lost, won, scored = compared.regressions(name), compared.improvements(name), len(compared.deltas[name])
    statuses = zip(after.scores.query_ids, after.scores.statuses, strict=True)
    failed = {query_id for query_id, status in statuses if status == "failed"}
    listed = sorted(lost, key=failed.__contains__)[:worst]
    some = f", {len(listed)} of {len(lost)}" if len(listed) < len(lost) else ""
    told = compared.summary()
    return replace(
        told,
        headline=(
            *told.headline,
            f"{name}: {len(won)} improved, {len(lost)} regressed, {scored - len(won) - len(lost)} unchanged",
        ),
        worst_title=f"Questions that got worse by {name}{some}",
        worst=tuple(
            (
                f"{lost[query_id]:+.3f}",
                query_id,
                f"{'failed, and counts as 0: ' if query_id in failed else ''}{compared.questions[query_id] or '–'}",
            )
            for query_id in listed
        ),
        facts=tuple(
            f"{which}: {run.folder or 'this run'} ({run.created}), dataset sha256 {run.config['dataset']['hash'][:12]}"
            for which, run in (("baseline", before), ("candidate", after))
        ),
    )
