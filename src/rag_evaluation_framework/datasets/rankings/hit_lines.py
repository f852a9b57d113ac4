"""Rankings with all that is known of their hits, as JSONL: one question per line."""

import gzip
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from ...adapt.results import as_retrieval
from ...base.files import decompressed_lines, is_list, is_object, most_unfolded, parse_json
from ...base.outside import harmless_json, one_line, shown
from ...base.records import Problems
from ...data.hits import COLUMNS, Hit, HitCollector, RankedHits, Retrieval, Stage
from ...errors import DatasetError, InputError
from .parsers import Order, refuse_rising

# Rankings with all that is known of their hits, as JSONL compressed with gzip: one line per question.

_LEVEL = 5  # of compression: a third quicker than the default, for 2 % more


class HitLine(BaseModel):
    """One line: the hits of one question in columns, best first; but for the first, one that is all null is left out.

    Attributes:
        query_id: The question.
        doc_id: The document of each hit, null where it is not known.
        start: First character.
        end: One past the last character.
        chunk_id: The chunk's id.
        text: The retrieved text.
        score: The retriever's own score.
        failed: Whether the retrieval failed; not there if it did not.
        seconds: How long each stage took, by its name; not there where that is not known, and not in the files of a
            finished run, whose report tells it.
        sources: Of a journal only, and read by the run that goes on; so is `asked`.
        asked: How a journal's answer was asked for.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    query_id: str
    doc_id: list[str | None] = Field(fail_fast=True)  # of a million mistakes, one is told
    start: list[NonNegativeInt | None] | None = Field(None, fail_fast=True)
    end: list[NonNegativeInt | None] | None = Field(None, fail_fast=True)
    chunk_id: list[str | None] | None = Field(None, fail_fast=True)
    text: list[str | None] | None = Field(None, fail_fast=True)
    score: list[float | None] | None = Field(None, fail_fast=True)
    failed: bool = False
    seconds: dict[str, float] | None = None
    sources: Any = None
    asked: Any = None


def write_hit_lines(
    file: BinaryIO, query_ids: Sequence[str], rankings: RankedHits, failed: Container[str] = ()
) -> None:
    """Write one line per question; equal rankings give equal bytes.

    Args:
        file: Where to write, opened for bytes.
        query_ids: The questions.
        rankings: What was found for each.
        failed: The questions whose retrieval failed.
    """
    begin, total = file.tell(), 0

    def fits(line: bytes) -> bool:
        nonlocal total
        total += len(line)
        return total <= most_unfolded(file.tell() - begin)

    # Lines by which it would unfold to more than may be read of a small file are not compressed, until it is large.
    for well, lines in groupby(_written(query_ids, rankings, failed), key=fits):
        with gzip.GzipFile("", "wb", _LEVEL if well else 0, file, mtime=0) as member:
            member.writelines(lines)


def _written(query_ids: Sequence[str], rankings: RankedHits, failed: Container[str]) -> Iterator[bytes]:
    bounds = zip(rankings.begins.tolist(), rankings.ends.tolist(), strict=True)
    for query_id, (begin, end) in zip(query_ids, bounds, strict=True):
        first, *others = zip(COLUMNS, rankings.table.columns(slice(begin, end)), strict=True)
        known = [(name, values) for name, values in others if values.count(None) < len(values)]
        content: dict[str, Any] = {"query_id": query_id, **dict([first, *known])}
        if query_id in failed:
            content["failed"] = True
        yield harmless_json(f"{json.dumps(content, ensure_ascii=False, allow_nan=False)}\n").encode()


def read_hit_lines(path: Path, query_ids: Sequence[str]) -> RankedHits:
    """Return what was found for each question.

    Args:
        path: The file.
        query_ids: The questions that it must hold, in their order.

    Raises:
        DatasetError: The file cannot be read, unfolds to too much, or a line is not the hits of its question.
    """
    collector, numbers = HitCollector(), list[int]()
    for number, line in enumerate(decompressed_lines(path), start=1):
        where = f"{path}: line {number}"
        try:
            known = _hit_line(parse_json(line.decode()))
            expected = repr(query_ids[number - 1]) if number <= len(query_ids) else "none"
            if repr(known.query_id) != expected:
                raise ValueError(f"is of question {known.query_id!r}, expected {expected}")
            numbers.append(collector.add_columns(_columns(known)))
        except (ValueError, OverflowError) as error:
            raise DatasetError(f"{where}: {error}") from error
    if len(numbers) < len(query_ids):
        raise DatasetError(f"{path}: has {len(numbers)} questions; expected {len(query_ids)}")
    ranked = collector.ranked(numbers)
    start, end = ranked.table.start, ranked.table.end
    for row in np.flatnonzero((start > end) & (end >= 0))[:1]:
        where = f"{path}: line {np.searchsorted(ranked.ends, row, side='right') + 1}"
        raise DatasetError(f"{where}: start is {start[row]} and end {end[row]}; expected start <= end")
    return ranked


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

_MOST = 2_000_000_000  # hits of a question
_RESULTS = ("hits", "retrieved_chunk_ids", "retrieved_spans")
_JOURNAL = "journal"
"""The key of the first line of a journal, to which a run appends what it found as it comes."""
JOURNAL_VERSION = 1
"""The version of the lines behind it."""


def read_hits(data: bytes, path: Path, order: Order | None) -> Hits | None:
    """Return the hits of each question; None if the file has another format.

    Of a journal, which begins with a line that says so, the last line of a question counts, as a run may ask again for
    more results, and a last line that was not written to its end does not.

    Raises:
        DatasetError: A line cannot be read, or all scores rise and no order is given; or a journal is of another
            version.
    """
    split = enumerate(data.split(b"\n"), start=1) if data.lstrip()[:1] == b"{" else ()
    lines = [(number, line) for number, line in split if line.strip()]
    first = _object(lines[0][1]) if lines else {}
    is_journal = _JOURNAL in first
    if is_journal:
        if (version := first[_JOURNAL]) != JOURNAL_VERSION:
            other = f"{shown(version, 60)}; this version reads {JOURNAL_VERSION}"
            raise DatasetError(f"{path}: is a journal of version {other}: run it again")
        is_torn = not data.endswith(b"\n") and not _object(lines[-1][1])
        lines = lines[1 : -1 if is_torn else None]
    elif not (any(key in first for key in _RESULTS) or is_list(first.get("doc_id"))):  # lines with ids, or a whole file
        return None
    rankings = _parsed(lines, path, is_journal=is_journal)
    if order is None:
        scores = ([hit.score for hit in found.hits if hit.score is not None] for found in rankings.values() if found)
        refuse_rising(scores, path)
        return rankings
    return {query: found and replace(found, hits=_ordered(found.hits, order)) for query, found in rankings.items()}


def _ordered(hits: tuple[Hit, ...], order: Order) -> tuple[Hit, ...]:
    if order == "given":
        return tuple(replace(hit, score=None) for hit in hits)
    return tuple(sorted(hits, key=lambda hit: inf if hit.score is None else -hit.score))


def _object(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; empty if it is none."""
    try:
        content = parse_json(line.decode())
    except ValueError:
        return {}
    return content if is_object(content) else {}


def _parsed(lines: Iterable[tuple[int, bytes]], path: Path, *, is_journal: bool) -> Hits:
    problems, rankings = Problems(), dict[str, Retrieval | None]()
    for number, line in lines:
        try:
            query_id, found = _question(parse_json(line.decode()))
            if query_id in rankings and not is_journal:
                raise ValueError(f"question {query_id!r} has a ranking already")
            rankings[query_id] = found
        except (ValueError, InputError) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise DatasetError(problems.message(str(path)))
    return rankings


def _question(content: Any) -> tuple[str, Retrieval | None]:
    """Return the id and the ranking of one line, None if the retrieval failed.

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
        return str(query_id), None if line.failed else replace(found, stages=stages)
    given = {key: content[key] for key in (*_RESULTS, "seconds") if key in content}
    return str(query_id), as_retrieval(given, "it", _MOST, stored=True)
