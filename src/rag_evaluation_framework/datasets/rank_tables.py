"""Tables of judgements and of rankings: TREC's, and those with a header."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import nan

import numpy as np

from rag_evaluation_framework.datasets.rank_forms import (
    QRELS,
    QUERY_KEYS,
    RUN,
    UNIT_KEYS,
    Entry,
    Form,
    Kind,
    Rows,
    named,
    short,
)


@dataclass(frozen=True)
class Columns:
    """Where the columns of a table are; without a separator they are parted by white space."""

    separator: bytes | None
    names: tuple[str, ...]
    query: int
    unit: int
    value: int
    rank: int | None

    def fields(self, line: bytes) -> list[bytes]:
        """Return the fields of a line, none if it is blank."""
        fields = line.split(self.separator) if line.strip() else []
        return fields if self.separator is None else [field.strip() for field in fields]


def trec_columns(kind: Kind) -> Columns:
    """Return where the columns of TREC's table are."""
    names = kind.columns
    return Columns(None, names, 0, 2, names.index(kind.value), names.index("rank") if kind.is_run else None)


def header_columns(line: bytes, kind: Kind) -> Columns | None:
    """Return where the columns of a table are that says it in its first line; None if it does not."""
    separator = b"\t" if b"\t" in line else None
    names = tuple(name.decode(errors="replace").strip() for name in line.split(separator))
    query, unit, value = (named(keys, names) for keys in (QUERY_KEYS, UNIT_KEYS, kind.value_keys))
    if query is None or unit is None or value is None:
        return None
    rank = names.index("rank") if kind.is_run and "rank" in names else None
    return Columns(separator, names, names.index(query), names.index(unit), names.index(value), rank)


class Table(Form):
    """Lines of a judgement or a result each."""

    def __init__(self, kind: Kind, problems: list[str], columns: Columns) -> None:
        """Make a reader of a table."""
        super().__init__(kind, problems)
        self.columns = columns

    def at_once(self, block: bytes) -> Rows | None:
        """Return what lines hold, if each of them is as it should be.

        Splitting a whole block is several times quicker than splitting each line; that each line has all its columns
        is seen by a mark at its end, which has to stand where it should.
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
        readable = not np.isnan(values).any() if self.kind.is_run else np.isfinite(values).all()
        if not readable or b"_" in b"".join(written):
            return None
        ranks = None if columns.rank is None else _ranks(fields[columns.rank :: step])
        return Rows(groups, units, values, ranks)

    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield what can be read, line by line."""
        columns = self.columns
        for place, line in enumerate(block.split(b"\n"), start=number):
            where, fields = f"line {place}", columns.fields(line)
            if not fields:
                continue
            if len(fields) != len(columns.names):
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
        hint = "ids with white space need JSONL" if columns.separator is None else "part them by tabs"
        for other in (QRELS, RUN):
            if other is not self.kind and got == len(other.columns):
                hint = f"with {got} columns it looks like a {other.name} file"
        return (
            f"{got} column{'s'[: got != 1]} in {short(line.strip().decode(errors='replace'))}; wanted "
            f"{len(columns.names)}: {' '.join(columns.names)} ({hint})"
        )

    def _text(self, field: bytes, where: str, name: str) -> str | None:
        try:
            text = field.decode()
        except UnicodeDecodeError as error:
            self.problems.append(f"{where}: {name}: no UTF-8 at byte {error.start}; save the file as UTF-8")
            return None
        if not text:
            self.problems.append(f"{where}: {name}: is empty; wanted an id")
        return text or None

    def _value(self, field: bytes, where: str, name: str) -> float | None:
        value = _number(field)
        if self.kind.reads(value):
            return value
        got = short(field.decode(errors="replace"))
        self.problems.append(f"{where}: {name}: got {got}; wanted {self.kind.number}")
        return None


def _number(field: bytes) -> float:
    """Return what a text says in digits, NaN if it is no number."""
    try:
        return nan if b"_" in field else float(field)
    except ValueError:
        return nan


def _ranks(fields: Sequence[bytes]) -> list[float]:
    try:
        return list(map(float, fields))
    except ValueError:  # some tools write a dash
        return list(map(_number, fields))
