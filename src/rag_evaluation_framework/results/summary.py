"""Summaries of results as text, Markdown and HTML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rag_evaluation_framework._outside import fit_to_keep, name_line, one_line
from rag_evaluation_framework.data.rankings import UNFILLED
from rag_evaluation_framework.data.skipped import Skipped

Row = tuple[str, ...]

_LINE = 1000
_MOST_NOTES = 25
_MOST_SKIPPED = 10
_QUOTED = 160
SKIPPED = "Skipped questions"
"""The heading of the labels that could not be placed."""

GATES = "Gates"
"""The heading of what became of the gates."""

SCORES = "Scores"
"""The heading of the means, where something comes before them."""

# What Markdown makes something of, anywhere and at the beginning of a block. Inside of a word `_` is nothing.
_INLINE = re.compile(r"[\\`*\[\]<>|#~&$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"^(\d*)([-+=:.)])")


@dataclass(frozen=True)
class SummaryTable:
    """A table below the means: its texts are made fit to be shown, each on one line.

    Attributes:
        title: Its heading.
        lines: Lines below the heading.
        header: The header: what a row is, then the columns.
        rows: One row per line of the table.
    """

    title: str
    lines: tuple[str, ...]
    header: Row
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        fit: dict[str, Any] = {
            "title": _told(self.title),
            "lines": tuple(map(_told, self.lines)),
            "header": tuple(map(name_line, self.header)),
            "rows": tuple(tuple(map(name_line, row)) for row in self.rows),
        }
        for name, value in fit.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Summary:
    """A summary of a result, ready to be printed: its texts are made fit to be shown, each on one line.

    Attributes:
        title: The name of the result.
        headline: Lines below the title: how many questions the means are of.
        header: The header of the table of means: nothing, then the cutoffs.
        rows: One row per metric: its name and its mean at every cutoff.
        notes: Notes shown with the result: failures, results without a place, warnings.
        worst_title: The heading of the questions below the table.
        worst: Questions to look at: score, id, wording.
        facts: Where and how the run was made.
        skipped: Labels that could not be placed, and the reasons.
        tables: Tables below that of the means, such as what a reranker changed.
        latency: How long a question takes; like the facts, it is another in every run, and not part of the text.
        gates: What became of the gates of the run, below a header; nothing if it had none. On a page they come first.
        causes: The questions because of which gates did not pass; on a page they are below the gates.
    """

    title: str
    headline: tuple[str, ...]
    header: Row
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    worst_title: str = ""
    worst: tuple[Row, ...] = ()
    facts: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    tables: tuple[SummaryTable, ...] = ()
    latency: SummaryTable | None = None
    gates: tuple[Row, ...] = ()
    causes: tuple[SummaryTable, ...] = ()

    def __post_init__(self) -> None:
        fit: dict[str, Any] = {
            "title": one_line(fit_to_keep(self.title), _LINE),
            "headline": tuple(map(_told, self.headline)),
            "header": tuple(map(name_line, self.header)),
            "rows": tuple(tuple(map(name_line, row)) for row in self.rows),
            "notes": _first(self.notes, _MOST_NOTES, "note{}"),
            "worst_title": _told(self.worst_title),
            "worst": tuple((*map(name_line, row[:-1]), one_line(row[-1], _LINE)) for row in self.worst),
            "facts": tuple(map(_told, self.facts)),
            "skipped": _first(self.skipped, _MOST_SKIPPED, "label{} that could not be placed"),
            "gates": tuple(tuple(map(_told, row)) for row in self.gates),
        }
        for name, value in fit.items():
            object.__setattr__(self, name, value)

    def as_text(self) -> str:
        """Return the summary as a terminal shows it."""
        tables = [line for table in self.tables for line in (table.title, *table.lines, *_aligned(table))]
        skipped = [SKIPPED, *(f"  {label}" for label in self.skipped)] if self.skipped else []
        gates = [GATES, *(f"  {'; '.join(filter(None, row))}" for row in self.gates[1:])] if self.gates else []
        notes = [f"! {note}" for note in self.notes]
        return "\n".join([self.title, *self.headline, *_aligned(self), *tables, *gates, *notes, *skipped])

    def as_html(self) -> str:
        """Return the summary as a notebook shows it; everything that comes from outside is escaped."""
        gates = tuple("; ".join(filter(None, row)) for row in self.gates[1:])
        more = (
            (f"<strong>{GATES}</strong>{_html_list(gates)}" if gates else "")
            + _html_list(self.notes)
            + (f"<strong>{SKIPPED}</strong>{_html_list(self.skipped)}" if self.skipped else "")
        )
        tables = "".join(
            f"<strong>{escape(table.title)}</strong>{_html_lines(table.lines)}{_html_table(table)}"
            for table in self.tables
        )
        headline = f"<strong>{escape(self.title)}</strong>{_html_lines(self.headline)}"
        return f"<div>{headline}{_html_table(self)}{tables}{more}</div>"

    def as_markdown(self) -> str:
        """Return the summary as a Markdown page, the weakest questions included."""
        lines = [f"# {_in_line(self.title)}", ""]
        for line in self.headline:
            lines += [_literal(line), ""]
        if self.gates:
            lines += [f"## {GATES}", "", *_table(self.gates[0], self.gates[1:]), ""]
        for table in self.causes:
            lines += [*_section(table)[1:], ""]
        if self.gates or self.causes:
            lines += [f"## {SCORES}", ""]
        lines += _table(self.header, self.rows)
        for table in self.tables:
            lines += _section(table)
        if self.notes:
            lines += ["", "## Notes", "", *(f"- {_literal(note)}" for note in self.notes)]
        if self.skipped:
            lines += ["", f"## {SKIPPED}", "", *(f"- {_literal(label)}" for label in self.skipped)]
        if self.worst:
            lines += ["", f"## {_in_line(self.worst_title)}", "", *_table(("score", "id", "question"), self.worst)]
        if self.latency is not None:
            lines += _section(self.latency)
        if self.facts:
            lines += ["", "## Run", "", *(f"- {_literal(fact)}" for fact in self.facts)]
        return "\n".join(lines) + "\n"


def skipped_lines(skipped: Iterable[Skipped]) -> tuple[str, ...]:
    """Return labels that could not be placed as people read them: question, id, quote and reason, a line each."""
    return tuple(
        f"{one_line(label.query.text, _QUOTED)} ({name_line(label.query.id)}): "
        f"{f'“{one_line(label.quote, _QUOTED)}” ' if label.quote else ''}{label.reason}"
        for label in skipped
    )


def number(value: float | None) -> str:
    """Return a score with three decimals, or a dash for None."""
    return "–" if value is None else f"{value:.3f}"


def marked(mean: float | None, is_unfilled: bool) -> str:
    """Return a mean as `number` does, with a mark if some of its rankings ran out of results before the budget."""
    return f"{number(mean)}{UNFILLED if is_unfilled and mean is not None else ''}"


def notes_by_run(names: Sequence[str], notes: Sequence[Sequence[str]], all_runs: str = "each") -> tuple[str, ...]:
    """Return the notes of several runs, each once, with the names of those that have it, or that all do."""
    runs: dict[str, list[str]] = {}
    for name, own in zip(names, notes, strict=True):
        for note in own:
            runs.setdefault(note, []).append(name)
    return tuple(
        f"{all_runs if len(those) == len(names) else ', '.join(those)}: {note}" for note, those in runs.items()
    )


def _table(header: Row, rows: tuple[Row, ...]) -> list[str]:
    lines = [f"| {' | '.join(map(_in_line, row))} |" for row in (header, *rows)]
    return [lines[0], "|" + "---|" * len(header), *lines[1:]]


def _section(table: SummaryTable) -> list[str]:
    """Return a table with its heading as Markdown."""
    lines = ["", f"## {_in_line(table.title)}", ""]
    for line in table.lines:
        lines += [_literal(line), ""]
    return [*lines, *_table(table.header, table.rows)]


def _aligned(table: Summary | SummaryTable) -> list[str]:
    """Return the lines of a table, its columns below each other."""
    rows = [table.header, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        first.ljust(widths[0])
        + "".join(f"  {cell.rjust(width)}" for cell, width in zip(cells, widths[1:], strict=True))
        for first, *cells in rows
    ]


def _html_table(table: Summary | SummaryTable) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_lines(lines: tuple[str, ...]) -> str:
    return "".join(f"<br>{escape(line)}" for line in lines)


def _first(texts: tuple[str, ...], most: int, what: str) -> tuple[str, ...]:
    """Return texts fit to be shown, of many the first ones and how many more there are: "{}" is where an s is due."""
    more = len(texts) - most
    return (*map(_told, texts[:most]), *([f"{more:,} more {what.format('s' * (more > 1))}"] if more > 0 else []))


def _html_list(texts: tuple[str, ...]) -> str:
    listed = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{listed}</ul>" if listed else ""


def _told(text: str) -> str:
    return one_line(fit_to_keep(text), _LINE)


def _literal(text: str) -> str:
    """Return text of one line escaped so that Markdown shows it as it is, also where a block begins."""
    return _BLOCK.sub(r"\1\\\2", _in_line(text))


def _in_line(text: str) -> str:
    """Return text of one line escaped so that Markdown shows it as it is within a line."""
    return _INLINE.sub(r"\\\g<0>", text)


class Shown:
    """What is shown as its summary, in a terminal and in a notebook."""

    def summary(self) -> Summary:
        """Return it as people read it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.summary().as_text()

    def _repr_html_(self) -> str:
        return self.summary().as_html()
