"""Parsers of qrels and rankings: JSON, tables, and what all file formats share."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import isfinite, isinf, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from rag_evaluation_framework.base.files import Json, is_list, is_object, parse_json
from rag_evaluation_framework.base.records import Problems, brief_repr, storable

# Parsers of qrels and rankings: what all file formats share.

QUERY_KEYS = ("queryid", "qid", "id")
UNIT_KEYS = ("docid", "corpusid", "documentid", "docno", "did", "chunkid")


@dataclass(frozen=True)
class FileKind:
    """Kind of file: qrels or rankings.

    Attributes:
        name: `qrels` or `rankings`.
        columns: The columns of TREC's table.
        value: The value of a document: its grade or its score.
        value_keys: Names that a column or key of this value may have.
        whole_keys: Names that a key with all documents of a question may have.
        record: The objects that lines of JSONL may contain, for messages.
    """

    name: str
    columns: tuple[str, ...]
    value: str
    value_keys: tuple[str, ...]
    whole_keys: tuple[str, ...]
    record: str

    @property
    def is_rankings(self) -> bool:
        """Whether the file contains rankings."""
        return self.name == "rankings"

    @property
    def number(self) -> str:
        """The values that documents may have, for messages."""
        return "a number (higher is better)" if self.is_rankings else "a finite number (above 0 if relevant)"

    def reads(self, number: float) -> bool:
        """Return whether a document may have this value."""
        return not isnan(number) if self.is_rankings else isfinite(number)


QRELS = FileKind(
    "qrels",
    ("qid", "iter", "docid", "grade"),
    "grade",
    ("relevance", "rel", "grade", "gain", "score"),
    ("relevant",),
    '{"query_id", "doc_id", "relevance"} or {"query_id", "relevant"}',
)
RANKINGS = FileKind(
    "rankings",
    ("qid", "Q0", "docid", "rank", "score", "tag"),
    "score",
    ("score",),
    ("ranking", "scores"),
    '{"query_id", "doc_id", "score"}, {"query_id", "ranking"} or {"query_id", "scores"}',
)


class Entry(NamedTuple):
    """Documents of one question, read from one line or value.

    Attributes:
        where: Location in the file, for messages.
        query: The id of the question.
        units: The documents.
        values: Their grades or scores.
        rank: The rank column, if the entry is a single document of a table; NaN if there is none.
        is_list: Whether the documents are listed in order, without scores.
    """

    where: str
    query: str
    units: Sequence[str]
    values: Sequence[float]
    rank: float = nan
    is_list: bool = False


class Rows(NamedTuple):
    """Rows of a table of judgements or results.

    Attributes:
        groups: The ids of the questions, each with its number of consecutive rows.
        units: The document of each row.
        values: Its grade or score.
        ranks: Its rank; None if the file has no ranks.
    """

    groups: Sequence[tuple[str, int]]
    units: Sequence[str]
    values: Sequence[float]
    ranks: Sequence[float] | None


class RankFileParser(ABC):
    """Parser of one file format.

    Attributes:
        kind: What the file contains.
        problems: What cannot be read.
        entries_in_comments: The number of comments that read like entries.
    """

    def __init__(self, kind: FileKind, problems: Problems) -> None:
        """Create a parser for a kind of file that appends what it cannot read to `problems`."""
        self.kind, self.problems, self.entries_in_comments = kind, problems, 0

    @abstractmethod
    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield the entries of a block whose first line has this number, recording what cannot be read."""

    def parse_block(self, block: bytes) -> Rows | None:  # noqa: ARG002 most formats have no faster way
        """Return the rows of a whole block at once; None if it has to be read line by line."""
        return None


