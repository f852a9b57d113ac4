"""Questions without labels, from files: tables with a column `question`, or texts with one question per line."""

import csv
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from rag_evaluation_framework.base.files import read_text, table_rows
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.ids import QueryId, QueryIds, QueryText
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_table import delimiter_of

_TABLES = (".csv", ".tsv")
_NO_TEXTS = (".json", ".jsonl", ".yaml", ".yml")


def read_questions(path: Path) -> list[Query]:
    """Return the questions of a file, each once.

    A `.csv` or `.tsv` file has a column `question` and may have a column `id`; its other columns are metadata of the
    questions. Any other file has one question per line.

    Raises:
        DatasetError: The file cannot be read, has no questions, or has two of one id.
    """
    asked: dict[str, Query] = {}
    ids = QueryIds()
    for number, row in _rows(path):
        wording, given = " ".join(row.pop("question").split()), row.pop("id", "").strip()
        if not wording:
            raise DatasetError(f"{path}: line {number}: the question is empty")
        metadata = {name: value for name, value in row.items() if value.strip()}
        query = Query(QueryId(given) if given else ids.of(wording), QueryText(wording), metadata)
        if asked.setdefault(query.id, query).text != wording:
            raise DatasetError(
                f"{path}: line {number}: the id {query.id!r} is already used for another question, "
                f"{shown(asked[query.id].text, 60)}; ids must be unique"
            )
    if not asked:
        raise DatasetError(f"{path}: holds no questions")
    return list(asked.values())


def read_wordings(path: Path) -> list[str]:
    """Return the wordings of the questions of a file, as often as they are there; nothing else of its rows is read.

    Raises:
        DatasetError: The file cannot be read, or has no questions.
    """
    found = [wording for _, row in _rows(path) if (wording := " ".join(row["question"].split()))]
    if not found:
        raise DatasetError(f"{path}: holds no questions")
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    if path.suffix.lower() in _NO_TEXTS:
        raise DatasetError(f"{path}: expected questions in a .csv or .tsv file, or a text file with one per line")
    text = read_text(path, remedy="split it into several files")
    return _table(text, path) if path.suffix.lower() in _TABLES else _lines(text)


def _lines(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, {"question": line}


def _table(text: str, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    rows = table_rows(text, delimiter_of(text), skip_initial_space=True)
    try:
        header = [name.strip().lower() for name in next(rows, (1, list[str]()))[1]]
        if "question" not in header or len({*header}) < len(header):
            raise DatasetError(
                f"{path}: line 1: expected one column 'question' and others of other names, got "
                f"{', '.join(map(shown, header)) or 'none'}"
            )
        for number, cells in rows:
            if len(cells) > len(header):
                raise DatasetError(
                    f"{path}: line {number}: expected {len(header)} columns, got {len(cells)}; put quotes around text "
                    "that contains the sign between two columns"
                )
            if any(cell.strip() for cell in cells):
                yield number, dict(zip_longest(header, cells, fillvalue=""))
    except csv.Error as error:
        raise DatasetError(f"{path}: {error}") from error
