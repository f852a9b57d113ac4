"""Reading qrels (relevance judgements) and rankings, which TREC calls runs, from files.

Supported formats: TREC's tables (`qid iter docid grade`, `qid Q0 docid rank score tag`) as trec_eval reads them, tables
with a header, such as BEIR's (`query-id corpus-id score`), JSON (`{question: {document: grade or score}}`), and of
rankings JSONL with the hits of one question per line. The format is recognised by the content; files may be compressed
with gzip.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, groupby
from math import inf, isfinite, isinf, isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.files import LONGEST_LINE, as_utf8, checked_path, decompressed, is_list, is_object, parse_json, read_bytes
from ...base.notes import note
from ...base.progress import progress_bar
from ...base.records import Problems, brief_repr, storable
from ...data.hits import Hit
from ...data.ids import canonical_document_id
from ...errors import DatasetError
from .hit_lines import Hits, Tops, read_hits
from .order import Order, Ties, check_order, refuse_rising

_BLOCK = 1 << 17  # small enough for the processor's cache: takes half the time of a megabyte
_LARGEST = 2_000_000_000  # bytes
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"


_QUERY_KEYS = ("queryid", "qid", "id")
_UNIT_KEYS = ("docid", "corpusid", "documentid", "docno", "did", "chunkid")


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
        return _Reader(path, _QRELS).read(_content(path))

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
        file = _Reader(path, _RANKINGS, order).read(data)
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


# Files of ids, with their grades or scores.


@dataclass(frozen=True)
class _FileKind:
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


_QRELS = _FileKind("qrels", ("qid", "iter", "docid", "grade"), "grade", ("relevance", "rel", "grade", "gain", "score"))
_RANKINGS = _FileKind("rankings", ("qid", "Q0", "docid", "rank", "score", "tag"), "score", ("score",))


class _Entry(NamedTuple):
    """Documents of one question, read from a line or value, or from lines that follow each other.

    Attributes:
        query: The id of the question.
        units: The documents.
        values: Their grades or scores.
        ranks: The rank column of a table; None if there is none.
        is_list: Whether the documents are listed in order, without scores.
    """

    query: str
    units: Sequence[str]
    values: Sequence[float]
    ranks: Sequence[float] | None = None
    is_list: bool = False


class _Reader:
    """Reader of one file, which collects problems."""

    def __init__(self, path: Path, kind: _FileKind, order: Order | None = None) -> None:
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
            raise DatasetError(
                f"{self.path}: contains no entries; expected a {self.kind.name} file: lines of "
                f"{' '.join(self.kind.columns)}, or JSON"
            )
        codes, ranks, scores = map(np.array, self.ranked)
        if self.kind.is_rankings and self.order is None:
            by_rank = np.lexsort((ranks, codes))  # stable: equal ranks keep the order of the file
            ranked = np.split(scores[by_rank], np.flatnonzero(np.diff(codes[by_rank])) + 1)
            listed = (list(found.values()) for found in self.by_query.values())
            refuse_rising((found.tolist() for found in ranked) if self.codes else listed, self.path)
        contradicting = 0 if self.order == "given" else _contradicted(codes, ranks, scores)
        unscored = frozenset(self.by_query if self.order == "given" else self.lists)
        return RankFile(self.by_query, self.repeated, contradicting, unscored)

    def parsed(self, data: bytes) -> Iterator[tuple[int, bytes, Iterable[_Entry]]]:
        """Yield blocks of lines, without the header, each with the number of its first line and its entries."""
        start = re.search(rb"\S", data)
        if start is None:
            return
        begin, end = data.rfind(b"\n", 0, start.start()) + 1, data.find(b"\n", start.start()) + 1 or len(data)
        first = data[begin:end].strip()
        if first.startswith((b"{", b"[")):
            yield 1, data, self.json_entries(data)
            return
        table = _Table(first, self.kind, self.problems)
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

    def add(self, entry: _Entry) -> None:
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
        known = self.by_query.setdefault(query, fresh if len(fresh) == len(units) else {})
        if known is fresh:
            return
        if len(fresh) == len(units) and known.keys().isdisjoint(fresh):  # a line each, as nearly always
            known.update(fresh)
            return
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

    def json_entries(self, data: bytes) -> Iterator[_Entry]:
        """Yield the entries of JSON, one object with all questions."""
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
                yield _Entry(name, known, values, is_list=True)
            elif name is not None and is_object(value):
                numbers = {self._id(unit, where): self._number(number, where, unit) for unit, number in value.items()}
                pairs = {unit: number for unit, number in numbers.items() if unit is not None and number is not None}
                yield _Entry(name, tuple(pairs), tuple(pairs.values()))
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


class _Table:
    """Parser of tables with one judgement or result per line: TREC's own, or one with a header.

    In TREC's own table, lines that start with # are comments, and what follows the tag of a result is ignored.

    Args:
        first: The first line: a header, else the table is TREC's. Case, hyphens, underscores and blanks are ignored:
            `query-id` means `queryid`.
        kind: What the file contains.
        problems: What cannot be read is added here.
    """

    def __init__(self, first: bytes, kind: _FileKind, problems: Problems) -> None:
        self.kind, self.problems = kind, problems
        self.separator = b"\t" if b"\t" in first else None  # else white space
        self.names: Sequence[str] = [name.decode(errors="replace").strip() for name in first.split(self.separator)]
        plain = [re.sub("[-_ ]", "", name).lower() for name in self.names]
        meant = (_QUERY_KEYS, _UNIT_KEYS, kind.value_keys)
        columns = [next((plain.index(key) for key in keys if key in plain), -1) for keys in meant]
        self.is_trec = first.startswith(b"#") or -1 in columns
        if self.is_trec:
            self.separator, self.names, columns = None, kind.columns, [0, 2, kind.columns.index(kind.value)]
        self.query, self.unit, self.value = columns
        self.rank = self.names.index("rank") if kind.is_rankings and "rank" in self.names else None

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

    def entries(self, number: int, block: bytes) -> Iterable[_Entry]:
        """Return the entries of a block at once if every line of it is well formed, else line by line.

        What cannot be read is recorded, by its line: that of the block is given.
        """
        rows = self._at_once(block)
        return self._by_line(number, block) if rows is None else rows

    def _at_once(self, block: bytes) -> Iterator[_Entry] | None:
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
            _Entry(query, units[part], values[part], None if ranks is None else ranks[part])
            for (query, _), part in zip(groups, parts, strict=True)
        )

    def _by_line(self, number: int, block: bytes) -> Iterator[_Entry]:
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
                yield _Entry(query, (unit,), (value,), ranks)

    def _wrong_width(self, line: bytes, got: int) -> str:
        hint = "ids with white space need JSON" if self.separator is None else "separate columns by tabs"
        for other in (_QRELS, _RANKINGS):
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


def _contradicted(query: NDArray[np.int64], rank: NDArray[np.float64], score: NDArray[np.float64]) -> int:
    """Return the number of questions in which a document with a better rank is behind: by its score, or in a tie.

    Args:
        query: Question numbers, one per result.
        rank: Ranks.
        score: Scores.
    """
    known = ~np.isnan(rank)
    query, rank, score = query[known], rank[known], score[known]
    order = np.lexsort((-score, query))  # stable: ties keep the order of the file
    query, rank = query[order], rank[order]
    return len(np.unique(query[1:][(query[1:] == query[:-1]) & (rank[1:] < rank[:-1])]))


def _id(hit: Hit, rank: int) -> str:
    """Return the id of a hit, or one that is never relevant, so that the hits behind it keep their ranks."""
    return hit.doc_id or hit.chunk_id or f"\0{rank}"


def _content(path: Path) -> bytes:
    data = read_bytes(path, DatasetError, most=_LARGEST, remedy="split it by question")
    if data.startswith(_GZIP):
        data = decompressed(data, path)
    return as_utf8(data, path, DatasetError).removeprefix(_BOM)
