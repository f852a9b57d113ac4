"""Reading answers with several places from dataset files."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.records import Record, RecordReader, brief_repr
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import DatasetError


class Given(NamedTuple):
    """What a file gives.

    Attributes:
        value: The value, of whatever type it is there.
        at: Its location in the file.
    """

    value: Any
    at: str


class _AnswerRecord(Record):
    places: list[Any]


def have_places(answers: Any) -> bool:
    """Return whether a value is a list of answers with places; anything else that is called so is none of a label."""
    return is_list(answers) and any(is_object(answer) and "places" in answer for answer in answers)


def read_answers(
    records: RecordReader, given: Given, several: str, read: Callable[[Any, str], U | None]
) -> tuple[Answer[U], ...]:
    """Return the answers of a list in a file, without those of which something was wrong, which is recorded.

    Args:
        records: Collects problems.
        given: The list of objects, each with its `places`.
        several: The key under which a place lists its units, if it has several.
        read: Returns a unit, given with its location, or None after recording what is wrong with it.
    """
    found: list[Answer[U]] = []
    for number, item in enumerate(given.value):
        at = f"{given.at}[{number}]"
        record = records.validate(_AnswerRecord, item, at, unknown="is ignored")
        if record is None:
            continue
        places = [
            _units(records, place, f"{at}.places[{row}]", several, read) for row, place in enumerate(record.places)
        ]
        try:
            if None not in places:
                found.append(Answer(tuple(tuple(units) for units in places if units is not None)))
        except DatasetError as error:
            records.problem(at, error)
    return tuple(found)


def _units(
    records: RecordReader, item: Any, at: str, several: str, read: Callable[[Any, str], U | None]
) -> list[U] | None:
    """Return the units of a place, or None after recording what is wrong with it."""
    if not (is_object(item) and several in item):
        unit = read(item, at)
        return None if unit is None else [unit]
    if not is_list(item[several]):
        records.problem(f"{at}.{several}", f"expected a list, got {brief_repr(item[several])}")
        return None
    units = [read(unit, f"{at}.{several}[{row}]") for row, unit in enumerate(item[several])]
    return None if None in units else [unit for unit in units if unit is not None]
