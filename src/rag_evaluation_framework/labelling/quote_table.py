"""Tables of questions with quotes: CSV, TSV and JSONL files of `question, quote[, document][, id][, answer, place]`."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import json_lines, read_text, table_rows
from rag_evaluation_framework.errors import DatasetError

COLUMNS = ("question", "quote", "document", "id")
# What a table with suggestions tells beside them; metadata of no question.
TOLD = (
    "quote_check",
    "given_quote",
    "given_document",
    "suggestion_similarity",
    "suggestion_difference",
    "suggestion_place",
)


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
    rows = table_rows(text, delimiter, skip_initial_space=True)
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


def delimiter_of(text: str) -> str:
    """Return what separates the cells of a CSV text: what is most frequent in its first line."""
    return max(",;\t", key=text.partition("\n")[0].count)


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
    if not told or {"quote_check", "given_quote"} <= set(told):
        return
    one = len(told) == 1
    raise DatasetError(
        f"{path}: the column{'' if one else 's'} {', '.join(map(repr, told))} {'has' if one else 'have'} a name that "
        f"only tables with suggestions have, beside 'quote_check' and 'given_quote'; rename {'it' if one else 'them'} "
        f"to keep {'it' if one else 'them'} as metadata, or remove {'it' if one else 'them'}"
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
    record["question"] = record["question"].strip()
    if not record["question"]:
        raise DatasetError(f"{where}: the question is empty")
    return record
