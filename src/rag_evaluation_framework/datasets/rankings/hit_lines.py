"""Rankings with all that is known of their hits, as JSONL: a line per question, and one per k that differs."""

import gzip
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from ...adapt.results import as_retrieval
from ...base.files import decompressed_lines, is_list, is_object, most_unfolded, parse_json
from ...base.outside import harmless_json, one_line, shown
from ...base.records import Problems
from ...data.hits import COLUMNS, Hit, HitCollector, RankedHits, Retrieval, Stage
from ...errors import DatasetError, InputError
from .order import Order, refuse_rising

# Rankings with all that is known of their hits, as JSONL compressed with gzip: one line per question.

_LEVEL = 5  # of compression: a third quicker than the default, for 2 % more


class HitLine(BaseModel):
    """One line: the hits of one question in columns, best first; but for the first, one that is all null is left out.

    Attributes:
        query_id: The question.
        k: For how many results it was asked, of a ranking that is not the beginning of the deepest one, whose line is
            before it; not there of the deepest.
        doc_id: The document of each hit, null where it is not known.
        start: First character.
        end: One past the last character.
        chunk_id: The chunk's id.
        text: The retrieved text.
        score: The retriever's own score.
        more: Whether there may be more hits behind these, of a deeper ranking; not there if these are all.
        failed: Whether the retrieval failed; not there if it did not.
        seconds: How long each stage took, by its name; not there where that is not known, and not in the files of a
            finished run, whose report tells it.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    query_id: str
    k: PositiveInt | None = None
    doc_id: list[str | None] = Field(fail_fast=True)  # of a million mistakes, one is told
    start: list[NonNegativeInt | None] | None = Field(None, fail_fast=True)
    end: list[NonNegativeInt | None] | None = Field(None, fail_fast=True)
    chunk_id: list[str | None] | None = Field(None, fail_fast=True)
    text: list[str | None] | None = Field(None, fail_fast=True)
    score: list[float | None] | None = Field(None, fail_fast=True)
    more: bool = False
    failed: bool = False
    seconds: dict[str, float] | None = None


def write_hit_lines(
    file: BinaryIO,
    query_ids: Sequence[str],
    rankings: RankedHits,
    tops: Mapping[int, RankedHits],
    exhausted: NDArray[np.bool_],
    failed: Container[str] = (),
) -> None:
    """Write the lines of each question; equal rankings give equal bytes.

    Args:
        file: Where to write, opened for bytes.
        query_ids: The questions.
        rankings: What was found for each, as deep as it was asked for.
        tops: What was found at a k, by the k, where that is not the beginning of `rankings` for all questions.
        exhausted: For which questions these are all hits; shape (questions,).
        failed: The questions whose retrieval failed.
    """
    begin, total = file.tell(), 0

    def fits(line: bytes) -> bool:
        nonlocal total
        total += len(line)
        return total <= most_unfolded(file.tell() - begin)

    # Lines by which it would unfold to more than may be read of a small file are not compressed, until it is large.
    for well, lines in groupby(_written(query_ids, rankings, tops, exhausted, failed), key=fits):
        with gzip.GzipFile("", "wb", _LEVEL if well else 0, file, mtime=0) as member:
            member.writelines(lines)


def _written(
    query_ids: Sequence[str],
    rankings: RankedHits,
    tops: Mapping[int, RankedHits],
    exhausted: NDArray[np.bool_],
    failed: Container[str],
) -> Iterator[bytes]:
    bounds = zip(rankings.begins.tolist(), rankings.ends.tolist(), exhausted.tolist(), strict=True)
    for row, (query_id, (begin, end, are_all)) in enumerate(zip(query_ids, bounds, strict=True)):
        columns = rankings.table.columns(slice(begin, end))
        told = {"more": not are_all, "failed": query_id in failed}
        yield _line(query_id, columns, {name: True for name, is_so in told.items() if is_so})
        for k in sorted(tops, reverse=True):
            at = tops[k]
            own = at.table.columns(slice(int(at.begins[row]), int(at.ends[row])))
            if own != tuple(column[:k] for column in columns):  # else the line before tells it
                yield _line(query_id, own, {"k": k})
                columns = own


def _line(query_id: str, columns: Sequence[list[Any]], also: Mapping[str, Any]) -> bytes:
    first, *others = zip(COLUMNS, columns, strict=True)
    known = [(name, values) for name, values in others if values.count(None) < len(values)]
    content: dict[str, Any] = {"query_id": query_id, **dict([first, *known]), **also}
    return harmless_json(f"{json.dumps(content, ensure_ascii=False, allow_nan=False)}\n").encode()


def read_hit_lines(path: Path, query_ids: Sequence[str]) -> tuple[RankedHits, dict[int, RankedHits], NDArray[np.bool_]]:
    """Return the rankings, tops and what is exhausted, as `write_hit_lines` takes them.

    Args:
        path: The file.
        query_ids: The questions that it must hold, in their order.

    Raises:
        DatasetError: The file cannot be read, unfolds to too much, or a line is not the hits of its question.
    """
    collector, numbers, tops, number = HitCollector(), list[int](), dict[int, dict[int, int]](), 0
    exhausted = list[bool]()
    for number, line in enumerate(decompressed_lines(path), start=1):
        where = f"{path}: line {number}"
        try:
            known = _hit_line(parse_json(line.decode()))
            row = len(numbers) - (known.k is not None)  # one at a k follows that of its question
            expected = repr(query_ids[row]) if 0 <= row < len(query_ids) else "none"
            if repr(known.query_id) != expected:
                raise ValueError(f"is of question {known.query_id!r}, expected {expected}")
            added = collector.add_columns(_columns(known))
            if known.k is None:
                numbers.append(added)
                exhausted.append(not known.more)
            else:
                tops.setdefault(known.k, {})[row] = added
        except (ValueError, OverflowError) as error:
            raise DatasetError(f"{where}: {error}") from error
    if len(numbers) < len(query_ids):
        raise DatasetError(f"{path}: has {len(numbers)} questions; expected {len(query_ids)}")
    every = collector.ranked(range(1, number + 1))
    start, end = every.table.start, every.table.end
    for row in np.flatnonzero((start > end) & (end >= 0))[:1]:
        where = f"{path}: line {np.searchsorted(every.ends, row, side='right') + 1}"
        raise DatasetError(f"{where}: start is {start[row]} and end {end[row]}; expected start <= end")
    at, told = dict[int, RankedHits](), [*numbers]
    for k in sorted(tops, reverse=True):
        for row, added in tops[k].items():
            told[row] = added
        at[k] = collector.ranked(told).first(k)
    return collector.ranked(numbers), at, np.array(exhausted, dtype=np.bool_)


def _columns(line: HitLine) -> list[list[Any]]:
    """Return the columns of a line, None where nothing is known.

    Raises:
        ValueError: They are of different lengths.
    """
    hits = len(line.doc_id)
    columns = [[None] * hits if (column := getattr(line, name)) is None else column for name in COLUMNS]
    if any(len(column) != hits for column in columns):
        raise ValueError(f"$.doc_id has {hits} hits, and another column has not")
    return columns


def _hit_line(content: Any) -> HitLine:
    """Return what a line holds.

    Raises:
        ValueError: It is something else.
    """
    try:
        return HitLine.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = one_line(".".join(map(str, first["loc"])))
        raise ValueError(f"$.{place}: {first['msg']}, got {shown(first['input'])}") from error


# JSONL with the hits of one question per line.

Hits: TypeAlias = dict[str, Retrieval | None]
"""The retrieval of each question; None where it failed."""
Tops: TypeAlias = dict[str, dict[int, Retrieval]]
"""The retrievals at some k of a question that are not the beginning of its deepest one."""

_MOST = 2_000_000_000  # hits of a question
_RESULTS = ("hits", "retrieved_chunk_ids", "retrieved_spans")
_JOURNAL = "journal"
"""The key of the first line of a journal, which a run reads that goes on."""


def read_hits(data: bytes, path: Path, order: Order | None) -> tuple[Hits, Tops] | None:
    """Return the hits of each question; None if the file has another format.

    Raises:
        DatasetError: A line cannot be read, or all scores rise and no order is given; or it is the journal of a run.
    """
    split = enumerate(data.split(b"\n"), start=1) if data.lstrip()[:1] == b"{" else ()
    lines = [(number, line) for number, line in split if line.strip()]
    first = _object(lines[0][1]) if lines else {}
    if _JOURNAL in first:
        raise DatasetError(f"{path}: is the journal of a run that did not end; run the same command again, it goes on")
    if not (any(key in first for key in _RESULTS) or is_list(first.get("doc_id"))):  # lines with ids, or a whole file
        return None
    rankings, tops = _parsed(lines, path, order)
    if order is None:
        scores = ([hit.score for hit in found.hits if hit.score is not None] for found in rankings.values() if found)
        refuse_rising(scores, path)
    return rankings, tops


def _ordered(hits: tuple[Hit, ...], order: Order | None) -> tuple[Hit, ...]:
    if order == "given":
        return tuple(replace(hit, score=None) for hit in hits)
    return tuple(sorted(hits, key=lambda hit: inf if hit.score is None else -hit.score)) if order else hits


def _object(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; empty if it is none."""
    try:
        content = parse_json(line.decode())
    except ValueError:
        return {}
    return content if is_object(content) else {}


