"""Parsers of qrels and rankings: JSON, tables, and what all file formats share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from math import isfinite, isinf, isnan, nan
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...base.files import is_list, is_object, parse_json
from ...base.notes import note
from ...base.outside import shown
from ...base.records import Problems, brief_repr, storable
from ...errors import ConfigError, DatasetError

QUERY_KEYS = ("queryid", "qid", "id")
UNIT_KEYS = ("docid", "corpusid", "documentid", "docno", "did", "chunkid")


@dataclass(frozen=True)
class FileKind:
    """Kind of file: qrels or rankings.

    Attributes:
        name: `qrels` or `rankings`.
        columns: The columns of TREC's table.
        value: The value of a document: its grade or its score.
        value_keys: Names that a column of this value may have.
    """

    name: str
    columns: tuple[str, ...]
    value: str
    value_keys: tuple[str, ...]

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


QRELS = FileKind("qrels", ("qid", "iter", "docid", "grade"), "grade", ("relevance", "rel", "grade", "gain", "score"))
RANKINGS = FileKind("rankings", ("qid", "Q0", "docid", "rank", "score", "tag"), "score", ("score",))


class Entry(NamedTuple):
    """Documents of one question, read from a line or value, or from lines that follow each other.

    Attributes:
        where: Location in the file, for messages; "" of several lines.
        query: The id of the question.
        units: The documents.
        values: Their grades or scores.
        ranks: The rank column of a table; None if there is none.
        is_list: Whether the documents are listed in order, without scores.
    """

    where: str
    query: str
    units: Sequence[str]
    values: Sequence[float]
    ranks: Sequence[float] | None = None
    is_list: bool = False


# JSON files of judgements and rankings: one object with all questions.


@dataclass(frozen=True)
class JsonParser:
    """Parser of JSON files: one object with all questions.

    Attributes:
        kind: What the file contains.
        problems: What cannot be read is added here.
    """

    kind: FileKind
    problems: Problems

    def entries(self, data: bytes) -> Iterator[Entry]:
        """Yield the entries, question by question."""
        expected = f"expected an object {{question: {{document: {self.kind.value}}}}}"
        try:
            content = parse_json(data.decode())
        except ValueError as error:
            self.problems.append(f"not valid JSON: {error}; {expected}")
            return
        if not is_object(content):
            self.problems.append(f"got a {type(content).__name__}; {expected}")
            return
        for query, value in content.items():
            where = f"$[{brief_repr(query)}]"
            name = self._id(query, where)
            if name is not None and is_list(value):
                units = [self._id(unit, f"{where}[{place}]") for place, unit in enumerate(value)]
                known = [unit for unit in units if unit is not None]
                values = [-float(rank) if self.kind.is_rankings else 1.0 for rank, _ in enumerate(known, start=1)]
                yield Entry(where, name, known, values, is_list=True)
            elif name is not None and is_object(value):
                numbers = {self._id(unit, where): self._number(number, where, unit) for unit, number in value.items()}
                pairs = {unit: number for unit, number in numbers.items() if unit is not None and number is not None}
                yield Entry(where, name, tuple(pairs), tuple(pairs.values()))
            elif name is not None:
                order = ", best first" * self.kind.is_rankings
                self.problems.append(
                    f"{where}: got {brief_repr(value)}; expected a list of document ids{order}, or an object "
                    f"{{document: {self.kind.value}}}"
                )

    def _id(self, value: Any, where: str) -> str | None:
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

    def _number(self, value: Any, where: str, unit: object) -> float | None:
        """Return the grade or score of a unit; None after recording that it is not valid."""
        number = nan
        with suppress(OverflowError):  # an integer of more than 300 digits
            number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else nan
        if self.kind.reads(number):
            return number
        self.problems.append(f"{where}[{brief_repr(unit)}]: got {brief_repr(value)}; expected {self.kind.number}")
        return None


# Tables of judgements and rankings: TREC's, and tables with a header.


@dataclass(frozen=True)
class TableParser:
    """Parser of tables with one judgement or result per line.

    In TREC's own table, lines that start with # are comments, and what follows the tag of a result is ignored.

    Attributes:
        kind: What the file contains.
        problems: What cannot be read is added here.
        separator: What separates columns; None for white space.
        names: The names of the columns.
        query: The number of the column of questions; that of documents, values and ranks likewise.
        unit: Likewise.
        value: Likewise.
        rank: Likewise; None if there is none.
        is_trec: Whether the table is TREC's own.
    """

    kind: FileKind
    problems: Problems
    separator: bytes | None
    names: Sequence[str]
    query: int
    unit: int
    value: int
    rank: int | None
    is_trec: bool = False

    @classmethod
    def of(cls, first: bytes, kind: FileKind, problems: Problems) -> "TableParser":
        """Return the parser of a table with this first line: a header, else it is TREC's.

        Case, hyphens, underscores and blanks are ignored: `query-id` means `queryid`.
        """
        separator = b"\t" if b"\t" in first else None
        names = [name.decode(errors="replace").strip() for name in first.split(separator)]
        plain = [re.sub("[-_ ]", "", name).lower() for name in names]
        meant = (QUERY_KEYS, UNIT_KEYS, kind.value_keys)
        query, unit, value = (next((plain.index(key) for key in keys if key in plain), -1) for keys in meant)
        if first.startswith(b"#") or -1 in (query, unit, value):
            ranks = kind.columns.index("rank") if kind.is_rankings else None
            return cls(kind, problems, None, kind.columns, 0, 2, kind.columns.index(kind.value), ranks, is_trec=True)
        rank = names.index("rank") if kind.is_rankings and "rank" in names else None
        return cls(kind, problems, separator, names, query, unit, value, rank)

    def _fields(self, line: bytes) -> list[bytes]:
        """Return the fields of a line; none if it is blank."""
        fields = line.split(self.separator) if line.strip() else []
        return fields if self.separator is None else [field.strip() for field in fields]

    def _are_known(self, fields: Sequence[bytes]) -> bool:
        """Return whether a line has the fields of an entry.

        Fields after the tag are ignored where the rank is a number; else an id with white space has shifted them.
        """
        more = len(fields) - len(self.names)
        if more > 0 and self.is_trec and self.rank is not None:
            return not isnan(_number(fields[self.rank]))
        return more == 0

    def entries(self, number: int, block: bytes) -> Iterable[Entry]:
        """Return the entries of a block at once if every line of it is well formed, else line by line.

        What cannot be read is recorded, by its line: that of the block is given.
        """
        rows = self._at_once(block)
        return self._by_line(number, block) if rows is None else rows

    def _at_once(self, block: bytes) -> Iterator[Entry] | None:
        """Return the entries of a well-formed block, one per question, else None.

        Splitting a whole block is several times faster than splitting each line. A marker at the end of each line shows
        that the line has all its columns: every marker must be where a complete line ends.
        """
        if self.separator is not None or b"\0" in block:
            return None
        lines, width = block.count(b"\n"), len(self.names)
        fields = block.replace(b"\n", b" \0 ").split()
        step = width + 1
        if len(fields) != lines * step or fields[width::step].count(b"\0") != lines:
            return None
        written = fields[self.value :: step]
        try:
            units = b"\n".join(fields[self.unit :: step]).decode().split("\n")
            groups = [(name.decode(), len(list(group))) for name, group in groupby(fields[self.query :: step])]
            values = list(map(float, written))
        except ValueError:
            return None
        has_comments = self.is_trec and any(name.startswith("#") for name, _ in groups)
        if has_comments or not np.isfinite(values).all() or b"_" in b"".join(written):
            return None
        ranks = None if self.rank is None else _ranks(fields[self.rank :: step])
        ends = [*accumulate(length for _, length in groups)]
        parts = (slice(end - length, end) for (_, length), end in zip(groups, ends, strict=True))
        return (
            Entry("", query, units[part], values[part], None if ranks is None else ranks[part])
            for (query, _), part in zip(groups, parts, strict=True)
        )

    def _by_line(self, number: int, block: bytes) -> Iterator[Entry]:
        for place, line in enumerate(block.split(b"\n"), start=number):
            where, fields = f"line {place}", self._fields(line)
            if not fields or (self.is_trec and fields[0].startswith(b"#")):
                continue
            if not self._are_known(fields):
                self.problems.append(f"{where}: {self._wrong_width(line, len(fields))}")
                continue
            query, unit = self._text(fields, self.query, where), self._text(fields, self.unit, where)
            value = self._value(fields[self.value], f"{where}: {self.names[self.value]}")
            if query is not None and unit is not None and value is not None:
                ranks = None if self.rank is None else [_number(fields[self.rank])]
                yield Entry(where, query, (unit,), (value,), ranks)

    def _wrong_width(self, line: bytes, got: int) -> str:
        hint = "ids with white space need JSON" if self.separator is None else "separate columns by tabs"
        for other in (QRELS, RANKINGS):
            if other is not self.kind and got == len(other.columns):
                hint = f"with {got} columns it looks like a {other.name} file"
        return (
            f"{got} column{'s'[: got != 1]} in {brief_repr(line.strip().decode(errors='replace'))}; expected "
            f"{len(self.names)}: {' '.join(self.names)} ({hint})"
        )

    def _text(self, fields: Sequence[bytes], column: int, where: str) -> str | None:
        text, problem = "", "is empty; expected an id"
        try:
            text = fields[column].decode()
        except UnicodeDecodeError as error:
            problem = f"not valid UTF-8 (byte {error.start}); save the file as UTF-8"
        if not text:
            self.problems.append(f"{where}: {self.names[column]}: {problem}")
        return text or None

    def _value(self, field: bytes, where: str) -> float | None:
        value = _number(field)
        is_too_large = isinf(value) and b"inf" not in field.lower()  # and not written so
        if self.kind.reads(value) and not is_too_large:
            return value
        self.problems.append(f"{where}: got {brief_repr(field.decode(errors='replace'))}; expected {self.kind.number}")
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


# The order of rankings in files: by score, as given, or by a rank column.

_FEWEST_RISES = 5
_FEWEST_TOLD = 2
Order: TypeAlias = Literal["given", "score"]
"""How the rankings of a file are ordered: as they are listed (by the rank column, if there is one), or by score."""

Ties: TypeAlias = Literal["trec_eval"]
"""How results of equal scores are ordered, if not as the file lists them: as trec_eval does."""

Ranked: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""Question numbers, ranks and scores, with one row per result."""


