"""Questions with quotes: what people have on day one.

A CSV or JSONL file of `question, quote[, document]`: one row a quote, several rows a question where the answer stands
in several places, an empty quote where the corpus holds no answer. Quotes are located in the corpus, so nobody counts
offsets. Other columns are kept as metadata of the question; a column `id` names it.
"""

import csv
import io
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.naming import DocumentNames
from rag_evaluation_framework.datasets.records import problem_list
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.files import json_lines, read_text
from rag_evaluation_framework.ground_truth import Dataset, TokenLevelGroundTruth
from rag_evaluation_framework.ids import QueryId, QueryText, generate_query_id
from rag_evaluation_framework.levels import TOKEN
from rag_evaluation_framework.locator import TextLocator
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Query

QuoteStatus = Literal["located", "ambiguous", "missing", "no-answer"]

_COLUMNS = ("question", "quote", "document", "id")


@dataclass(frozen=True)
class QuoteRow:
    """One row of the file and what became of its quote.

    Attributes:
        number: The line of the file on which the row starts, the header being line 1.
        question: The question.
        quote: The quote as it was given.
        document: The document that was named, or "".
        status: `located`: stands in exactly one place. `ambiguous`: stands in several. `missing`: stands nowhere.
            `no-answer`: the quote is empty, so the corpus holds no answer.
        places: Where it stands; the places of an ambiguous quote, at most 20.
        advice: What to do about it; "" for located rows.
        id: What the file calls the question, or "".
        metadata: The other columns.
    """

    number: int
    question: str
    quote: str
    document: str
    status: QuoteStatus
    places: tuple[CharacterSpan, ...]
    advice: str
    id: str
    metadata: Mapping[str, str]

    def __str__(self) -> str:
        where = ", ".join(f"{span.doc_id}[{span.start}:{span.end}]" for span in self.places[:3])
        more = f" and {len(self.places) - 3} more" if len(self.places) > 3 else ""
        return f"line {self.number:<4} {self.status:<10} {where}{more}{' ' if where else ''}{self.advice}"


