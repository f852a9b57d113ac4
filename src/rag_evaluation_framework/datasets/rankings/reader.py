"""Reading qrels (relevance judgements) and rankings, which TREC calls runs, from files.

Supported formats: TREC's tables (`qid iter docid grade`, `qid Q0 docid rank score tag`) as trec_eval reads them, tables
with a header, such as BEIR's (`query-id corpus-id score`), JSON (`{question: {document: grade or score}}`), and of
rankings JSONL with the hits of one question per line. The format is recognised by the content; files may be compressed
with gzip.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np

from ...base.files import LONGEST_LINE, as_utf8, checked_path, decompressed, read_bytes
from ...base.notes import note
from ...base.progress import progress_bar
from ...base.records import Problems
from ...data.hits import Hit
from ...data.ids import canonical_document_id
from ...errors import DatasetError
from .hit_lines import Hits, Tops, read_hits
from .parsers import (
    QRELS,
    RANKINGS,
    Entry,
    FileKind,
    JsonParser,
    Order,
    TableParser,
    Ties,
    check_order,
    contradicted,
    refuse_rising,
)

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
        contradicted: Number of questions in a TREC run file whose rank column contradicts the order of their results,
            which is by score, with ties in the order of the file.
        unscored: The questions whose numbers are negative ranks.
        hits: What is known of the results of each question, where lines hold hits; else None.
        tops: Rankings at some k that are not the beginnings of these.
    """

    by_query: dict[str, dict[str, float]]
    repeated: int
    contradicted: int
    unscored: frozenset[str] = frozenset()
    hits: Hits | None = None
    tops: Tops = field(default_factory=Tops)

    @classmethod
    def of_qrels(cls, path: str | Path) -> "RankFile":
        """Read relevance judgements.

        Raises:
            DatasetError: The file cannot be used, or contains two grades for one document and question.
        """
        path = checked_path(path)
        return _Reader(path, QRELS).read(_content(path))

    @classmethod
    def of_rankings(cls, path: str | Path, order: Order | None = None, ties: Ties | None = None) -> "RankFile":
        """Read rankings, as `read_rankings` does.

        Raises:
            ConfigError: `order` or `ties` is something else.
            DatasetError: The file cannot be used, or its scores rise in every ranking and `order` is None.
        """
        check_order(order, ties)
        path = checked_path(path)
        data = _content(path)
        hits = read_hits(data, path, order)
        if hits is not None:
            return cls._of_hits(*hits)
        file = _Reader(path, RANKINGS, order).read(data)
        return file if ties is None else replace(file, by_query=_as_trec_eval(file.by_query))

    @classmethod
    def _of_hits(cls, hits: Hits, tops: Tops) -> "RankFile":
        ids = {query: list(map(_id, found.hits, count())) for query, found in hits.items() if found is not None}
        by_query = {query: dict(zip(dict.fromkeys(units), count(-1.0, -1))) for query, units in ids.items()}
        repeated = sum(map(len, ids.values())) - sum(map(len, by_query.values()))
        return cls(by_query, repeated, 0, frozenset(by_query), hits, tops)

    def check_ids(self, path: str | Path) -> None:
        """Check that rankings of ids hold all that a run reads: of two hits of one id they hold the first.

        They hold no ranking at a k of its own either.

        Questions whose retrieval failed are noted: they have no ranking.

        Raises:
            DatasetError: One has.
        """
        if self.tops or (self.hits is not None and self.repeated):
            raise DatasetError(
                f"{path}: lists {self.repeated} hits of documents that the same question lists before, and "
                f"{len(self.tops)} questions have other rankings at some k; expected each document once, in one "
                "ranking. Score it as a run, where k counts hits: rag-eval run --rankings"
            )
        if failed := sum(found is None for found in (self.hits or {}).values()):
            note(f"{path}: questions whose retrieval failed in that run, which count as not ranked: {failed}")

    def note_oddities(self, path: str | Path) -> None:
        """Note repeated documents, and rank columns that are not the order."""
        if self.repeated and self.hits is None:
            note(
                f"{path}: documents listed more than once in a ranking, of which the best score counts: {self.repeated}"
            )
        if self.contradicted:
            note(
                f"{path}: questions whose rank column contradicts the order by score, with ties in the order of the "
                f"file: {self.contradicted}. The rank column is ignored; order='given' (--order given) follows it"
            )


def read_qrels(path: str | Path) -> dict[str, dict[str, float]]:
    """Read relevance judgements (qrels): TREC qrels, BEIR's table or JSON.

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


def _as_trec_eval(rankings: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return rankings whose ties are in the order of trec_eval: in single precision, equal scores by falling id."""
    with np.errstate(over="ignore"):
        return {
            query: {name: float(np.float32(known[name])) for name in sorted(known, reverse=True)}
            for query, known in rankings.items()
        }


def read_rankings(
    path: str | Path, order: Order | None = None, ties: Ties | None = None
) -> dict[str, dict[str, float]]:
    """Read rankings: a TREC run file, a table with a header, JSON, or JSONL of hits.

    Rankings are ordered by score, highest first, with ties in the order of the file. The rank column of a TREC run file
    is ignored, with a note if it contradicts that order. A document listed more than once in a ranking keeps its best
    score, with a note. Hits, one question per line, are in the order in which they are listed; the id of a hit is that
    of its document, else of its chunk.

    Args:
        path: The file.
        order: `"score"` if the highest score is the best; `"given"` to ignore scores and keep the order of the file: by
            the rank column, if it has one. By default each format has its own order, as above, and a file is refused if
            the scores of every ranking rise in the order of the file.
        ties: `"trec_eval"` to compare scores in single precision, and to order equal ones by id, descending, as
            trec_eval does; by default they keep the order of the file. Hits and lists have no ties.

    Returns:
        The documents of each question with their scores, as `score_rankings` expects them. Rankings without scores get
        their negative ranks as scores: -1, -2, …

    Raises:
        ConfigError: `order` or `ties` is something else.
        DatasetError: The file cannot be used, in which case the message lists the first ten problems with their lines;
            its scores rise; or it lists hits of one document more than once for a question, which only a run counts.
    """
    file = RankFile.of_rankings(path, order, ties)
    file.check_ids(path)
    file.note_oddities(path)
    return file.by_query


