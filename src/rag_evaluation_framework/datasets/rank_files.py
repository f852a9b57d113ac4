"""Qrels and runs: the files in which retrieval evaluations keep what is relevant and what was ranked.

Read are TREC's tables (`qid iter docid grade`, `qid Q0 docid rank score tag`), tables with a header, such as BEIR's
(`query-id corpus-id score`), JSON (`{question: {document: grade or score}}`) and JSONL (one judgement, one result or
one question a line). What a file is, its content says; it may be compressed with gzip.
"""

import gzip
import re
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework.datasets.records import problem_list
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.strict_json import parse_json
from rag_evaluation_framework.types import Json

_BLOCK = 1 << 17  # what is split stays in the processor's cache: half the time of a megabyte
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
_QUERY_KEYS = ("queryid", "qid", "id")
_UNIT_KEYS = ("docid", "corpusid", "documentid", "docno", "did", "chunkid")


@dataclass(frozen=True)
class RankFile:
    """What a file of judgements or of rankings holds.

    Attributes:
        by_query: For each question its documents with their grades or scores, in the order of the file. Rankings
            without scores get the negative of their ranks: -1, -2, …
        repeated: How often a document stands again below the same question: with the same grade in qrels, with any
            score in runs, where its best one counts.
        contradicted: Questions of a TREC run whose ranks say another order than their scores. The scores count.
    """

    by_query: dict[str, dict[str, float]]
    repeated: int
    contradicted: int

    @classmethod
    def of_qrels(cls, path: str | Path) -> "RankFile":
        """Read judgements.

        Raises:
            DatasetError: The file cannot be used, or gives a document two grades for one question.
        """
        return _Reader(Path(path), _QRELS).read()

    @classmethod
    def of_run(cls, path: str | Path) -> "RankFile":
        """Read rankings.

        Raises:
            DatasetError: The file cannot be used.
        """
        return _Reader(Path(path), _RUN).read()


