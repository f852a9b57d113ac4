"""Tables of questions with quotes, and the same with suggestions beside them."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from rag_evaluation_framework.base.files import (
    checked_path,
    json_lines,
    read_bytes,
    read_text,
    write_new,
)
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.tables import delimiter_of, table_rows
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_row import QuoteRow

# Tables of questions with quotes: CSV, TSV and JSONL files of `question, quote[, document][, id][, answer, place]`.

COLUMNS = ("question", "quote", "document", "id")
# What a table with suggestions has beside its own columns; metadata of no question.
TOLD = (
    "quote_check",
    "suggestion",
    "suggestion_document",
    "suggestion_place",
    "suggestion_difference",
    "accept",
)
_ANSWERS = {"": False, "no": False, "yes": True}

Record = dict[str, str]


@dataclass(frozen=True)
class QuoteTable:
    """Table of questions with quotes, as its file holds it.

    Attributes:
        columns: The columns of the file, in order, but those that tell about suggestions.
        records: The rows: the line on which each starts, and its cells by column. Every row has the columns question,
            quote, document and id, the last two blank if they are not given.
    """

    columns: tuple[str, ...]
    records: tuple[tuple[int, Record], ...]


def read_quote_table(path: Path) -> QuoteTable:
    """Read a CSV, TSV or JSONL file of questions with quotes.

    Raises:
        DatasetError: The file cannot be read, holds no row, lacks a column, has one that only a table with suggestions
            has, has a row without a question or two questions of one id, or a JSONL file has an object or a list.
    """
    is_table = path.suffix.lower() in (".csv", ".tsv")
    rows = list(csv_rows(read_text(path), path) if is_table else _jsonl_rows(path))
    if not rows:
        raise DatasetError(f"{path}: holds no questions")
    names = dict.fromkeys(name for _, row in rows for name in row)
    _check_told(list(names), path)
    columns = [name for name in names if name not in TOLD]
    records = tuple((number, _record(row, f"{path}: line {number}")) for number, row in rows)
    wordings: dict[str, str] = {}
    for number, record in records:
        if record["id"] and wordings.setdefault(record["id"], record["question"]) != record["question"]:
            raise DatasetError(
                f"{path}: line {number}: the id {record['id']!r} is already used for another question, "
                f"{shown(wordings[record['id']], 60)}; ids must be unique"
            )
    return QuoteTable(tuple(columns), records)


def csv_rows(text: str, path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the rows of a CSV text, each with the line on which it starts.

    Args:
        text: The text; its first line tells the delimiter.
        path: The file, for messages.

    Raises:
        DatasetError: The text is not valid CSV, lacks a column, or has a row of too many or too few cells.
    """
    delimiter = delimiter_of(text)
    rows = table_rows(text)
    if not text.strip():
        return
    try:
        _, names = next(rows)
        header = [name.strip().lower() for name in names]
        _check_header(header, path)
        for first, cells in rows:
            if not any(cells):  # as spreadsheets leave them at the end
                continue
            if len(cells) > len(header):
                raise DatasetError(
                    f"{path}: line {first}: expected {len(header)} columns, got {len(cells)}; put quotes around text "
                    f"that contains {delimiter!r}"
                )
            if len(cells) < 2:
                raise DatasetError(
                    f"{path}: line {first}: expected a question and a quote, got one column; end a question without an "
                    f"answer with {delimiter!r}"
                )
            yield first, dict(zip_longest(header, cells, fillvalue=""))
    except csv.Error as error:
        raise DatasetError(f"{path}: {error}") from error


def _check_header(header: list[str], path: Path) -> None:
    if len(set(header)) < len(header):
        raise DatasetError(f"{path}: line 1: two columns share a name: {', '.join(header)}")
    for column in ("question", "quote"):
        if column not in header:
            raise DatasetError(
                f"{path}: line 1: no column {column!r} among {', '.join(header) or 'none'}; expected question, "
                "quote and, optionally, document and id"
            )


def _check_told(names: list[str], path: Path) -> None:
    """Refuse columns of the user's own that have a name which tells about suggestions: they would be dropped."""
    told = [name for name in names if name in TOLD]
    if told and not {"quote_check", "suggestion"} <= set(told):
        raise DatasetError(
            f"{path}: only tables with suggestions have the columns {', '.join(map(repr, told))}, beside 'quote_check' "
            "and 'suggestion'; rename yours to keep them as metadata, or remove them"
        )


def _jsonl_rows(path: Path) -> Iterator[tuple[int, Record]]:
    for number, row in json_lines(path):
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: line {number}: expected an object with 'question' and 'quote'")
        for column in COLUMNS:
            if not isinstance(row.get(column), str | None):
                raise DatasetError(
                    f"{path}: line {number}: {column!r}: expected a string, got {shown(row[column], 60)}"
                )
        for name, value in row.items():
            if type(value) in (dict, list):
                raise DatasetError(
                    f"{path}: line {number}: {shown(name, 60)}: expected text, a number, true, false or null, got "
                    f"{shown(value, 60)}; write it as one text, as a table of quotes has one in each cell"
                )
        yield number, {key: "" if value is None else str(value) for key, value in row.items()}


def _record(row: Record, where: str) -> Record:
    for column in ("question", "quote"):
        if column not in row:
            raise DatasetError(
                f"{where}: no {column!r}; expected the columns question, quote and, optionally, document"
            )
    record = {"document": "", "id": "", **{key: value for key, value in row.items() if key not in TOLD}}
    answer = row.get("accept", "").strip().lower()
    if answer not in _ANSWERS or (_ANSWERS[answer] and not row.get("suggestion", "").strip()):
        wrong = "there is no suggestion" if answer in _ANSWERS else f"got {shown(row['accept'], 60)}"
        raise DatasetError(
            f"{where}: 'accept': expected 'yes' to take the suggestion as the quote, else nothing; {wrong}"
        )
    if _ANSWERS[answer]:
        record["quote"] = row["suggestion"]
        record["document"] = row.get("suggestion_document", "") or record["document"]
    record["question"] = record["question"].strip()
    if not record["question"]:
        raise DatasetError(f"{where}: the question is empty")
    return record


# The table of quotes with suggestions beside them, for people to look through and to give to `init` again.

_MOST_FILES = 1_000
_LARGEST = 200_000_000  # bytes
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
        table = read_bytes(source, DatasetError, most=_LARGEST, remedy="split it").decode("utf-8", "replace")
        mark, delimiter = "\ufeff" if table.startswith("\ufeff") else "", delimiter_of(table)
    more = [name for name in ("document", "id") if name not in columns and any(getattr(row, name) for row in rows)]
    header = [*columns, *more, *TOLD]
    records = [{**dict.fromkeys(header, ""), **_cells(row)} for row in rows]
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, header, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    text = file.getvalue()
    expected = [{name.strip().lower(): value for name, value in record.items()} for record in records]
    if [record for _, record in csv_rows(text, source)] != expected or text != text.encode(errors="replace").decode():
        raise DatasetError(f"{source}: a row cannot be written as CSV and read again as it is; is a cell very long?")
    name = _SUGGESTED.sub("", source.stem)
    numbered = (f"{name}.suggested{f'.{number}' if number else ''}.csv" for number in range(_MOST_FILES))
    for place in map(source.with_name, numbered) if path is None else [path]:
        if checked_path(place).is_file() and place.read_bytes() == f"{mark}{text}".encode():
            return place
        if path is not None or not place.exists():
            write_new(place, mark + text)
            return place
    raise DatasetError(f"{source}: there are too many files of suggestions beside it; remove some")


def _cells(row: QuoteRow) -> Record:
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
