"""Tables of questions with quotes: CSV, TSV and JSONL files of `question, quote[, document][, id]`."""

import csv
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import json_lines, read_text, table_rows
from rag_evaluation_framework.errors import DatasetError

COLUMNS = ("question", "quote", "document", "id")


def read_quote_table(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table of quotes: the line on which each starts, and its cells by column.

    Every row has the columns question, quote, document and id, the last two blank if they are not given.

    Raises:
        DatasetError: The file cannot be read, holds no row, lacks a column, or has a row without a question or two
            questions of one id.
    """
    records = list(_csv_records(path) if path.suffix.lower() in (".csv", ".tsv") else _jsonl_records(path))
    if not records:
        raise DatasetError(f"{path}: holds no questions")
    wordings: dict[str, str] = {}
    for number, record in records:
        if record["id"] and wordings.setdefault(record["id"], record["question"]) != record["question"]:
            raise DatasetError(
                f"{path}: line {number}: the id {record['id']!r} is already used for another question, "
                f"{shown(wordings[record['id']], 60)}; ids must be unique"
            )
    return records


def _csv_records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = read_text(path)
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
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
            row = dict(zip_longest(header, cells, fillvalue=""))
            yield first, _record(row, f"{path}: line {first}")
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


def _jsonl_records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in json_lines(path):
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: line {number}: expected an object with 'question' and 'quote'")
        for column in COLUMNS:
            if not isinstance(row.get(column), str | None):
                raise DatasetError(
                    f"{path}: line {number}: {column!r}: expected a string, got {shown(row[column], 60)}"
                )
        yield (
            number,
            _record({key: "" if value is None else value for key, value in row.items()}, f"{path}: line {number}"),
        )


def _record(row: Mapping[str, object], where: str) -> dict[str, str]:
    for column in ("question", "quote"):
        if column not in row:
            raise DatasetError(
                f"{where}: no {column!r}; expected the columns question, quote and, optionally, document"
            )
    record = {"document": "", "id": "", **{str(key): str(value) for key, value in row.items()}}
    record["question"] = record["question"].strip()
    if not record["question"]:
        raise DatasetError(f"{where}: the question is empty")
    return record
