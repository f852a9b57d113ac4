"""Tables of questions with quotes: their rows, the dataset that they make, and the suggestions beside them."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..base.files import LARGEST, checked_path, read_bytes, write_new
from ..base.outside import name_line, one_line, shown
from ..base.records import Problems
from ..base.tables import delimiter_of, headings, table_rows
from ..contracts.registry.loading import load_installed
from ..data import TOKEN, Answer, CharacterSpan, Corpus, Dataset, Query, Skipped, TokenLevelGroundTruth, count_skipped
from ..data.ids import QueryId, QueryIds, QueryText
from ..errors import DatasetError
from .questions import TOLD, AskedQuote, QuoteTable, asked_quotes
from .quote_locator import NOT_SHOWN
from .suggestions import Suggestion

if TYPE_CHECKING:
    from ..report.pages.quotes import Page

# One row of a table of quotes, and whether its quote was located.

IS_STRUCK_OUT, PARTLY_STRUCK_OUT = "that it is struck out", "that part of it is struck out"
_WARNINGS = {
    NOT_SHOWN: "is not shown: it stands in a comment, a script, an attribute or a hidden element",
    IS_STRUCK_OUT: "is struck out",
    PARTLY_STRUCK_OUT: "is struck out in part",
}

ANY_DOCUMENT = "*"
"""What a row names as its document if any occurrence of its quote, in any document, answers the question."""

MOST_OCCURRENCES = 1_000
"""How many occurrences of a quote may be the places of an answer."""

_MOST_PLACES = 3

QuoteStatus = Literal["located", "ambiguous", "missing", "no-answer"]


@dataclass(frozen=True, repr=False, kw_only=True)
class QuoteRow(AskedQuote):
    """One row of a file of quotes, and whether its quote was located.

    Attributes:
        status: `located`: occurs exactly once, or any occurrence was asked for. `ambiguous`: occurs more than once.
            `missing`: does not occur. `no-answer`: the quote is empty, so the corpus holds no answer.
        places: The occurrences of the quote; at most 20 of an ambiguous one. Each is one or more spans of one document,
            in order: "A … B" has two. Where a located row has several, each is enough.
        ignoring: In what the quote and the document differ: "emphasis", "line breaks"; empty if it occurs verbatim.
        advice: What to do about it; "" for located rows.
        suggestion: The passage that a missing quote may mean; None if nothing is similar enough.
        elsewhere: Where else the text of a located row stands, up to white space; at most 20 places. Of short texts,
            and where any occurrence is enough, none.
    """

    status: QuoteStatus
    places: tuple[tuple[CharacterSpan, ...], ...]
    ignoring: tuple[str, ...]
    advice: str
    suggestion: Suggestion | None = None
    elsewhere: tuple[CharacterSpan, ...] = ()

    @property
    def similarity(self) -> float | None:
        """How similar the quote and its suggestion are, in [0, 1]; None without a suggestion."""
        return self.suggestion.similarity if self.suggestion else None

    @property
    def difference(self) -> str:
        """In what the quote and its suggestion differ, in words; "" without a suggestion."""
        return self.suggestion.difference if self.suggestion else ""

    @property
    def warning(self) -> str:
        """Why the place of a located row is hardly an answer: "is struck out"; "" if nothing speaks against it."""
        return next((_WARNINGS[name] for name in self.ignoring if name in _WARNINGS), "")

    @property
    def asks_for_any(self) -> bool:
        """Whether any occurrence of the quote is enough, as the row or its table says."""
        return self.document.strip() == ANY_DOCUMENT or (self.status == "located" and len(self.places) > 1)

    @property
    def others(self) -> str:
        """Where else its text stands, in words: "its text is also in b.md[3:24]"; "" if it stands nowhere else."""
        if not self.elsewhere:
            return ""
        named = ", ".join(_place((span,)) for span in self.elsewhere[:_MOST_PLACES])
        more = len(self.elsewhere) - _MOST_PLACES
        return f"its text is also in {named}{f' and {more} more' if more > 0 else ''}"

    @property
    def key(self) -> str:
        """What the rows of one question share: its id or, without one, its wording."""
        return self.id or self.question

    @property
    def reason(self) -> str:
        """Why the quote was not located, and what to do about it: status, status and advice; "" if it was."""
        return f"{self.status}: {self._told}" if self.advice else ""

    @property
    def _told(self) -> str:
        if self.status != "located":
            return one_line(self.advice)
        where = ", ".join(map(_place, self.places[:_MOST_PLACES]))
        if len(self.places) > 1:
            more = len(self.places) - _MOST_PLACES
            where = f"any of {len(self.places)}: {where}{f' and {more} more' if more > 0 else ''}"
        if self.elsewhere:
            where += f", and {self.others}"
        return f"{where}, ignoring: {', '.join(self.ignoring)}" if self.ignoring else where

    def __str__(self) -> str:
        return f"line {self.number:<4} {self.status:<10} {self._told}".rstrip()

    def __repr__(self) -> str:
        return f"QuoteRow({self})"


def _place(spans: tuple[CharacterSpan, ...]) -> str:
    return name_line(spans[0].doc_id) + " … ".join(f"[{span.start}:{span.end}]" for span in spans)


# The answers of the rows of one question: which of their quotes are alternatives, and which are parts of one place.

Place = tuple[CharacterSpan, ...]


def answers_of(rows: Sequence[QuoteRow]) -> tuple[CharacterSpan | Answer[CharacterSpan], ...]:
    """Return what is relevant to the question of some rows, whose quotes were located.

    Rows that share a value in the column `answer` are alternatives, in their order; those that share one in the column
    `place`, too, are parts of one place. A row without a value there is an answer of its own; its quote may stand in
    several places, of which any is enough.

    Raises:
        DatasetError: The parts of a place are in several documents, share characters, or occur more than once.
    """
    units: list[CharacterSpan | Answer[CharacterSpan]] = []
    for group in _grouped(rows, "answer"):
        places = [place for parts in _grouped(group, "place") for place in _places(parts)]
        if len(places) == 1:
            units += places[0]
        elif places:
            units.append(Answer(tuple(places)))
    return tuple(units)


def share_an_answer(rows: Sequence[QuoteRow]) -> bool:
    """Return whether rows of one question are alternatives of each other."""
    return any(len(_grouped(group, "place")) > 1 for group in _grouped(rows, "answer"))


def _grouped(rows: Iterable[QuoteRow], column: Literal["answer", "place"]) -> list[list[QuoteRow]]:
    """Return the rows that share a value in a column; a row without one is alone."""
    groups: dict[object, list[QuoteRow]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(getattr(row, column) or number, []).append(row)
    return [*groups.values()]


def _places(parts: Sequence[QuoteRow]) -> list[Place]:
    """Return the places of rows that are parts of one."""
    if len(parts) == 1:
        return [*parts[0].places]
    several = next((row for row in parts if len(row.places) > 1), None)
    if several is not None:
        raise DatasetError(
            f"the quote of line {several.number} occurs more than once, and parts of a place have one each: name the "
            "document, or quote more"
        )
    spans = sorted((span for row in parts for span in row.places[0]), key=lambda span: span.start)
    return [Answer((tuple(spans),)).reference]


def with_conflicts(rows: Sequence[QuoteRow]) -> tuple[QuoteRow, ...]:
    """Return rows, those missing that were located and make no place together, as their parts are in two documents.

    Of a place of which a part was not located, nothing is said: that row tells why its question is skipped.
    """
    questions: dict[str, list[QuoteRow]] = {}
    for row in rows:
        questions.setdefault(row.key, []).append(row)
    wrong: dict[int, str] = {}
    for group in (group for asked in questions.values() for group in _grouped(asked, "answer")):
        for parts in _grouped(group, "place"):
            try:
                if all(row.status == "located" for row in parts):
                    _places(parts)
            except DatasetError as error:
                wrong.update((row.number, str(error)) for row in parts)
    return tuple(
        replace(row, status="missing", places=(), elsewhere=(), advice=wrong[row.number])
        if row.number in wrong
        else row
        for row in rows
    )


# The quotes of a table, checked against the corpus, and the dataset they make.

_PAGE = "rag_evaluation_framework.report.pages.quotes:quotes_page"  # loaded when it is shown


@dataclass(frozen=True, repr=False)
class QuoteCheck:
    """Result of checking the quotes of a file against the corpus, row by row.

    Attributes:
        source: The file.
        corpus: The documents.
        rows: One entry per row, in order.
        columns: The columns of the file, in order.
    """

    source: str
    corpus: Corpus
    rows: tuple[QuoteRow, ...]
    columns: tuple[str, ...]

    @property
    def problems(self) -> tuple[QuoteRow, ...]:
        """The rows whose quote is ambiguous or missing."""
        return tuple(row for row in self.rows if row.status in ("ambiguous", "missing"))

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """The quotes that were not located, each with its question, which the dataset skips, and the reason."""
        return self.labels()[1]

    def labels(self, taken: Mapping[str, str] | None = None) -> tuple[list[TokenLevelGroundTruth], tuple[Skipped, ...]]:
        """Return the questions whose quotes were all located, and the quotes of the others that were not.

        Args:
            taken: Ids that are in use, each with the wording of its question; no other question gets one of these,
                unless its row says so.
        """
        given = {row.id: row.question for row in self.rows if row.id}
        ids = QueryIds({**(taken or {}), **given})
        queries = {key: _query(rows, ids) for key, rows in self._questions.items()}
        skipped = tuple(Skipped(queries[row.key], row.quote, row.reason) for row in self.problems)
        problematic = {row.key for row in self.problems}
        entries = [
            TokenLevelGroundTruth(queries[key], answers_of(rows))
            for key, rows in self._questions.items()
            if key not in problematic
        ]
        return entries, skipped

    @property
    def alternatives(self) -> str:
        """How many answers have several places, in words: "2 answers with 7 places, any of which is enough"; or "".

        With what made them so, if that was the column `answer`, which may have been meant for something else.
        """
        answers = [answer for entry in self.labels()[0] for answer in entry.answers if len(answer.places) > 1]
        if not answers:
            return ""
        places = sum(len(answer.places) for answer in answers)
        told = f"{len(answers)} answer{'s' * (len(answers) != 1)} with {places} places, any of which is enough"
        skipped = {row.key for row in self.problems}
        by_column = any(share_an_answer(rows) for key, rows in self._questions.items() if key not in skipped)
        return f"{told} (rows of one question with the same `answer` are alternatives)" if by_column else told

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
        entries, skipped = self.labels()
        if not entries:
            raise DatasetError(Problems(map(str, self.problems)).message(self.source))
        name = name or Path(self.source).stem
        return Dataset(entries, TOKEN, name=name, corpus=self.corpus, skipped=skipped)

    def save_suggestions(self, path: str | Path | None = None) -> Path | None:
        """Write the table again as CSV, with a suggestion beside each quote that has one, for a person to look through.

        All rows and columns are there, in order, as they were. What tells about a row is in columns of their own:
        `quote_check`, `suggestion`, `suggestion_document` (of one that occurs once), `suggestion_place` and
        `suggestion_difference`; and `accept`, which is empty. In a row with `yes` in it `check_quotes` takes the
        suggestion for its quote.

        Args:
            path: A new file. By default `NAME.suggested.csv` beside the table; if something else is there, it is kept,
                and `NAME.suggested.1.csv` is written, and so on.

        Returns:
            The file; None if there is no suggestion, and nothing was written.

        Raises:
            DatasetError: The file cannot be written, or is there with something else, or CSV cannot hold a row.
        """
        if not any(row.suggestion for row in self.rows):
            return None
        place = None if path is None else checked_path(path)
        return save_suggestions(self.rows, self.columns, Path(self.source), place)

    def summary(self, whole: bool = False) -> "Page":
        """Return it as people read it: the weakest rows that fit on a screen, or all, marked in their passages."""
        page: Page = load_installed(_PAGE)(self, whole)
        return page

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return f"QuoteCheck({self.counted()})"

    def _repr_html_(self) -> str:
        return self.summary(whole=True).as_html()

    def counted(self) -> str:
        """Return the number of rows by status, in words."""
        counts = Counter(row.status for row in self.rows)
        statuses = ", ".join(
            f"{counts[status]} {status}" for status in ("located", "ambiguous", "missing", "no-answer")
        )
        skipped = f"; {skipped_questions(self.skipped)}" if self.skipped else ""
        told = f"; {self.alternatives}" if self.alternatives else ""
        return f"{one_line(self.source)}: {len(self.rows)} row{'s' * (len(self.rows) != 1)}: {statuses}{told}{skipped}"


def skipped_questions(skipped: Iterable[Skipped]) -> str:
    """Return how many questions were skipped, for messages."""
    count = count_skipped(skipped)
    return "1 question skipped: fix its quotes" if count == 1 else f"{count} questions skipped: fix their quotes"


def _query(rows: list[QuoteRow], ids: QueryIds) -> Query:
    metadata = {key: value for row in reversed(rows) for key, value in row.metadata.items() if value}
    identity = QueryId(rows[0].id) if rows[0].id else ids.of(rows[0].question)
    return Query(identity, QueryText(rows[0].question), metadata)


# Tables of questions with quotes, and the same with suggestions beside them.

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
