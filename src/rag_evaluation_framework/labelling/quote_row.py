"""Rows of a table of quotes, whether each was located, and the answers that those of one question are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag_evaluation_framework.base.outside import name_line, one_line
from rag_evaluation_framework.data import Answer, CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.quotes.quote_locator import NOT_SHOWN
from rag_evaluation_framework.quotes.suggestions import Suggestion

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


@dataclass(frozen=True, repr=False)
class QuoteRow:
    """One row of a file of quotes, and whether its quote was located.

    Attributes:
        number: The line of the file on which the row starts; the header is line 1.
        question: The question.
        quote: The quote as given.
        document: The document named in the row, or "".
        status: `located`: occurs exactly once, or any occurrence was asked for. `ambiguous`: occurs more than once.
            `missing`: does not occur. `no-answer`: the quote is empty, so the corpus holds no answer.
        places: The occurrences of the quote; at most 20 of an ambiguous one. Each is one or more spans of one document,
            in order: "A … B" has two. Where a located row has several, each is enough.
        ignoring: In what the quote and the document differ: "emphasis", "line breaks"; empty if it occurs verbatim.
        advice: What to do about it; "" for located rows.
        suggestion: The passage that a missing quote may mean; None if nothing is similar enough.
        id: The id of the question in the file, or "".
        metadata: The other columns.
        answer: What the rows of one answer share, any of which is enough; "" if the row is an answer of its own.
        place: What the rows share that are parts of one place of an answer, or "".
        elsewhere: Where else the text of a located row stands, up to white space; at most 20 places. Of short texts,
            and where any occurrence is enough, none.
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
    suggestion: Suggestion | None = None
    answer: str = ""
    place: str = ""
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