@lru_cache
def find_column(meant: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """Return the column name that matches one of the meanings, in their order of preference, or None.

    Case, hyphens, underscores and blanks are ignored: `query-id` matches `queryid`.
    """
    plain = {re.sub("[-_ ]", "", name).lower(): name for name in reversed(names)}
    return next((plain[name] for name in meant if name in plain), None)


# JSON and JSONL files of judgements and rankings.


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


# Tables of judgements and rankings: TREC's, and tables with a header.


@dataclass(frozen=True)
class Columns:
    """Positions of the columns of a table; without a separator they are separated by white space.

    In TREC's own table, lines that start with # are comments, and what follows the tag of a result is ignored.
    """

    separator: bytes | None
    names: tuple[str, ...]
    query: int
    unit: int
    value: int
    rank: int | None
    is_trec: bool = False

    def fields(self, line: bytes) -> list[bytes]:
        """Return the fields of a line; none if it is blank."""
        fields = line.split(self.separator) if line.strip() else []
        return fields if self.separator is None else [field.strip() for field in fields]

    def are_known(self, fields: Sequence[bytes]) -> bool:
        """Return whether a line has the fields of an entry.

        Fields after the tag are ignored where the rank is a number; else an id with white space has shifted them.
        """
        more = len(fields) - len(self.names)
        if more > 0 and self.is_trec and self.rank is not None:
            return not isnan(_number(fields[self.rank]))
        return more == 0


def trec_columns(kind: FileKind) -> Columns:
    """Return the column positions of TREC's table."""
    names = kind.columns
    return Columns(None, names, 0, 2, names.index(kind.value), names.index("rank") if kind.is_rankings else None, True)


def header_columns(line: bytes, kind: FileKind) -> Columns | None:
    """Return the column positions from a header line; None if the line is not a header."""
    separator = b"\t" if b"\t" in line else None
    names = tuple(name.decode(errors="replace").strip() for name in line.split(separator))
    query, unit, value = (find_column(keys, names) for keys in (QUERY_KEYS, UNIT_KEYS, kind.value_keys))
    if query is None or unit is None or value is None:
        return None
    rank = names.index("rank") if kind.is_rankings and "rank" in names else None
    return Columns(separator, names, names.index(query), names.index(unit), names.index(value), rank)


class TableParser(RankFileParser):
    """Parser of tables with one judgement or result per line."""

    def __init__(self, kind: FileKind, problems: Problems, columns: Columns) -> None:
        """Create a parser for a table with these columns."""
        super().__init__(kind, problems)
        self.columns = columns

    def parse_block(self, block: bytes) -> Rows | None:
        """Return the rows of a block if every line of it is well formed, else None.

        Splitting a whole block is several times faster than splitting each line. A marker at the end of each line shows
        that the line has all its columns: every marker must be where a complete line ends.
        """
        columns = self.columns
        if columns.separator is not None or b"\0" in block:
            return None
        lines, width = block.count(b"\n"), len(columns.names)
        fields = block.replace(b"\n", b" \0 ").split()
        step = width + 1
        if len(fields) != lines * step or fields[width::step].count(b"\0") != lines:
            return None
        written = fields[columns.value :: step]
        try:
            units = b"\n".join(fields[columns.unit :: step]).decode().split("\n")
            groups = [(name.decode(), len(list(group))) for name, group in groupby(fields[columns.query :: step])]
            values = list(map(float, written))
        except ValueError:
            return None
        if columns.is_trec and any(name.startswith("#") for name, _ in groups):
            return None
        readable = np.isfinite(values).all()
        if not readable or b"_" in b"".join(written):
            return None
        ranks = None if columns.rank is None else _ranks(fields[columns.rank :: step])
        return Rows(groups, units, values, ranks)

    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield the entries, line by line."""
        columns = self.columns
        for place, line in enumerate(block.split(b"\n"), start=number):
            where, fields = f"line {place}", columns.fields(line)
            if not fields:
                continue
            if columns.is_trec and fields[0].startswith(b"#"):
                is_entry = columns.are_known(fields) and self.kind.reads(_number(fields[columns.value]))
                self.entries_in_comments += is_entry
                continue
            if not columns.are_known(fields):
                self.problems.append(f"{where}: {self._wrong_width(line, len(fields))}")
                continue
            query = self._text(fields[columns.query], where, columns.names[columns.query])
            unit = self._text(fields[columns.unit], where, columns.names[columns.unit])
            value = self._value(fields[columns.value], where, columns.names[columns.value])
            if query is not None and unit is not None and value is not None:
                rank = nan if columns.rank is None else _number(fields[columns.rank])
                yield Entry(where, query, (unit,), (value,), rank)

    def _wrong_width(self, line: bytes, got: int) -> str:
        columns = self.columns
        hint = "ids with white space need JSONL" if columns.separator is None else "separate columns by tabs"
        for other in (QRELS, RANKINGS):
            if other is not self.kind and got == len(other.columns):
                hint = f"with {got} columns it looks like a {other.name} file"
        return (
            f"{got} column{'s'[: got != 1]} in {brief_repr(line.strip().decode(errors='replace'))}; expected "
            f"{len(columns.names)}: {' '.join(columns.names)} ({hint})"
        )

    def _text(self, field: bytes, where: str, name: str) -> str | None:
        try:
            text = field.decode()
        except UnicodeDecodeError as error:
            self.problems.append(f"{where}: {name}: not valid UTF-8 (byte {error.start}); save the file as UTF-8")
            return None
        if not text:
            self.problems.append(f"{where}: {name}: is empty; expected an id")
        return text or None

    def _value(self, field: bytes, where: str, name: str) -> float | None:
        value = _number(field)
        if self.kind.reads(value) and not _is_too_large(field, value):
            return value
        got = brief_repr(field.decode(errors="replace"))
        self.problems.append(f"{where}: {name}: got {got}; expected {self.kind.number}")
        return None


def _number(field: bytes) -> float:
    """Return the number in a field; NaN if it is not a number."""
    try:
        return nan if b"_" in field else float(field)
    except ValueError:
        return nan


def _ranks(fields: Sequence[bytes]) -> list[float]:
    try:
        return list(map(float, fields))
    except ValueError:  # some tools write a dash
        return list(map(_number, fields))


def _is_too_large(field: bytes, value: float) -> bool:
    """Return whether a number became infinite because it is too large, and is not written so."""
    return isinf(value) and b"inf" not in field.lower()
