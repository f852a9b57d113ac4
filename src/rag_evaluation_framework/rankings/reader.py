"""Reading qrels (relevance judgements) and rankings, which TREC calls runs, from files.

Supported formats: TREC's tables (`qid iter docid grade`, `qid Q0 docid rank score tag`) as trec_eval reads them, tables
with a header, such as BEIR's (`query-id corpus-id score`), JSON (`{question: {document: grade or score}}`) and JSONL
(one judgement, result or question per line). The format is recognised by the content; files may be compressed with
gzip.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path

import numpy as np
from tqdm import tqdm

from rag_evaluation_framework._support.compressed import unfolded
from rag_evaluation_framework._support.files import LONGEST_LINE, checked_path, is_object, read_bytes, refuse_wide
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework._support.records import Problems
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.data.ids import canonical_document_id
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.rankings.json_parsers import JsonLinesParser, JsonObjectParser
from rag_evaluation_framework.rankings.order import Ranked, contradicted
from rag_evaluation_framework.rankings.parsers import (
    QRELS,
    QUERY_KEYS,
    RANKINGS,
    Entry,
    FileKind,
    RankFileParser,
    Rows,
    find_column,
)
from rag_evaluation_framework.rankings.table_parser import TableParser, header_columns, trec_columns

_BLOCK = 1 << 17  # small enough for the processor's cache: takes half the time of a megabyte
_LARGEST = 2_000_000_000  # bytes
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"


@dataclass(frozen=True)
class RankFile:
    """Contents of a file of qrels or rankings.

    Attributes:
        by_query: The documents of each question with their grades or scores, in the order of the file. Rankings
            without scores get their negative ranks as scores: -1, -2, …
        repeated: How many times a document is listed again for the same question: in qrels with the same grade, in
            rankings with any score, of which the best counts.
        contradicted: Number of questions in a TREC run file whose ranks contradict their scores. The scores count.
    """

    by_query: dict[str, dict[str, float]]
    repeated: int
    contradicted: int

    @classmethod
    def of_qrels(cls, path: str | Path) -> "RankFile":
        """Read relevance judgements.

        Raises:
            DatasetError: The file cannot be used, or contains two grades for one document and question.
        """
        return _Reader(checked_path(path), QRELS).read()

    @classmethod
    def of_rankings(cls, path: str | Path) -> "RankFile":
        """Read rankings.

        Raises:
            DatasetError: The file cannot be used.
        """
        return _Reader(checked_path(path), RANKINGS).read()


def read_qrels(path: str | Path) -> dict[str, dict[str, float]]:
    """Read relevance judgements (qrels): TREC qrels, BEIR's table, JSON or JSONL.

    A judgement that occurs more than once is used once, with a note.

    Returns:
        The judged documents of each question with their grades, as `score_rankings` expects them.

    Raises:
        DatasetError: The file cannot be used, or contains two grades for one document and question; the message lists
            the first ten problems with their lines.
    """
    file = RankFile.of_qrels(path)
    if file.repeated:
        note(f"{path}: repeated judgements with the same grade, used once: {file.repeated}")
    return file.by_query


def read_rankings(path: str | Path) -> dict[str, dict[str, float]]:
    """Read rankings: a TREC run file, a table with a header, JSON or JSONL.

    Rankings are ordered by score, highest first, with ties in the order of the file. The rank column of a TREC run file
    is ignored, with a note if it contradicts the scores. A document listed more than once in a ranking keeps its
    best score, with a note.

    Returns:
        The documents of each question with their scores, as `score_rankings` expects them. Rankings without scores get
        their negative ranks as scores: -1, -2, …

    Raises:
        DatasetError: The file cannot be used; the message lists the first ten problems with their lines.
    """
    file = RankFile.of_rankings(path)
    if file.repeated:
        note(
            f"{path}: documents listed more than once in a ranking, of which the best score counts: {file.repeated}",
        )
    if file.contradicted:
        note(
            f"{path}: questions whose rank column contradicts their scores; the scores count: {file.contradicted}",
        )
    return file.by_query


_Blocks = Callable[[], Iterator[tuple[int, bytes]]]


class _Reader:
    """Reader of one file, which collects problems."""

    def __init__(self, path: Path, kind: FileKind) -> None:
        self.path, self.kind = path, kind
        self.problems = Problems()
        self.by_query: dict[str, dict[str, float]] = {}
        self.repeated = 0
        self.clashes: dict[tuple[str, str], None] = {}
        self.lists: set[str] = set()
        self.codes: dict[str, int] = {}
        self.ranked: list[Ranked] = []

    def read(self) -> RankFile:
        data = _content(self.path)
        parser, blocks = self.choose_parser(data)
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
                rows = parser.parse_block(block)
                if rows is None:
                    self.add_entries(parser.entries(number, block))
                else:
                    self.add_rows(rows)
                bar.update(len(block))
                lines = number - 1 + block.count(b"\n")
                if self.problems:
                    break  # a file of another format would have a problem on every line
        if self.problems:
            part = f" (read up to line {lines})" if lines < data.count(b"\n") else ""
            raise DatasetError(self.problems.message(f"{self.path}{part}"))
        if self.clashes:
            raise DatasetError(Problems(self.clash_problems(parser, blocks)).message(str(self.path)))
        if parser.entries_in_comments:
            note(
                f"{self.path}: lines that start with # are skipped as comments, as trec_eval skips them, though some "
                f"read like {self.kind.name}: {parser.entries_in_comments}. Ids that start with # need a "
                "header or JSONL"
            )
        if not self.by_query:
            raise self.nothing()
        return RankFile(self.by_query, self.repeated, contradicted(self.ranked))

    def nothing(self) -> DatasetError:
        return DatasetError(
            f"{self.path}: contains no entries; expected a {self.kind.name} file: lines of "
            f"{' '.join(self.kind.columns)}, or JSONL of {self.kind.record}"
        )

    def choose_parser(self, data: bytes) -> tuple[RankFileParser, _Blocks]:
        """Return the parser for the file's format, and the blocks of lines to read, without the header."""
        start = re.search(rb"\S", data)
        if start is None:
            raise self.nothing()
        begin, end = data.rfind(b"\n", 0, start.start()) + 1, data.find(b"\n", start.start()) + 1 or len(data)
        first = data[begin:end].strip()
        if not first.startswith((b"{", b"[")):
            header = None if first.startswith(b"#") else header_columns(first, self.kind)
            table = TableParser(self.kind, self.problems, header or trec_columns(self.kind))
            return table, partial(self.blocks, data, end if header else 0)
        if self.is_jsonl(first, alone=re.compile(rb"\S").search(data, end) is None):
            return JsonLinesParser(self.kind, self.problems), partial(self.blocks, data, 0)
        return JsonObjectParser(self.kind, self.problems), lambda: iter([(1, data)])

    def blocks(self, data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of complete lines, each with the number of its first line."""
        number = data.count(b"\n", 0, start) + 1
        while start < len(data):
            last = data.rfind(b"\n", start, start + _BLOCK) + 1
            end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
            if end - (last or start) > LONGEST_LINE:
                line = number + data.count(b"\n", start, last)
                raise DatasetError(
                    f"{self.path}: line {line}: has more than {LONGEST_LINE:,} bytes; expected one entry or question "
                    "per line"
                )
            block = data[start:end]
            yield number, block if block.endswith(b"\n") else block + b"\n"
            number += block.count(b"\n")
            start = end

    def is_jsonl(self, first: bytes, alone: bool) -> bool:
        if self.path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
            return True
        try:
            value = parse_json(first.decode())
        except ValueError:
            return False
        if not is_object(value):
            return False
        return not alone or isinstance(value.get(find_column(QUERY_KEYS, tuple(value)) or ""), str | int)

    def add_entries(self, entries: Iterable[Entry]) -> None:
        ranked: list[tuple[int, float, float]] = []
        for entry in entries:
            if self.kind.is_rankings and (
                entry.query in self.lists or (entry.is_list and entry.query in self.by_query)
            ):
                self.problems.append(
                    f"{entry.where}: question {entry.query!r} already has a ranking, and a ranking without scores "
                    "cannot be continued; list all of it in one place"
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
        if not "".join(units).isascii():
            units = [*map(canonical_document_id, units)]
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
            if not self.kind.is_rankings:
                if value != known[unit]:
                    self.clashes[query, unit] = None
            elif value > known[unit]:
                del known[unit]  # moves it to where its best score is: ties keep the order of the file
                known[unit] = value

    def code(self, query: str) -> int:
        return self.codes.setdefault(query, len(self.codes))

    def clash_problems(self, parser: RankFileParser, blocks: _Blocks) -> Iterator[str]:
        """Yield where documents have two grades; reads the file again, since line numbers are needed only now."""
        found: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
        for number, block in blocks():
            for entry in parser.entries(number, block):
                for document, value in zip(map(canonical_document_id, entry.units), entry.values, strict=True):
                    if (entry.query, document) in self.clashes:
                        found[entry.query, document].append((entry.where, value))
        for (query, unit), places in found.items():
            (where, grade), other = places[0], next(place for place in places if place[1] != places[0][1])
            yield (
                f"{where} and {other[0]}: document {unit!r} of question {query!r} has two grades, {grade:g} and "
                f"{other[1]:g}; keep one"
            )


def _content(path: Path) -> bytes:
    data = read_bytes(path, DatasetError, most=_LARGEST, remedy="split it by question")
    if data.startswith(_GZIP):
        data = unfolded(data, path)
    refuse_wide(data, path, DatasetError)
    return data.removeprefix(_BOM)
