"""The answers of the rows of one question: which of their quotes are alternatives, and which are parts of one place."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_row import QuoteRow

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
    for group in _grouped(rows):
        places = [place for parts in _parted(group) for place in _places(parts)]
        if len(places) == 1:
            units += places[0]
        elif places:
            units.append(Answer(tuple(places)))
    return tuple(units)


def share_an_answer(rows: Sequence[QuoteRow]) -> bool:
    """Return whether rows of one question are alternatives of each other."""
    return any(len(_parted(group)) > 1 for group in _grouped(rows))


def _grouped(rows: Iterable[QuoteRow]) -> list[list[QuoteRow]]:
    """Return the rows of each answer."""
    groups: dict[object, list[QuoteRow]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row.answer or number, []).append(row)
    return [*groups.values()]


def _parted(rows: Iterable[QuoteRow]) -> list[list[QuoteRow]]:
    """Return the rows of each place of an answer."""
    groups: dict[object, list[QuoteRow]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row.place or number, []).append(row)
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
    for group in (group for asked in questions.values() for group in _grouped(asked)):
        for parts in _parted(group):
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
