"""JSON and JSONL files of judgements and rankings."""

from collections.abc import Iterator
from contextlib import suppress
from math import nan
from typing import Any

from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.records import brief_repr, storable
from rag_evaluation_framework._support.strict_json import Json, parse_json
from rag_evaluation_framework.rankings.parsers import QUERY_KEYS, UNIT_KEYS, Entry, RankFileParser, find_column


class JsonParser(RankFileParser):
    """Parser of the values that JSON and JSONL files share."""

    def parsed(self, text: bytes, where: str) -> list[Json]:
        """Return the parsed value in a list; an empty list after recording that it is not valid JSON."""
        try:
            return [parse_json(text.decode())]
        except ValueError as error:
            self.problems.append(f"{where}not valid JSON: {error}")
            return []

    def whole(self, where: str, query: str, value: Any) -> Entry | None:
        """Return all documents of a question, given as a list of ids or a mapping from id to value."""
        if is_list(value):
            units = [self.id_of(unit, f"{where}[{place}]") for place, unit in enumerate(value)]
            known = [unit for unit in units if unit is not None]
            values = (
                [-float(rank) for rank in range(1, len(known) + 1)] if self.kind.is_rankings else [1.0] * len(known)
            )
            return Entry(where, query, known, values, is_list=True)
        if is_object(value):
            numbers = {self.id_of(unit, where): self.number_of(number, where, unit) for unit, number in value.items()}
            pairs = {unit: number for unit, number in numbers.items() if unit is not None and number is not None}
            return Entry(where, query, tuple(pairs), tuple(pairs.values()))
        self.problems.append(
            f"{where}: got {brief_repr(value)}; expected a list of document ids"
            f"{', best first' * self.kind.is_rankings}, or an object {{document: {self.kind.value}}}"
        )
        return None

    def id_of(self, value: Any, where: str) -> str | None:
        """Return an id as a string; None after recording that it is not a valid id."""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value:
            self.problems.append(f"{where}: got {brief_repr(value)}; expected an id: a non-empty string or an integer")
            return None
        if not value.isascii() and not storable(value):
            self.problems.append(f"{where}: {value!r} contains a lone surrogate, which cannot be written as UTF-8")
            return None
        return value

    def number_of(self, value: Any, where: str, unit: object = None) -> float | None:
        """Return a grade or score, of `unit` if there are several; None after recording that it is not valid."""
        number = nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # an integer of more than 300 digits
                number = float(value)
        if self.kind.reads(number):
            return number
        place = where if unit is None else f"{where}[{brief_repr(unit)}]"
        self.problems.append(f"{place}: got {brief_repr(value)}; expected {self.kind.number}")
        return None


class JsonObjectParser(JsonParser):
    """Parser of JSON files: one object with all questions."""

    def entries(self, number: int, block: bytes) -> Iterator[Entry]:  # noqa: ARG002 all lines are one value
        """Yield the entries, question by question."""
        for content in self.parsed(block, ""):
            if not is_object(content):
                self.problems.append(
                    f"got a {type(content).__name__}; expected an object {{question: {{document: {self.kind.value}}}}} "
                    f"or JSONL of {self.kind.record}"
                )
                return
            for query, value in content.items():
                where = f"$[{brief_repr(query)}]"
                name = self.id_of(query, where)
                entry = None if name is None else self.whole(where, name, value)
                if entry is not None:
                    yield entry


class JsonLinesParser(JsonParser):
    """Parser of JSONL files: one judgement, one result, or all documents of one question per line."""

    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield the entries, line by line."""
        for place, line in enumerate(block.split(b"\n"), start=number):
            if line.strip():
                where = f"line {place}"
                for value in self.parsed(line, f"{where}: "):
                    entry = self._record(where, value)
                    if entry is not None:
                        yield entry

    def _record(self, where: str, value: Json) -> Entry | None:
        if not is_object(value):
            self.problems.append(f"{where}: got {brief_repr(value)}; expected an object: {self.kind.record}")
            return None
        names = tuple(value)
        query_key, unit_key = find_column(QUERY_KEYS, names), find_column(UNIT_KEYS, names)
        value_key, whole_key = find_column(self.kind.value_keys, names), find_column(self.kind.whole_keys, names)
        if query_key is None or (whole_key is None and (unit_key is None or value_key is None)):
            self.problems.append(f"{where}: got the keys {brief_repr(', '.join(names))}; expected {self.kind.record}")
            return None
        query = self.id_of(value[query_key], f"{where}: {query_key}")
        if query is None:
            return None
        if unit_key is None or value_key is None:
            return self.whole(f"{where}: {whole_key}", query, value[whole_key])
        unit = self.id_of(value[unit_key], f"{where}: {unit_key}")
        number = self.number_of(value[value_key], f"{where}: {value_key}")
        return None if unit is None or number is None else Entry(where, query, (unit,), (number,))
