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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path

import numpy as np
from tqdm import tqdm

from rag_evaluation_framework.datasets.rank_forms import QRELS, QUERY_KEYS, RUN, Entry, Form, Kind, Rows, named
from rag_evaluation_framework.datasets.rank_json import JsonLines, JsonObject
from rag_evaluation_framework.datasets.rank_order import Ranked, contradicted
from rag_evaluation_framework.datasets.rank_tables import Table, header_columns, trec_columns
from rag_evaluation_framework.datasets.records import problem_list
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.files import is_object
from rag_evaluation_framework.strict_json import parse_json

_BLOCK = 1 << 17  # what is split stays in the processor's cache: half the time of a megabyte
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"


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
        return _Reader(Path(path), QRELS).read()

    @classmethod
    def of_run(cls, path: str | Path) -> "RankFile":
        """Read rankings.

        Raises:
            DatasetError: The file cannot be used.
        """
        return _Reader(Path(path), RUN).read()


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


_Blocks = Callable[[], Iterator[tuple[int, bytes]]]


class _Reader:
    """Reads one file, collecting problems."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path, self.kind = path, kind
        self.problems: list[str] = []
        self.by_query: dict[str, dict[str, float]] = {}
        self.repeated = 0
        self.clashes: dict[tuple[str, str], None] = {}
        self.lists: set[str] = set()
        self.codes: dict[str, int] = {}
        self.ranked: list[Ranked] = []

    def read(self) -> RankFile:
        data = _content(self.path)
        form, blocks = self.form(data)
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
                rows = form.at_once(block)
                if rows is None:
                    self.add_entries(form.entries(number, block))
                else:
                    self.add_rows(rows)
                bar.update(len(block))
                lines = number - 1 + block.count(b"\n")
                if self.problems:
                    break  # a file of another format would be one problem a line
        if self.problems:
            part = f" (read up to line {lines})" if lines < data.count(b"\n") else ""
            raise DatasetError(problem_list(f"{self.path}{part}", self.problems))
        if self.clashes:
            raise DatasetError(problem_list(str(self.path), list(self.clash_problems(form, blocks))))
        if not self.by_query:
            raise self.nothing()
        return RankFile(self.by_query, self.repeated, contradicted(self.ranked))

    def nothing(self) -> DatasetError:
        return DatasetError(
            f"{self.path}: holds nothing; wanted a {self.kind.name} file: lines of {' '.join(self.kind.columns)}, or "
            f"JSONL of {self.kind.record}"
        )

    def form(self, data: bytes) -> tuple[Form, _Blocks]:
        """Return how the file is written, and the blocks of lines to read; a header is none of them."""
        start = re.search(rb"\S", data)
        if start is None:
            raise self.nothing()
        begin, end = data.rfind(b"\n", 0, start.start()) + 1, data.find(b"\n", start.start()) + 1 or len(data)
        first = data[begin:end].strip()
        if not first.startswith((b"{", b"[")):
            header = header_columns(first, self.kind)
            table = Table(self.kind, self.problems, header or trec_columns(self.kind))
            return table, partial(_blocks, data, end if header else 0)
        if self.is_jsonl(first, alone=re.compile(rb"\S").search(data, end) is None):
            return JsonLines(self.kind, self.problems), partial(_blocks, data, 0)
        return JsonObject(self.kind, self.problems), lambda: iter([(1, data)])

    def is_jsonl(self, first: bytes, alone: bool) -> bool:
        if self.path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
            return True
        try:
            value = parse_json(first.decode())
        except ValueError:
            return False
        if not is_object(value):
            return False
        return not alone or isinstance(value.get(named(QUERY_KEYS, tuple(value)) or ""), str | int)

    def add_entries(self, entries: Iterable[Entry]) -> None:
        ranked: list[tuple[int, float, float]] = []
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
                ranked.append((self.code(entry.query), entry.rank, entry.values[0]))
        if ranked:
            codes, ranks, values = zip(*ranked, strict=True)
            self.ranked.append((np.array(codes), np.array(ranks), np.array(values)))

    def add_rows(self, rows: Rows) -> None:
        begin = 0
        for query, length in rows.groups:
            self.add(query, rows.units[begin : begin + length], rows.values[begin : begin + length])
            begin += length
        if rows.ranks is not None:
            codes = np.repeat([self.code(query) for query, _ in rows.groups], [length for _, length in rows.groups])
            self.ranked.append((codes, np.array(rows.ranks), np.array(rows.values)))

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

    def clash_problems(self, form: Form, blocks: _Blocks) -> Iterator[str]:
        """Say where documents are given several grades, reading the file once more: only now lines are asked for."""
        found: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
        for number, block in blocks():
            for entry in form.entries(number, block):
                for unit, value in zip(entry.units, entry.values, strict=True):
                    if (entry.query, unit) in self.clashes:
                        found[entry.query, unit].append((entry.where, value))
        for (query, unit), places in found.items():
            (where, grade), other = places[0], next(place for place in places if place[1] != places[0][1])
            yield (
                f"{where} and {other[0]}: document {unit!r} of question {query!r} has the grades {grade:g} and "
                f"{other[1]:g}; keep one of the two"
            )


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
