"""Summaries of results as text, Markdown and HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

Row = tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """A summary of a result, ready to be printed.

    Attributes:
        title: The name of the result.
        headline: Lines below the title: how many questions the means are of.
        header: The header of the table of means: nothing, then the cutoffs.
        rows: One row per metric: its name and its mean at every cutoff.
        notes: Notes shown with the result: failures, results without a place, warnings.
        worst_title: The heading of the questions below the table.
        worst: Questions to look at: score, id, wording.
        facts: Where and how the run was made.
    """

    title: str
    headline: tuple[str, ...]
    header: Row
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    worst_title: str
    worst: tuple[Row, ...]
    facts: tuple[str, ...]

    def as_text(self) -> str:
        """Return the summary as a terminal shows it."""
        rows = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            first.ljust(widths[0])
            + "".join(f"  {cell.rjust(width)}" for cell, width in zip(cells, widths[1:], strict=True))
            for first, *cells in rows
        ]
        return "\n".join([self.title, *self.headline, *lines, *(f"! {note}" for note in self.notes)])

    def as_html(self) -> str:
        """Return the summary as a notebook shows it; everything that comes from outside is escaped."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        more = f"<ul>{notes}</ul>" if notes else ""
        headline = "".join(f"<br>{escape(line)}" for line in self.headline)
        return (
            f"<div><strong>{escape(self.title)}</strong>{headline}"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
        )

    def as_markdown(self) -> str:
        """Return the summary as a Markdown page, the weakest questions included."""
        lines = [f"# {_plain(self.title)}", ""]
        for line in self.headline:
            lines += [_plain(line), ""]
        lines += _table(self.header, self.rows)
        if self.notes:
            lines += ["", "## Notes", "", *(f"- {_plain(note)}" for note in self.notes)]
        if self.worst:
            lines += ["", f"## {_plain(self.worst_title)}", "", *_table(("score", "id", "question"), self.worst)]
        if self.facts:
            lines += ["", "## Run", "", *(f"- {_plain(fact)}" for fact in self.facts)]
        return "\n".join(lines) + "\n"


def number(value: float | None) -> str:
    """Return a score with three decimals, or a dash for None."""
    return "–" if value is None else f"{value:.3f}"


def vector_stores(record: object) -> Iterator[str]:
    """Yield the types of the vector stores in the record of a component, those of nested components too."""
    if isinstance(record, Mapping):
        described = cast("Mapping[str, Any]", record)
        store = described.get("vector_store")
        if isinstance(store, Mapping):
            yield str(cast("Mapping[str, Any]", store).get("type"))
        for value in described.values():
            yield from vector_stores(value)
    elif isinstance(record, list | tuple):
        for item in cast("Sequence[object]", record):
            yield from vector_stores(item)


def _table(header: Row, rows: tuple[Row, ...]) -> list[str]:
    lines = [f"| {' | '.join(map(_plain, row))} |" for row in (header, *rows)]
    return [lines[0], "|" + "---|" * len(header), *lines[1:]]


def _plain(text: str) -> str:
    """Return text on one line, escaped so that Markdown shows it as it is."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in r"\`*[]<>|#" else character for character in line)