def _parsed(lines: Iterable[tuple[int, bytes]], path: Path, order: Order | None) -> tuple[Hits, Tops]:
    problems, rankings, tops = Problems(), Hits(), Tops()
    for number, line in lines:
        try:
            query_id, found, k = _question(parse_json(line.decode()))
            known: dict[Any, Any] = tops.setdefault(query_id, {}) if k else rankings
            if (k or query_id) in known:
                raise ValueError(f"question {query_id!r} has a ranking already")
            known[k or query_id] = found and replace(found, hits=_ordered(found.hits, order))
        except (ValueError, InputError) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise DatasetError(problems.message(str(path)))
    return rankings, tops


def _question(content: Any) -> tuple[str, Retrieval | None, int | None]:
    """Return the id and the ranking of one line, None if the retrieval failed; and its k, if it is of one.

    Raises:
        ValueError: It is nothing of the kind.
    """
    if not is_object(content):
        raise ValueError(f"got {shown(content, 60)}; expected an object with query_id and hits")
    query_id = content.get("query_id", content.get("id"))
    if not isinstance(query_id, str | int) or isinstance(query_id, bool) or query_id == "":
        raise ValueError(f"query_id is {shown(query_id, 60)}; expected the id of a question")
    if is_list(content.get("doc_id")):
        line = _hit_line(content)
        stages = tuple(Stage(name, seconds) for name, seconds in (line.seconds or {}).items())
        found = as_retrieval([Hit(*values) for values in zip(*_columns(line), strict=True)], "it", _MOST, stored=True)
        found = replace(found, stages=stages, complete=not line.more)
        return str(query_id), None if line.failed else found, line.k
    given = {key: content[key] for key in (*_RESULTS, "seconds") if key in content}
    return str(query_id), replace(as_retrieval(given, "it", _MOST, stored=True), complete=True), None
