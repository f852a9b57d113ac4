"""JSON of judgements and of rankings: one object, or one a line."""

from collections.abc import Iterator
from contextlib import suppress
from math import nan
from typing import Any

from rag_evaluation_framework.datasets.rank_forms import QUERY_KEYS, UNIT_KEYS, Entry, Form, named, short
from rag_evaluation_framework.datasets.records import storable
from rag_evaluation_framework.files import is_list, is_object
from rag_evaluation_framework.strict_json import parse_json
from rag_evaluation_framework.types import Json


class JsonForm(Form):
    """Reads the values of both forms."""

    def parsed(self, text: bytes, where: str) -> list[Json]:
        """Return the value of a text, none after noting that it is no JSON."""
        try:
            return [parse_json(text.decode())]
        except ValueError as error:
            self.problems.append(f"{where}no valid JSON: {error}")
            return []

    def whole(self, where: str, query: str, value: Any) -> Entry | None:
        """Return all documents of a question: a list of ids, or a mapping from id to number."""
        if is_list(value):
            units = [self.id_of(unit, f"{where}[{place}]") for place, unit in enumerate(value)]
            known = [unit for unit in units if unit is not None]
            values = [-float(rank) for rank in range(1, len(known) + 1)] if self.kind.is_run else [1.0] * len(known)
            return Entry(where, query, known, values, is_list=True)
        if is_object(value):
            numbers = {self.id_of(unit, where): self.number_of(number, where, unit) for unit, number in value.items()}
            pairs = {unit: number for unit, number in numbers.items() if unit is not None and number is not None}
            return Entry(where, query, tuple(pairs), tuple(pairs.values()))
        self.problems.append(
            f"{where}: got {short(value)}; wanted a list of document ids"
            f"{', best first' * self.kind.is_run}, or an object {{document: {self.kind.value}}}"
        )
        return None

    def id_of(self, value: Any, where: str) -> str | None:
        """Return an id as a text, None after noting that it is none."""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value:
            self.problems.append(f"{where}: got {short(value)}; wanted an id: a text that is not empty, or an integer")
            return None
        if not value.isascii() and not storable(value):
            self.problems.append(f"{where}: {value!r} holds a lone surrogate, which no file of text can hold")
            return None
        return value

    def number_of(self, value: Any, where: str, unit: object = None) -> float | None:
        """Return a grade or a score, the one of a unit if a place holds several; None after noting that it is none."""
        number = nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # a whole number of more than 300 digits
                number = float(value)
        if self.kind.reads(number):
            return number
        place = where if unit is None else f"{where}[{short(unit)}]"
        self.problems.append(f"{place}: got {short(value)}; wanted {self.kind.number}")
        return None


class JsonObject(JsonForm):
    """One object of all questions."""

    def entries(self, number: int, block: bytes) -> Iterator[Entry]:  # noqa: ARG002 all lines are one value
        """Yield what can be read, question by question."""
        for content in self.parsed(block, ""):
            if not is_object(content):
                self.problems.append(
                    f"got a {type(content).__name__}; wanted an object {{question: {{document: {self.kind.value}}}}}, "
                    f"or JSONL of {self.kind.record}"
                )
                return
            for query, value in content.items():
                where = f"$[{short(query)}]"
                name = self.id_of(query, where)
                entry = None if name is None else self.whole(where, name, value)
                if entry is not None:
                    yield entry


class JsonLines(JsonForm):
    """Lines of one object each: a judgement, a result, or all documents of a question."""

    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield what can be read, line by line."""
        for place, line in enumerate(block.split(b"\n"), start=number):
            if line.strip():
                where = f"line {place}"
                for value in self.parsed(line, f"{where}: "):
                    entry = self._record(where, value)
                    if entry is not None:
                        yield entry

    def _record(self, where: str, value: Json) -> Entry | None:
        if not is_object(value):
            self.problems.append(f"{where}: got {short(value)}; wanted an object: {self.kind.record}")
            return None
        names = tuple(value)
        query_key, unit_key = named(QUERY_KEYS, names), named(UNIT_KEYS, names)
        value_key, whole_key = named(self.kind.value_keys, names), named(self.kind.whole_keys, names)
        if query_key is None or (whole_key is None and (unit_key is None or value_key is None)):
            self.problems.append(f"{where}: got the keys {short(', '.join(names))}; wanted {self.kind.record}")
            return None
        query = self.id_of(value[query_key], f"{where}: {query_key}")
        if query is None:
            return None
        if unit_key is None or value_key is None:
            return self.whole(f"{where}: {whole_key}", query, value[whole_key])
        unit = self.id_of(value[unit_key], f"{where}: {unit_key}")
        number = self.number_of(value[value_key], f"{where}: {value_key}")
        return None if unit is None or number is None else Entry(where, query, (unit,), (number,))
