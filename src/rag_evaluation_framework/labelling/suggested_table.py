"""The table of quotes with the suggestions in place, for people to look through and to give to `init` again."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from rag_evaluation_framework._support.files import checked_path, read_bytes, read_text, write_new
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_row import QuoteRow
from rag_evaluation_framework.labelling.quote_table import TOLD, Record, csv_rows, delimiter_of

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
    records = [{**dict.fromkeys(header, ""), **_record(row)} for row in rows]
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


def _record(row: QuoteRow) -> Record:
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