def check_order(order: object, ties: object = None) -> None:
    """Check that an order is one, or None, and the same of ties.

    Raises:
        ConfigError: One is not, or the order does not ask for scores, which alone can tie.
    """
    if order not in (None, *get_args(Order)):
        raise ConfigError(f"order={shown(order)}; expected 'given', 'score', or None")
    if ties not in (None, *get_args(Ties)):
        raise ConfigError(f"ties={shown(ties)}; expected 'trec_eval', or None for the order of the file")
    if ties is not None and order == "given":
        raise ConfigError(f"ties={shown(ties)} orders equal scores, and order='given' ignores scores: leave one out")


def refuse_rising(rankings: Iterable[Sequence[float]], path: Path) -> None:
    """Refuse scores that never fall from a result to the next: distances, or rankings upside down.

    Args:
        rankings: The scores of each ranking, in the order of their ranks or, without ranks, of the file.
        path: The file.

    Raises:
        DatasetError: They rise, and so often that it is not by chance, as it may be in a few rankings in no order; of
            these it is noted.
    """
    rises = 0
    for scores in rankings:
        for before, after in pairwise(scores):
            if after < before:
                return
            rises += after > before
    told = f"{path}: the scores of every ranking rise, so that its last result would be the best. Are they distances?"
    how = (
        "Give order='given' (--order given) to keep the order of the file, its rank column if it has one, or "
        "order='score' (--order score) if the highest score is the best"
    )
    if rises >= _FEWEST_RISES:
        raise DatasetError(f"{told} Expected scores of which the highest is the best. {how}")
    if rises >= _FEWEST_TOLD:
        note(f"{told} The highest was taken for the best. {how}")


def contradicted(ranked: Ranked) -> int:
    """Return the number of questions in which a document with a better rank is behind: by its score, or in a tie."""
    query, rank, score = ranked
    known = ~np.isnan(rank)
    query, rank, score = query[known], rank[known], score[known]
    order = np.lexsort((-score, query))  # stable: ties keep the order of the file
    query, rank = query[order], rank[order]
    return len(np.unique(query[1:][(query[1:] == query[:-1]) & (rank[1:] < rank[:-1])]))