class _Reader:
    """Reader of one file, which collects problems."""

    def __init__(self, path: Path, kind: FileKind, order: Order | None = None) -> None:
        self.path, self.kind, self.order = path, kind, order
        self.problems = Problems()
        self.by_query: dict[str, dict[str, float]] = {}
        self.repeated = 0
        self.lists: set[str] = set()
        self.listed: Counter[str] = Counter()
        self.codes: dict[str, int] = {}
        # Questions, ranks and scores, a row per result.
        self.ranked: tuple[array[Any], ...] = (array("q"), array("d"), array("d"))

    def read(self, data: bytes) -> RankFile:
        lines = 0
        with progress_bar(len(data), f"Reading {self.path.name}", "B") as bar:
            for number, block, entries in self.parsed(data):
                for entry in entries:
                    self.add(entry)
                bar.update(len(block))
                lines = number - 1 + block.count(b"\n")
                if self.problems:
                    break  # a file of another format would have a problem on every line
        if self.problems:
            part = f" (read up to line {lines})" if lines < data.count(b"\n") else ""
            raise DatasetError(self.problems.message(f"{self.path}{part}"))
        if not self.by_query:
            raise self.nothing()
        codes, ranks, scores = map(np.array, self.ranked)
        if self.kind.is_rankings and self.order is None:
            by_rank = np.lexsort((ranks, codes))  # stable: equal ranks keep the order of the file
            ranked = np.split(scores[by_rank], np.flatnonzero(np.diff(codes[by_rank])) + 1)
            listed = (list(found.values()) for found in self.by_query.values())
            refuse_rising((found.tolist() for found in ranked) if self.codes else listed, self.path)
        contradicting = 0 if self.order == "given" else contradicted((codes, ranks, scores))
        unscored = frozenset(self.by_query if self.order == "given" else self.lists)
        return RankFile(self.by_query, self.repeated, contradicting, unscored)

    def nothing(self) -> DatasetError:
        return DatasetError(
            f"{self.path}: contains no entries; expected a {self.kind.name} file: lines of "
            f"{' '.join(self.kind.columns)}, or JSON"
        )

    def parsed(self, data: bytes) -> Iterator[tuple[int, bytes, Iterable[Entry]]]:
        """Yield blocks of lines, without the header, each with the number of its first line and its entries."""
        start = re.search(rb"\S", data)
        if start is None:
            raise self.nothing()
        begin, end = data.rfind(b"\n", 0, start.start()) + 1, data.find(b"\n", start.start()) + 1 or len(data)
        first = data[begin:end].strip()
        if first.startswith((b"{", b"[")):
            yield 1, data, JsonParser(self.kind, self.problems).entries(data)
            return
        table = TableParser.of(first, self.kind, self.problems)
        for number, block in self.blocks(data, 0 if table.is_trec else end):
            yield number, block, table.entries(number, block)

    def blocks(self, data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of complete lines, each with the number of its first line."""
        number = data.count(b"\n", 0, start) + 1
        while start < len(data):
            last = data.rfind(b"\n", start, start + _BLOCK) + 1
            end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
            if end - (last or start) > LONGEST_LINE:
                line = number + data.count(b"\n", start, last)
                raise DatasetError(
                    f"{self.path}: line {line}: has more than {LONGEST_LINE:,} bytes; expected one entry per line"
                )
            block = data[start:end]
            yield number, block if block.endswith(b"\n") else block + b"\n"
            number += block.count(b"\n")
            start = end

    def add(self, entry: Entry) -> None:
        query, units, values = entry.query, entry.units, entry.values
        if entry.is_list:
            self.lists.add(query)
        if entry.ranks is not None:
            code = self.codes.setdefault(query, len(self.codes))
            for column, numbers in zip(self.ranked, ([code] * len(units), entry.ranks, values), strict=True):
                column.extend(numbers)
        if self.order == "given":
            self.listed[query] += len(units)
            last = self.listed[query]
            places = range(last - len(units) + 1, last + 1) if entry.ranks is None else entry.ranks
            values = [-inf if isnan(place) else -float(place) for place in places]
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
                    self.problems.append(
                        f"document {unit!r} of question {query!r} has two grades, {known[unit]:g} and {value:g}; keep "
                        "one"
                    )
            elif value > known[unit]:
                del known[unit]  # moves it to where its best score is: ties keep the order of the file
                known[unit] = value


def _id(hit: Hit, rank: int) -> str:
    """Return the id of a hit, or one that is never relevant, so that the hits behind it keep their ranks."""
    return hit.doc_id or hit.chunk_id or f"\0{rank}"


def _content(path: Path) -> bytes:
    data = read_bytes(path, DatasetError, most=_LARGEST, remedy="split it by question")
    if data.startswith(_GZIP):
        data = decompressed(data, path)
    return as_utf8(data, path, DatasetError).removeprefix(_BOM)
