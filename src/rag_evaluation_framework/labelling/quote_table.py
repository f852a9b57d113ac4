"""Tables of questions with quotes, and the same with suggestions in place."""

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
    table_rows,
    write_new,
)
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_row import QuoteRow

# Tables of questions with quotes: CSV, TSV and JSONL files of `question, quote[, document][, id][, answer, place]`.

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


# The table of quotes with the suggestions in place, for people to look through and to give to `init` again.

_MOST_FILES = 1_000
_MARK = "\ufeff"
_LARGEST = 200_000_000  # bytes
_SUGGESTED = re.compile(r"\.suggested(?:\.\d+)?\Z")


def save_suggested_table(rows: Sequence[QuoteRow], columns: Sequence[str], source: Path, path: Path | None) -> Path:
    """Write the rows of a table of quotes as CSV, with the suggestions in place, and what tells about them.

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
    mark, delimiter = _form_of(source)
    text = _written(rows, columns, source, delimiter)
    for place in _numbered(source) if path is None else [path]:
        there = checked_path(place).exists()
        if there and _holds(place, text):
            return place
        if not there or path is not None:
            write_new(place, mark + text)
            return place
    raise DatasetError(f"{source}: there are too many files of suggestions beside it; remove some")


def _numbered(source: Path) -> list[Path]:
    name = _SUGGESTED.sub("", source.stem)
    numbers = ["", *(f".{number}" for number in range(1, _MOST_FILES))]
    return [source.with_name(f"{name}.suggested{number}.csv") for number in numbers]


def _holds(path: Path, text: str) -> bool:
    try:
        return read_text(path) == text
    except DatasetError:
        return False


def _form_of(source: Path) -> tuple[str, str]:
    """Return the byte order mark, or "", and the delimiter of a CSV file; nothing and a comma if it is none."""
    if source.suffix.lower() != ".csv" or not source.is_file():
        return "", ","
    text = read_bytes(source, DatasetError, most=_LARGEST, remedy="split it").decode("utf-8", "replace")
    return _MARK if text.startswith(_MARK) else "", delimiter_of(text)


def _written(rows: Sequence[QuoteRow], columns: Sequence[str], source: Path, delimiter: str) -> str:
    """Return the table as CSV, after reading it again: what is read has to be what is meant."""
    named = any(row.suggestion for row in rows) and "document" not in columns
    known = any(row.id for row in rows) and "id" not in columns  # of the skipped question that a row answers
    header = [*columns, *(["id"] if known else []), *(["document"] if named else []), *TOLD]
    records = [{**dict.fromkeys(header, ""), **_suggested(row)} for row in rows]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([record[name] for name in header] for record in records)
    text = file.getvalue()
    expected = [{name.strip().lower(): value for name, value in record.items()} for record in records]
    if [record for _, record in csv_rows(text, source)] != expected or not _is_encodable(text):
        raise DatasetError(f"{source}: a row cannot be written as CSV and read again as it is; is a cell very long?")
    return text


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _suggested(row: QuoteRow) -> Record:
    """Return the cells of a row, with its suggestion in place."""
    given = {**row.metadata, "question": row.question, "quote": row.quote, "document": row.document, "id": row.id}
    given = {name: value for name, value in given.items() if value}
    found = row.suggestion
    if found is None:
        warned = f", but it {row.warning}" if row.warning else ""
        return {**given, "quote_check": row.reason or f"{row.status}{warned}"}
    told = (
        "accepted" if row.accepted else f"suggestion{found.refusal and f': {found.refusal}'}",
        row.quote,
        row.document,
        f"{found.similarity:.4f}",
        found.difference,
        "; ".join(found.copies),
    )
    document = found.document if len(found.copies) == 1 else row.document
    return {**given, "quote": found.quote, "document": document, **dict(zip(TOLD, told, strict=True))}