def read_qrels(path: str | Path) -> dict[str, dict[str, float]]:
    """Read which documents are relevant to which question: TREC qrels, BEIR's table, JSON or JSONL.

    A judgement that stands in the file twice is taken once, with a warning.

    Returns:
        For each question its judged documents with their grades, as `score_rankings` takes them.

    Raises:
        DatasetError: The file cannot be used, or gives a document two grades for one question; the message names the
            first ten problems and their lines.
    """
    file = RankFile.of_qrels(path)
    if file.repeated:
        warnings.warn(f"{path}: judgements that stand there again with the same grade: {file.repeated}", stacklevel=2)
    return file.by_query


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Read rankings: a TREC run, a table with a header, JSON or JSONL.

    Scores make the ranking, highest first, ties in the order of the file. The rank column of a TREC run is not used;
    that it says another order is worth a warning. So is a document that stands in a ranking twice: its best score
    counts.

    Returns:
        For each question its documents with their scores, as `score_rankings` takes them. Rankings without scores get
        the negative of their ranks: -1, -2, …

    Raises:
        DatasetError: The file cannot be used; the message names the first ten problems and their lines.
    """
    file = RankFile.of_run(path)
    if file.repeated:
        warnings.warn(
            f"{path}: results whose document the ranking holds already, of which the best score counts: "
            f"{file.repeated}",
            stacklevel=2,
        )
    if file.contradicted:
        warnings.warn(
            f"{path}: questions whose ranks say another order than their scores, which count: {file.contradicted}",
            stacklevel=2,
        )
    return file.by_query


@dataclass(frozen=True)
class _Kind:
    """What a file is read as."""

    name: str
    columns: tuple[str, ...]
    value: str
    value_keys: tuple[str, ...]
    whole_keys: tuple[str, ...]
    record: str

    @property
    def is_run(self) -> bool:
        return self.name == "run"

    def reads(self, number: float) -> bool:
        return not isnan(number) if self.is_run else isfinite(number)


_QRELS = _Kind(
    "qrels",
    ("qid", "iter", "docid", "grade"),
    "grade",
    ("relevance", "rel", "grade", "gain", "score"),
    ("relevant",),
    '{"query_id", "doc_id", "relevance"} or {"query_id", "relevant"}',
)
_RUN = _Kind(
    "run",
    ("qid", "Q0", "docid", "rank", "score", "tag"),
    "score",
    ("score",),
    ("ranking", "scores"),
    '{"query_id", "doc_id", "score"}, {"query_id", "ranking"} or {"query_id", "scores"}',
)


@dataclass(frozen=True)
class _Table:
    """Where the columns of a table are; without a separator they are parted by white space."""

    separator: bytes | None
    names: tuple[str, ...]
    query: int
    unit: int
    value: int
    rank: int | None

    def fields(self, line: bytes) -> list[bytes]:
        fields = line.split(self.separator) if line.strip() else []
        return fields if self.separator is None else [field.strip() for field in fields]


class _Entry(NamedTuple):
    """Documents of one question, as one line or one value says them."""

    where: str
    query: str
    units: Sequence[str]
    values: Sequence[float]
    rank: float = nan
    is_list: bool = False


_Parse = Callable[[int, bytes], Iterator[_Entry]]
_Blocks = Callable[[], Iterator[tuple[int, bytes]]]


class _Reader:
    """Reads one file, collecting problems."""

    def __init__(self, path: Path, kind: _Kind) -> None:
        self.path, self.kind = path, kind
        self.problems: list[str] = []
        self.by_query: dict[str, dict[str, float]] = {}
        self.repeated = 0
        self.clashes: dict[tuple[str, str], None] = {}
        self.lists: set[str] = set()
        self.codes: dict[str, int] = {}
        self.ranked: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]] = []
        self.table: _Table | None = None

    def read(self) -> RankFile:
        data = _content(self.path)
        parse, blocks = self.format(data)
        lines = 0
        with tqdm(
            total=len(data),
            desc=f"Reading {self.path.name}",
            unit="B",
            unit_scale=True,
            delay=2,
            disable=None,
            leave=False,
        ) as bar:
            for number, block in blocks():
                if not self.add_table(block):
                    self.add_entries(parse(number, block))
                bar.update(len(block))
                lines = number - 1 + block.count(b"\n")
                if self.problems:
                    break  # a file of another format would be one problem a line
        if self.problems:
            part = f" (read up to line {lines})" if lines < data.count(b"\n") else ""
            raise DatasetError(problem_list(f"{self.path}{part}", self.problems))
        if self.clashes:
            raise DatasetError(problem_list(str(self.path), list(self.clash_problems(parse, blocks))))
        if not self.by_query:
            raise self.nothing()
        return RankFile(self.by_query, self.repeated, _contradicted(self.ranked))

    def nothing(self) -> DatasetError:
        return DatasetError(
            f"{self.path}: holds nothing; wanted a {self.kind.name} file: lines of {' '.join(self.kind.columns)}, or "
            f"JSONL of {self.kind.record}"
        )

    def format(self, data: bytes) -> tuple[_Parse, _Blocks]:
        """Return how the file is read, and the blocks of lines to read; a header is none of them."""
        start = re.search(rb"\S", data)
        if start is None:
            raise self.nothing()
        begin, end = data.rfind(b"\n", 0, start.start()) + 1, data.find(b"\n", start.start()) + 1 or len(data)
        first = data[begin:end].strip()
        if first.startswith((b"{", b"[")):
            lines = self.is_jsonl(first, alone=re.compile(rb"\S").search(data, end) is None)
            return (
                (self.json_lines, partial(_blocks, data, 0)) if lines else (self.json_whole, lambda: iter([(1, data)]))
            )
        header = _header(first, self.kind)
        self.table = header or _trec(self.kind)
        return self.table_lines, partial(_blocks, data, end if header else 0)

    def is_jsonl(self, first: bytes, alone: bool) -> bool:
        if self.path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
            return True
        try:
            value = parse_json(first)
        except ValueError:
            return False
        if not _is_object(value):
            return False
        return not alone or isinstance(value.get(_named(_QUERY_KEYS, tuple(value)) or ""), str | int)

    # Adding

    def add_entries(self, entries: Iterable[_Entry]) -> None:
        rows: list[tuple[int, float, float]] = []
        for entry in entries:
            if self.kind.is_run and (entry.query in self.lists or (entry.is_list and entry.query in self.by_query)):
                self.problems.append(
                    f"{entry.where}: question {entry.query!r} has a ranking already, and a ranking without scores "
                    "cannot be continued; give all of it at once"
                )
                continue
            if entry.is_list:
                self.lists.add(entry.query)
            self.add(entry.query, entry.units, entry.values)
            if not isnan(entry.rank):
                rows.append((self.code(entry.query), entry.rank, entry.values[0]))
        if rows:
            codes, ranks, values = zip(*rows, strict=True)
            self.ranked.append((np.array(codes, np.int64), np.array(ranks, np.float64), np.array(values, np.float64)))

    def add_table(self, block: bytes) -> bool:
        """Add a block of lines all at once, if each of them is as it should be.

        Splitting a whole block is several times quicker than splitting each line; that each line has all its columns
        is seen by a mark at its end, which has to stand where it should.
        """
        table = self.table
        if table is None or table.separator is not None or b"\0" in block:
            return False
        lines, width = block.count(b"\n"), len(table.names)
        fields = block.replace(b"\n", b" \0 ").split()
        step = width + 1
        if len(fields) != lines * step or fields[width::step].count(b"\0") != lines:
            return False
        written = fields[table.value :: step]
        try:
            units = b"\n".join(fields[table.unit :: step]).decode().split("\n")
            groups = [(name.decode(), len(list(group))) for name, group in groupby(fields[table.query :: step])]
            values = list(map(float, written))
        except ValueError:
            return False
        numbers = np.array(values)
        readable = not np.isnan(numbers).any() if self.kind.is_run else np.isfinite(numbers).all()
        if not readable or b"_" in b"".join(written):
            return False
        begin = 0
        for query, length in groups:
            self.add(query, units[begin : begin + length], values[begin : begin + length])
            begin += length
        if table.rank is not None:
            codes = np.repeat([self.code(query) for query, _ in groups], [length for _, length in groups])
            self.ranked.append((codes, np.array(_ranks(fields[table.rank :: step])), numbers))
        return True

    def add(self, query: str, units: Sequence[str], values: Sequence[float]) -> None:
        fresh = dict(zip(units, values, strict=True))
        known = self.by_query.setdefault(query, fresh)
        if len(fresh) == len(units):
            if known is fresh:
                return
            if known.keys().isdisjoint(fresh.keys()):
                known.update(fresh)
                return
        if known is fresh:
            known = self.by_query[query] = {}
        for unit, value in zip(units, values, strict=True):
            if unit not in known:
                known[unit] = value
                continue
            self.repeated += 1
            if not self.kind.is_run:
                if value != known[unit]:
                    self.clashes[query, unit] = None
            elif value > known[unit]:
                del known[unit]  # so that it stands where its best score stands: ties keep the order of the file
                known[unit] = value

    def code(self, query: str) -> int:
        return self.codes.setdefault(query, len(self.codes))

    def clash_problems(self, parse: _Parse, blocks: _Blocks) -> Iterator[str]:
        """Say where documents are given several grades, reading the file once more: only now lines are asked for."""
        found: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
        for number, block in blocks():
            for entry in parse(number, block):
                for unit, value in zip(entry.units, entry.values, strict=True):
                    if (entry.query, unit) in self.clashes:
                        found[entry.query, unit].append((entry.where, value))
        for (query, unit), places in found.items():
            (where, grade), other = places[0], next(place for place in places if place[1] != places[0][1])
            yield (
                f"{where} and {other[0]}: document {unit!r} of question {query!r} has the grades {grade:g} and "
                f"{other[1]:g}; keep one of the two"
            )

    # Tables

    def table_lines(self, number: int, block: bytes) -> Iterator[_Entry]:
        table = self.table or _trec(self.kind)
        for place, line in enumerate(block.split(b"\n"), start=number):
            where, fields = f"line {place}", table.fields(line)
            if not fields:
                continue
            if len(fields) != len(table.names):
                self.problems.append(f"{where}: {self.wrong_width(line, len(fields), table)}")
                continue
            query = self.text_of(fields[table.query], where, table.names[table.query])
            unit = self.text_of(fields[table.unit], where, table.names[table.unit])
            value = self.number_of(fields[table.value], where, table.names[table.value])
            if query is not None and unit is not None and value is not None:
                rank = nan if table.rank is None else _number(fields[table.rank])
                yield _Entry(where, query, (unit,), (value,), rank)

    def wrong_width(self, line: bytes, got: int, table: _Table) -> str:
        hint = "ids with white space need JSONL" if table.separator is None else "part them by tabs"
        for other in (_QRELS, _RUN):
            if other is not self.kind and got == len(other.columns):
                hint = f"with {got} columns it looks like a {other.name} file"
        return (
            f"{got} column{'s'[: got != 1]} in {_short(line.strip().decode(errors='replace'))}; wanted "
            f"{len(table.names)}: {' '.join(table.names)} ({hint})"
        )

    def text_of(self, field: bytes, where: str, name: str) -> str | None:
        try:
            text = field.decode()
        except UnicodeDecodeError as error:
            self.problems.append(f"{where}: {name}: no UTF-8 at byte {error.start}; save the file as UTF-8")
            return None
        if not text:
            self.problems.append(f"{where}: {name}: is empty; wanted an id")
        return text or None

    def number_of(self, field: bytes, where: str, name: str) -> float | None:
        value = _number(field)
        if self.kind.reads(value):
            return value
        self.problems.append(f"{where}: {name}: got {_short(field.decode(errors='replace'))}; wanted {self.a_number()}")
        return None

    def a_number(self) -> str:
        return "a number, higher for better" if self.kind.is_run else "a finite number, above 0 where it is relevant"

    # JSON

    def json_whole(self, _number: int, data: bytes) -> Iterator[_Entry]:
        try:
            content = parse_json(data.decode())
        except ValueError as error:
            self.problems.append(f"no valid JSON: {error}")
            return
        if not _is_object(content):
            self.problems.append(
                f"got a {type(content).__name__}; wanted an object {{question: {{document: {self.kind.value}}}}}, or "
                f"JSONL of {self.kind.record}"
            )
            return
        for query, value in content.items():
            where = f"$[{_short(query)}]"
            name = self.id_of(query, where)
            entry = None if name is None else self.whole(where, name, value)
            if entry is not None:
                yield entry

    def json_lines(self, number: int, block: bytes) -> Iterator[_Entry]:
        for place, line in enumerate(block.split(b"\n"), start=number):
            if line.strip():
                where = f"line {place}"
                try:
                    value = parse_json(line.decode())
                except ValueError as error:
                    self.problems.append(f"{where}: no valid JSON: {error}")
                    continue
                entry = self.record(where, value)
                if entry is not None:
                    yield entry

    def record(self, where: str, value: Json) -> _Entry | None:
        if not _is_object(value):
            self.problems.append(f"{where}: got {_short(value)}; wanted an object: {self.kind.record}")
            return None
        names = tuple(value)
        query_key, unit_key = _named(_QUERY_KEYS, names), _named(_UNIT_KEYS, names)
        value_key, whole_key = _named(self.kind.value_keys, names), _named(self.kind.whole_keys, names)
        if query_key is None or (whole_key is None and (unit_key is None or value_key is None)):
            self.problems.append(f"{where}: got the keys {_short(', '.join(value))}; wanted {self.kind.record}")
            return None
        query = self.id_of(value[query_key], f"{where}: {query_key}")
        if query is None:
            return None
        if unit_key is None or value_key is None:
            return self.whole(f"{where}: {whole_key}", query, value[whole_key or ""])
        unit = self.id_of(value[unit_key], f"{where}: {unit_key}")
        number = self.json_number(value[value_key], f"{where}: {value_key}")
        return None if unit is None or number is None else _Entry(where, query, (unit,), (number,))

    def whole(self, where: str, query: str, value: Any) -> _Entry | None:
        """Return all documents of a question: a list of ids, or a mapping from id to number."""
        if isinstance(value, list):
            given = cast("list[object]", value)
            units = [self.id_of(unit, f"{where}[{place}]") for place, unit in enumerate(given)]
            known = [unit for unit in units if unit is not None]
            values = [-float(rank) for rank in range(1, len(known) + 1)] if self.kind.is_run else [1.0] * len(known)
            return _Entry(where, query, known, values, is_list=True)
        if _is_object(value):
            numbers = {
                self.id_of(unit, where): self.json_number(number, f"{where}[{_short(unit)}]")
                for unit, number in value.items()
            }
            pairs = {unit: number for unit, number in numbers.items() if unit is not None and number is not None}
            return _Entry(where, query, tuple(pairs), tuple(pairs.values()))
        self.problems.append(
            f"{where}: got {_short(value)}; wanted a list of document ids"
            f"{', best first' * self.kind.is_run}, or an object {{document: {self.kind.value}}}"
        )
        return None

    def id_of(self, value: Any, where: str) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value:
            self.problems.append(f"{where}: got {_short(value)}; wanted an id: a text that is not empty, or an integer")
            return None
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            self.problems.append(f"{where}: {value!r} holds a lone surrogate, which no file of text can hold")
            return None
        return value

    def json_number(self, value: Any, where: str) -> float | None:
        number = nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # a whole number of more than 300 digits
                number = float(value)
        if self.kind.reads(number):
            return number
        self.problems.append(f"{where}: got {_short(value)}; wanted {self.a_number()}")
        return None


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DatasetError(f"{path}: cannot be unpacked by gzip ({error}); write or fetch it again") from error
    return data.removeprefix(_BOM)


def _blocks(data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each line with its end, and the number of the first line of each."""
    number = data.count(b"\n", 0, start) + 1
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        block = data[start:end]
        yield number, block if block.endswith(b"\n") else block + b"\n"
        number += block.count(b"\n")
        start = end


