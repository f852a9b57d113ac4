"""Tables of judgements and rankings: TREC's, and tables with a header."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isinf, isnan, nan

import numpy as np

from rag_evaluation_framework._support.records import Problems, brief_repr
from rag_evaluation_framework.rankings.parsers import (
    QRELS,
    QUERY_KEYS,
    RANKINGS,
    UNIT_KEYS,
    Entry,
    FileKind,
    RankFileParser,
    Rows,
    find_column,
)


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