@dataclass(frozen=True)
class QuoteCheck:
    """Which quotes of a file were found in the corpus, row by row.

    Attributes:
        source: The file.
        corpus: The documents.
        rows: One entry a row, in order.
    """

    source: str
    corpus: Corpus
    rows: tuple[QuoteRow, ...]

    @property
    def problems(self) -> tuple[QuoteRow, ...]:
        """The rows whose quote is ambiguous or missing."""
        return tuple(row for row in self.rows if row.status in ("ambiguous", "missing"))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The questions that the dataset leaves out because one of their quotes has no certain place."""
        return tuple(dict.fromkeys(row.question for row in self.problems))

    def dataset(self, name: str | None = None) -> Dataset[CharacterSpan]:
        """Return the questions all of whose quotes were located.

        A question with a quote that is missing or ambiguous is left out whole: scoring it by the rest would call text
        wrong that is right.

        Raises:
            DatasetError: No question is left.
        """
        problematic = {row.id or row.question for row in self.problems}
        by_question: dict[str, list[QuoteRow]] = {}
        for row in self.rows:
            if (row.id or row.question) not in problematic:
                by_question.setdefault(row.id or row.question, []).append(row)
        if not by_question:
            raise DatasetError(problem_list(self.source, [str(row) for row in self.problems]))
        entries = [
            TokenLevelGroundTruth(_query(rows), tuple(span for row in rows for span in row.places))
            for rows in by_question.values()
        ]
        metadata = {"left_out": list(self.left_out)} if self.left_out else {}
        return Dataset(entries, TOKEN, name=name or Path(self.source).stem, corpus=self.corpus, metadata=metadata)

    def summary(self) -> str:
        """Return how many rows have which status, and every row whose quote is ambiguous or missing."""
        return "\n".join([self._counted(), *map(str, self.problems)])

    def __str__(self) -> str:
        """Return every row, and how many have which status."""
        return "\n".join([*map(str, self.rows), self._counted()])

    def _counted(self) -> str:
        counts = Counter(row.status for row in self.rows)
        statuses = ", ".join(
            f"{counts[status]} {status}" for status in ("located", "ambiguous", "missing", "no-answer")
        )
        left_out = f"; questions left out until their quotes are certain: {len(self.left_out)}" if self.left_out else ""
        return f"{self.source}: {len(self.rows)} row{'s' * (len(self.rows) != 1)}: {statuses}{left_out}"


def _query(rows: list[QuoteRow]) -> Query:
    metadata = {key: value for row in reversed(rows) for key, value in row.metadata.items() if value}
    identity = QueryId(rows[0].id) if rows[0].id else generate_query_id(rows[0].question)
    return Query(identity, QueryText(rows[0].question), metadata)


def check_quotes(path: str | Path, corpus: Corpus) -> QuoteCheck:
    """Locate the quotes of a CSV or JSONL file in the corpus.

    A quote is located where it stands verbatim or, where it stands nowhere verbatim, where it differs in nothing but
    white space. Likeness is never enough: a quote that stands nowhere is shown with the passage nearest to it.

    Raises:
        DatasetError: The file cannot be read, lacks a column, or has a row without a question.
    """
    path = Path(path)
    locator, names = TextLocator(corpus), DocumentNames(corpus)
    records = list(_csv_records(path) if path.suffix.lower() in (".csv", ".tsv") else _jsonl_records(path))
    if not records:
        raise DatasetError(f"{path}: holds no questions")
    wordings: dict[str, str] = {}
    for number, record in records:
        if record["id"] and wordings.setdefault(record["id"], record["question"]) != record["question"]:
            raise DatasetError(
                f"{path}: line {number}: the id {record['id']!r} is that of another question, "
                f"{wordings[record['id']]!r:.60}; give every question its own"
            )
    answered = {_key(record) for _, record in records if record["quote"].strip()}
    return QuoteCheck(
        str(path),
        corpus,
        tuple(
            _check(number, record, locator, names, _key(record) in answered)
            for number, record in _with_progress(records)
        ),
    )


def _key(record: Mapping[str, str]) -> str:
    return record["id"] or record["question"]


def _with_progress(records: list[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, dict[str, str]]]:
    yield from tqdm(records, desc="Locating quotes", unit="quote", delay=2, disable=None, leave=False)


def _check(number: int, record: dict[str, str], locator: TextLocator, names: DocumentNames, answered: bool) -> QuoteRow:
    status, places, advice = locate_quote(record["quote"], record["document"], locator, names, answered)
    metadata = {key: value for key, value in record.items() if key not in _COLUMNS}
    return QuoteRow(
        number,
        record["question"],
        record["quote"],
        record["document"],
        status,
        tuple(places),
        advice,
        record["id"],
        metadata,
    )


def locate_quote(
    quote: str, document: str, locator: TextLocator, names: DocumentNames, answered: bool = False
) -> tuple[QuoteStatus, list[CharacterSpan], str]:
    """Return what becomes of a quote, where it stands, and what to do about it.

    Args:
        quote: The quote; blank for a question without an answer.
        document: The document in which it stands; blank if that is not known.
        locator: Finds texts in the corpus.
        names: Finds the document.
        answered: Whether the question has other quotes that are not blank.
    """
    if not quote.strip():
        if answered:
            return "missing", [], "the quote is empty, yet other rows answer the question: remove the row or fill it in"
        return "no-answer", [], ""
    try:
        doc_id = names.resolve(document) if document.strip() else None
    except DatasetError as error:
        return "missing", [], str(error)
    places = locator.places(quote, doc_id)
    elsewhere = [] if places or doc_id is None else locator.places(quote, limit=3)
    if elsewhere:
        found = ", ".join(f"{span.doc_id}[{span.start}:{span.end}]" for span in elsewhere)
        return "missing", [], f"stands in {found}, not in {doc_id}: name that document"
    if len(places) == 1:
        return "located", places, ""
    if places:
        several = len({span.doc_id for span in places}) > 1
        return "ambiguous", places, "name its document, or quote more" if several else "quote more of the passage"
    return "missing", [], _nearest(quote, locator)


def _nearest(quote: str, locator: TextLocator) -> str:
    nearest = locator.nearest(quote)
    if nearest is None:
        return "nothing in the corpus is like it"
    span, likeness = nearest
    text = " ".join(span.text.split())
    shown = text if len(text) <= 120 else f"{text[:119]}…"
    return f"nearest ({likeness:.0f} % alike): {span.doc_id}[{span.start}:{span.end}] “{shown}”; quote it verbatim"


def _csv_records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = read_text(path)
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    last, no_cells = 0, list[str]()
    if not text.strip():
        return
    try:
        header = [name.strip().lower() for name in next(reader, no_cells)]
        _check_header(header, path)
        for cells in reader:
            last = reader.line_num
            first = last - sum(cell.count("\n") for cell in cells)
            if not any(cells):  # as spreadsheets leave them at the end
                continue
            if len(cells) > len(header):
                raise DatasetError(
                    f"{path}: line {first}: wanted {len(header)} columns, got {len(cells)}; put quotation marks around "
                    f"text that contains {delimiter!r}"
                )
            if len(cells) < 2:
                raise DatasetError(
                    f"{path}: line {first}: wanted a question and a quote, got one column; a question without answer "
                    f"ends in {delimiter!r}"
                )
            row = dict(zip_longest(header, cells, fillvalue=""))
            yield first, _record(row, f"{path}: line {first}")
    except csv.Error as error:
        raise DatasetError(f"{path}: line {last + 1}: {error}; is a quotation mark not closed?") from error


def _check_header(header: list[str], path: Path) -> None:
    if len(set(header)) < len(header):
        raise DatasetError(f"{path}: line 1: two columns share a name: {', '.join(header)}")
    for column in ("question", "quote"):
        if column not in header:
            raise DatasetError(
                f"{path}: line 1: no column {column!r} among {', '.join(header) or 'none'}; wanted question, quote "
                "and, optionally, document and id"
            )


def _jsonl_records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in json_lines(path):
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: line {number}: wanted an object with 'question' and 'quote'")
        for column in _COLUMNS:
            if not isinstance(row.get(column), str | None):
                raise DatasetError(f"{path}: line {number}: {column!r}: wanted a text, got {row[column]!r:.60}")
        yield (
            number,
            _record({key: "" if value is None else value for key, value in row.items()}, f"{path}: line {number}"),
        )


def _record(row: Mapping[str, object], where: str) -> dict[str, str]:
    for column in ("question", "quote"):
        if column not in row:
            raise DatasetError(f"{where}: no {column!r}; wanted the columns question, quote and, optionally, document")
    record = {"document": "", "id": "", **{str(key): str(value) for key, value in row.items()}}
    record["question"] = record["question"].strip()
    if not record["question"]:
        raise DatasetError(f"{where}: the question is empty")
    return record


def dataset_from_quotes(path: Path, corpus: Corpus) -> Dataset[CharacterSpan]:
    """Return the dataset of a file of quotes, warning of the questions that are left out."""
    check = check_quotes(path, corpus)
    dataset = check.dataset()
    if check.problems:
        warnings.warn(check.summary(), stacklevel=3)
    return dataset
