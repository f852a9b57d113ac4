"""The quotes of a table, checked against the corpus, and the dataset they make."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.base.records import Problems
from rag_evaluation_framework.data import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Query,
    Skipped,
    TokenLevelGroundTruth,
    count_skipped,
)
from rag_evaluation_framework.data.ids import QueryId, QueryIds, QueryText
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_row import QuoteRow, answers_of, share_an_answer
from rag_evaluation_framework.labelling.quote_table import save_suggestions
from rag_evaluation_framework.registry.loading import load_installed

if TYPE_CHECKING:
    from rag_evaluation_framework.report.pages.quotes import Page

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
