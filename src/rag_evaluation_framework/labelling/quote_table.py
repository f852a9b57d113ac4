"""Tables of questions with quotes, and the same with suggestions beside them."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.files import LARGEST, checked_path, read_bytes, write_new
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.tables import delimiter_of, headings, table_rows
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.questions import TOLD, AskedQuote, QuoteTable, asked_quotes
from rag_evaluation_framework.labelling.quote_row import QuoteRow

_ANSWERS = {"": False, "no": False, "yes": True}


def read_quote_table(given: Any, columns: Mapping[str, str] | None = None) -> QuoteTable:
    """Read questions with quotes, from whatever `asked_quotes` reads, with the suggestions that were accepted.

    Raises:
        DatasetError: As `asked_quotes`; or it has a column that only a table with suggestions has.
    """
    table = asked_quotes(given, columns)
    told = [name for name in table.columns if name in TOLD]
    if told and not {"quote_check", "suggestion"} <= set(told):  # columns of the user's own, which would be dropped
        raise DatasetError(
            f"{table.source}: only tables with suggestions have the columns {', '.join(map(repr, told))}, beside "
            "'quote_check' and 'suggestion'; rename yours to keep them as metadata, or remove them"
        )
    if not told:
        return table
    quotes = tuple(_accepted(quote, f"{table.source}: line {quote.number}") for quote in table.quotes)
    return replace(table, columns=tuple(name for name in table.columns if name not in TOLD), quotes=quotes)


def _accepted(quote: AskedQuote, where: str) -> AskedQuote:
    """Return a quote, or the suggestion beside it if that was accepted."""
    told = quote.metadata
    answer = told.get("accept", "").strip().lower()
    if answer not in _ANSWERS or (_ANSWERS[answer] and not told.get("suggestion", "").strip()):
        wrong = "there is no suggestion" if answer in _ANSWERS else f"got {shown(told['accept'], 60)}"
        raise DatasetError(
            f"{where}: 'accept': expected 'yes' to take the suggestion as the quote, else nothing; {wrong}"
        )
    metadata = {name: value for name, value in told.items() if name not in TOLD}
    if not _ANSWERS[answer]:
        return replace(quote, metadata=metadata)
    document = told.get("suggestion_document", "") or quote.document
    return replace(quote, quote=told["suggestion"], document=document, metadata=metadata)


# The table of quotes with suggestions beside them, for people to look through and to give to `init` again.

_MOST_FILES = 1_000
_SUGGESTED = re.compile(r"\.suggested(?:\.\d+)?\Z")


def save_suggestions(rows: Sequence[QuoteRow], columns: Sequence[str], source: Path, path: Path | None) -> Path:
    """Write the rows of a table of quotes as CSV, with the suggestions and what tells about them beside the quotes.

    The delimiter and the byte order mark are those of the table, if it is CSV, so that a program that opens the one
    opens the other.

    Args:
        rows: The rows, in order.
        columns: The columns of the table.
        source: The file of the table.
        path: A new file; without one, `NAME.suggested.csv` beside the table, or `NAME.suggested.1.csv` and so on if
            something else is there.

    Returns:
        The file; if it was there with this text, it is as it was.

    Raises:
        DatasetError: CSV cannot hold a row as it is, or the file cannot be written, or something else is there.
    """
    mark, delimiter = "", ","
    if source.suffix.lower() == ".csv" and source.is_file():
        table = read_bytes(source, DatasetError, most=LARGEST, remedy="split it").decode("utf-8", "replace")
        # Excel opens a file in the encoding of its country, unless it has the mark.
        mark, delimiter = "\ufeff" if table.startswith("\ufeff") or "\ufffd" in table else "", delimiter_of(table)
    more = [name for name in ("document", "id") if name not in columns and any(getattr(row, name) for row in rows)]
    header = [*columns, *more, *TOLD]
    records = [{**dict.fromkeys(header, ""), **_cells(row)} for row in rows]
    # Beside several quotes in a row, `answer` is a text; in a row for each of them it would make them alternatives.
    is_text = any(row.metadata.get("answer") and not row.answer for row in rows)
    titles = ["answer_text" if is_text and name == "answer" else name for name in header]
    cells = [titles, *([*record.values()] for record in records)]
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(cells)
    text = file.getvalue()
    headings(iter([(1, titles)]), source)  # it is to be read again
    if not _holds(text, cells):
        raise DatasetError(
            f"{source}: a row cannot be written as CSV and read again as it is; is it text that UTF-8 holds?"
        )
    name = _SUGGESTED.sub("", source.stem)
    numbered = (f"{name}.suggested{f'.{number}' if number else ''}.csv" for number in range(_MOST_FILES))
    for place in map(source.with_name, numbered) if path is None else [path]:
        if checked_path(place).is_file() and place.read_bytes() == f"{mark}{text}".encode():
            return place
        if path is not None or not place.exists():
            write_new(place, mark + text)
            return place
    raise DatasetError(f"{source}: there are too many files of suggestions beside it; remove some")


def _holds(text: str, cells: list[list[str]]) -> bool:
    """Return whether a text that is written as UTF-8 is read again as these rows, the header first."""
    try:
        return [row for _, row in table_rows(text)] == cells and text == text.encode(errors="replace").decode()
    except csv.Error:
        return False


def _cells(row: QuoteRow) -> dict[str, str]:
    """Return the cells of a row, and those that tell about it."""
    warned = f", but it {row.warning}" if row.warning else ""
    given = {**row.metadata, "question": row.question, "quote": row.quote, "document": row.document, "id": row.id}
    cells = {name: value for name, value in given.items() if value}
    cells["quote_check"] = row.reason or f"{row.status}{warned}"
    if found := row.suggestion:
        document = found.document if len(found.copies) == 1 else ""
        told = (row.status, found.quote, document, "; ".join(found.copies), found.difference)
        cells.update(zip(TOLD, told, strict=False))
    return cells
