"""Questions with quotes: the quickest way to label a dataset.

A CSV or JSONL file of `question, quote[, document]` with one row per quote: several rows for a question whose answer is
spread over several passages, an empty quote if the corpus holds no answer. Quotes are located in the corpus as people
copy them, so nobody counts offsets. Other columns are kept as metadata of the question; the optional column `id` sets
its id.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework._support.files import checked_path, json_lines, read_text, table_rows
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework._support.records import Problems
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.document_resolver import DocumentResolver
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.ground_truth import TokenLevelGroundTruth
from rag_evaluation_framework.data.ids import QueryId, QueryText, generate_query_id
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.skipped import Skipped, count_skipped
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_locator import Located, QuoteLocator

QuoteStatus = Literal["located", "ambiguous", "missing", "no-answer"]

_MOST_ROWS = 200
_COLUMNS = ("question", "quote", "document", "id")


@dataclass(frozen=True, repr=False)
class QuoteRow:
    """One row of a file of quotes, and whether its quote was located.

    Attributes:
        number: The line of the file on which the row starts; the header is line 1.
        question: The question.
        quote: The quote as given.
        document: The document named in the row, or "".
        status: `located`: occurs exactly once. `ambiguous`: occurs more than once. `missing`: does not occur.
            `no-answer`: the quote is empty, so the corpus holds no answer.
        places: The occurrences of the quote; at most 20 of an ambiguous one. Each is one or more spans of one document,
            in order: "A … B" has two.
        ignoring: In what the quote and the document differ: "emphasis", "line breaks"; empty if it occurs verbatim.
        advice: What to do about it; "" for located rows.
        id: The id of the question in the file, or "".
        metadata: The other columns.
    """

    number: int
    question: str
    quote: str
    document: str
    status: QuoteStatus
    places: tuple[tuple[CharacterSpan, ...], ...]
    ignoring: tuple[str, ...]
    advice: str
    id: str
    metadata: Mapping[str, str]

    @property
    def key(self) -> str:
        """What the rows of one question share: its id or, without one, its wording."""
        return self.id or self.question

    @property
    def reason(self) -> str:
        """Why the quote was not located, and what to do about it: status, places and advice; "" if it was."""
        return f"{self.status}: {self._told}" if self.advice else ""

    @property
    def _told(self) -> str:
        where = ", ".join(map(_place, self.places[:3]))
        more = f" and {len(self.places) - 3} more" if len(self.places) > 3 else ""
        ignoring = f", ignoring: {', '.join(self.ignoring)}" if self.ignoring else ""
        advice = f"{' ' if where else ''}{one_line(self.advice)}" if self.advice else ""
        return f"{where}{more}{ignoring}{advice}"

    def __str__(self) -> str:
        return f"line {self.number:<4} {self.status:<10} {self._told}".rstrip()

    def __repr__(self) -> str:
        return f"QuoteRow({self})"


@dataclass(frozen=True, repr=False)
class QuoteCheck:
    """Result of checking the quotes of a file against the corpus, row by row.

    Attributes:
        source: The file.
        corpus: The documents.
        rows: One entry per row, in order.
    """

    source: str
    corpus: Corpus
    rows: tuple[QuoteRow, ...]

    @property
    def problems(self) -> tuple[QuoteRow, ...]:
        """The rows whose quote is ambiguous or missing."""
        return tuple(row for row in self.rows if row.status in ("ambiguous", "missing"))

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """The quotes that were not located, each with its question, which the dataset skips, and the reason."""
        questions = self._questions
        return tuple(Skipped(_query(questions[row.key]), row.quote, row.reason) for row in self.problems)

    @property
    def _questions(self) -> dict[str, list[QuoteRow]]:
        """The rows of each question, in order."""
        questions: dict[str, list[QuoteRow]] = {}
        for row in self.rows:
            questions.setdefault(row.key, []).append(row)
        return questions

    def dataset(self, name: str | None = None) -> Dataset[CharacterSpan]:
        """Return the dataset of all questions whose quotes were all located; the others are its `skipped`.

        A question with a missing or ambiguous quote is skipped entirely: scored by its other quotes alone, retrieving
        the right text would count as wrong.

        Raises:
            DatasetError: No question is left.
        """
        problematic = {row.key for row in self.problems}
        entries = [
            TokenLevelGroundTruth(_query(rows), tuple(span for row in rows for place in row.places for span in place))
            for key, rows in self._questions.items()
            if key not in problematic
        ]
        if not entries:
            raise DatasetError(Problems(map(str, self.problems)).message(self.source))
        name = name or Path(self.source).stem
        return Dataset(entries, TOKEN, name=name, corpus=self.corpus, skipped=self.skipped)

    def summary(self) -> str:
        """Return the number of rows by status, and the rows whose quote is ambiguous or missing: the first 200."""
        return "\n".join([self._counted(), *_first(self.problems)])

    def __str__(self) -> str:
        """Return the rows, of many the first 200, and the number of rows by status."""
        return "\n".join([*_first(self.rows), self._counted()])

    def __repr__(self) -> str:
        return f"QuoteCheck({self._counted()})"

    def _counted(self) -> str:
        counts = Counter(row.status for row in self.rows)
        statuses = ", ".join(
            f"{counts[status]} {status}" for status in ("located", "ambiguous", "missing", "no-answer")
        )
        skipped = f"; {skipped_questions(self.skipped)}" if self.skipped else ""
        return f"{one_line(self.source)}: {len(self.rows)} row{'s' * (len(self.rows) != 1)}: {statuses}{skipped}"


def _first(rows: tuple[QuoteRow, ...]) -> list[str]:
    """Return the rows as lines, of many the first ones and how many more there are."""
    more = len(rows) - _MOST_ROWS
    return [*map(str, rows[:_MOST_ROWS]), *([f"… and {more:,} more rows"] if more > 0 else [])]


def _place(spans: tuple[CharacterSpan, ...]) -> str:
    return name_line(spans[0].doc_id) + " … ".join(f"[{span.start}:{span.end}]" for span in spans)


def skipped_questions(skipped: Iterable[Skipped]) -> str:
    """Return how many questions were skipped, for messages."""
    count = count_skipped(skipped)
    return "1 question skipped: fix its quotes" if count == 1 else f"{count} questions skipped: fix their quotes"


def _query(rows: list[QuoteRow]) -> Query:
    metadata = {key: value for row in reversed(rows) for key, value in row.metadata.items() if value}
    identity = QueryId(rows[0].id) if rows[0].id else generate_query_id(rows[0].question)
    return Query(identity, QueryText(rows[0].question), metadata)


def check_quotes(path: str | Path, corpus: Corpus, verbatim_only: bool = False) -> QuoteCheck:
    """Check the quotes of a CSV or JSONL file: locate each of them in the corpus.

    A quote is located where it occurs verbatim or, if it occurs nowhere verbatim, where it differs only in white space.
    Else it is located where it differs only in what a renderer and a keyboard change: markup, quotation marks, dashes,
    ligatures, divided words and the like, capitals last. What was ignored is said. Similarity is never enough: a quote
    that was not found is shown with the nearest passage.

    Args:
        path: The file.
        corpus: The documents; the suffix of an id tells Markdown, HTML and reStructuredText.
        verbatim_only: Ignore nothing but white space.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: The file cannot be read, lacks a column, or has a row without a question.
    """
    path, corpus = checked_path(path), checked_corpus(corpus)
    locator, resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)
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
    answered = {_key(record) for _, record in records if record["quote"].strip()}
    return QuoteCheck(
        str(path),
        corpus,
        tuple(
            _check(number, record, locator, resolver, _key(record) in answered, verbatim_only)
            for number, record in _with_progress(records)
        ),
    )


def _key(record: Mapping[str, str]) -> str:
    return record["id"] or record["question"]


def _with_progress(records: list[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, dict[str, str]]]:
    yield from tqdm(records, desc="Locating quotes", unit="quote", delay=2, disable=None, leave=False)


def _check(
    number: int,
    record: dict[str, str],
    locator: QuoteLocator,
    resolver: DocumentResolver,
    answered: bool,
    verbatim_only: bool,
) -> QuoteRow:
    status, located, advice = locate_quote(
        record["quote"], record["document"], locator, resolver, answered, verbatim_only
    )
    metadata = {key: value for key, value in record.items() if key not in _COLUMNS}
    return QuoteRow(
        number,
        record["question"],
        record["quote"],
        record["document"],
        status,
        located.places,
        located.ignoring,
        advice,
        record["id"],
        metadata,
    )


def locate_quote(
    quote: str,
    document: str,
    locator: QuoteLocator,
    resolver: DocumentResolver,
    answered: bool = False,
    verbatim_only: bool = False,
) -> tuple[QuoteStatus, Located, str]:
    """Return the status of a quote, where it stands, and what to do about it.

    Args:
        quote: The quote; blank for a question without an answer.
        document: The document that contains it; blank if unknown.
        locator: Locates quotes in the corpus.
        resolver: Finds the document by its name.
        answered: Whether the question has other quotes that are not blank.
        verbatim_only: Ignore nothing but white space.
    """
    nowhere = Located(())
    if not quote.strip():
        if answered:
            advice = "the quote is empty, but other rows answer the question: remove the row or fill it in"
            return "missing", nowhere, advice
        return "no-answer", nowhere, ""
    try:
        doc_id = resolver.resolve(document) if document.strip() else None
    except DatasetError as error:
        return "missing", nowhere, str(error)
    located = locator.locate(quote, doc_id, verbatim_only=verbatim_only)
    if len(located.places) == 1:
        return "located", located, ""
    if located.places:
        several = len({spans[0].doc_id for spans in located.places}) > 1
        advice = "name the document, or quote more" if several else "quote more of the passage"
        return "ambiguous", located, advice
    elsewhere = nowhere if doc_id is None else locator.locate(quote, limit=3, verbatim_only=verbatim_only)
    if elsewhere.places:
        found = ", ".join(map(_place, elsewhere.places))
        return "missing", nowhere, f"found in {found}, not in {name_line(str(doc_id))}: correct the document"
    return "missing", nowhere, _nearest(quote, locator)


def _nearest(quote: str, locator: QuoteLocator) -> str:
    part = locator.verbatim.missing_part(quote)
    nearest = locator.verbatim.nearest(part)
    if nearest is None:
        return "nothing similar in the corpus"
    span, similarity = nearest
    passage = (
        f"nearest passage ({similarity:.0f} % similar): {_place((span,))} “{_short(span.text, 120)}”; quote it verbatim"
    )
    return passage if part == quote else f"of the long quote, “{_short(part, 40)}” was not found; {passage}"


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


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
        for column in _COLUMNS:
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


def dataset_from_quotes(path: Path, corpus: Corpus) -> Dataset[CharacterSpan]:
    """Return the dataset of a file of quotes, noting the questions that are skipped."""
    check = check_quotes(path, corpus)
    dataset = check.dataset()
    if check.problems:
        note(check.summary())
    return dataset