def _trec(kind: _Kind) -> _Table:
    names = kind.columns
    return _Table(None, names, 0, 2, names.index(kind.value), names.index("rank") if kind.is_run else None)


def _header(line: bytes, kind: _Kind) -> _Table | None:
    """Return where the columns of a table are that says it in its first line; None if it does not."""
    separator = b"\t" if b"\t" in line else None
    names = tuple(name.decode(errors="replace").strip() for name in line.split(separator))
    query, unit, value = (_named(keys, names) for keys in (_QUERY_KEYS, _UNIT_KEYS, kind.value_keys))
    if query is None or unit is None or value is None:
        return None
    rank = names.index("rank") if kind.is_run and "rank" in names else None
    return _Table(separator, names, names.index(query), names.index(unit), names.index(value), rank)


@lru_cache
def _named(meant: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """Return which of some names means one of the names meant, the first of these first; `query-id` is `queryId`."""
    plain = {re.sub("[-_ ]", "", name).lower(): name for name in reversed(names)}
    return next((plain[name] for name in meant if name in plain), None)


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


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _contradicted(ranked: Sequence[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]) -> int:
    """Count the questions in which a document with a better rank has a lower score."""
    if not ranked:
        return 0
    query, rank, score = (np.concatenate(column) for column in zip(*ranked, strict=True))
    if _is_orderly(query, rank, score):
        return 0
    known = ~np.isnan(rank)
    query, rank, score = query[known], rank[known], score[known]
    # Equal ranks contradict nothing: among them the highest score comes first, so that a rise lies between two ranks.
    order = np.lexsort((-score, rank, query))
    query, score = query[order], score[order]
    return len(np.unique(query[1:][(query[1:] == query[:-1]) & (score[1:] > score[:-1])]))


def _is_orderly(query: NDArray[np.int64], rank: NDArray[np.float64], score: NDArray[np.float64]) -> bool:
    """Return whether each question stands in one piece, ranks rising and scores not: quick, and true of most files."""
    same = query[1:] == query[:-1]
    fits = (rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])
    return bool((fits | ~same).all()) and int((~same).sum()) == int(query.max(initial=0))
