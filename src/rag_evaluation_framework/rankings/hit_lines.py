"""Rankings with all that is known of their hits, as JSONL: one question per line."""

import gzip
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from rag_evaluation_framework.base import utf8_json
from rag_evaluation_framework.base.compressed import FREE, LONGEST_LINE, most_in_all, unfolded_lines, weight
from rag_evaluation_framework.base.files import is_list, is_object, parse_json
from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.base.records import Problems
from rag_evaluation_framework.components.results import as_retrieval
from rag_evaluation_framework.data.hits import Hit, HitCollector, HitTable, RankedHits, Retrieval
from rag_evaluation_framework.errors import DatasetError, InputError
from rag_evaluation_framework.rankings.order import Order, refuse_rising

# Rankings with all that is known of their hits, as JSONL compressed with gzip: one line per question.

_LEVEL = 5  # of compression: a third quicker than the default, for 2 % more
_BYTES = 36  # that are kept of a hit, besides its texts


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


_COLUMNS = tuple(HitLine.model_fields)[1:-1]


def write_hit_lines(
    file: BinaryIO, query_ids: Sequence[str], rankings: RankedHits, failed: Container[str] = ()
) -> None:
    """Write one line per question, one after the other; equal rankings are equal bytes.

    Args:
        file: Where to write, opened for bytes.
        query_ids: The questions.
        rankings: What was found for each.
        failed: The questions whose retrieval failed.

    Raises:
        DatasetError: What was found for a question is more than may be read.
    """
    begin, total, hits = file.tell(), 0, 0

    def fits(line: tuple[bytes, int]) -> bool:
        nonlocal total, hits
        total, hits = total + weight(line[0]), hits + line[1]
        most = most_in_all(file.tell() - begin)
        return len(line[0]) <= FREE and total <= most and hits * _BYTES <= most

    # What is more than may be read of a small file is not compressed, so that the file is not small.
    for short, some in groupby(_written(query_ids, rankings, failed), key=fits):
        with gzip.GzipFile("", "wb", _LEVEL if short else 0, file, mtime=0) as member:
            member.writelines(line for line, _ in some)


def _written(query_ids: Sequence[str], rankings: RankedHits, failed: Container[str]) -> Iterator[tuple[bytes, int]]:
    """Yield each line, and how many hits it has."""
    bounds = zip(rankings.begins.tolist(), rankings.ends.tolist(), strict=True)
    for query_id, (begin, end) in zip(query_ids, bounds, strict=True):
        content: dict[str, Any] = {"query_id": query_id, **_columns(rankings.table, slice(begin, end))}
        if query_id in failed:
            content["failed"] = True
        line = utf8_json.written(f"{json.dumps(content, ensure_ascii=False, allow_nan=False)}\n")
        if weight(line) > LONGEST_LINE:
            raise DatasetError(
                f"what was found for question {query_id!r} takes more than {LONGEST_LINE:,} bytes, which nobody could "
                "read; return shorter texts, or places in documents"
            )
        yield line, end - begin


def _columns(table: HitTable, rows: slice) -> dict[str, list[Any]]:
    first, *others = zip(_COLUMNS, table.columns(rows), strict=True)
    return dict([first, *(other for other in others if any(value is not None for value in other[1]))])


def read_hit_lines(path: Path, query_ids: Sequence[str], most: int) -> RankedHits:
    """Return what was found for each question.

    Args:
        path: The file.
        query_ids: The questions that it must hold, in their order.
        most: How many hits it must hold.

    Raises:
        DatasetError: The file cannot be read, is too small for so many hits, or a line is not the hits of its question.
    """
    size = path.stat().st_size
    if most * _BYTES > most_in_all(size):
        raise DatasetError(
            f"{path}: has {size:,} bytes, and the report counts {most:,} hits; expected at most "
            f"{most_in_all(size) // _BYTES:,}"
        )
    collector = HitCollector()
    numbers: list[int] = []
    left = most
    for number, line in enumerate(unfolded_lines(path), start=1):
        where = f"{path}: line {number}"
        try:
            known = HitLine.model_validate(parse_json(utf8_json.read(line)))
            left -= len(known.doc_id)
            _check(known, query_ids[number - 1] if number <= len(query_ids) else None, left)
            nothing = [None] * len(known.doc_id)
            numbers.append(collector.add_columns(*(nothing if column is None else column for column in _read(known))))
        except ValidationError as error:
            first = error.errors()[0]
            place = one_line(".".join(map(str, first["loc"])))
            raise DatasetError(f"{where}: $.{place}: {first['msg']}, got {shown(first['input'])}") from error
        except (ValueError, OverflowError) as error:
            raise DatasetError(f"{where}: {error}") from error
    if left or len(numbers) < len(query_ids):
        raise DatasetError(
            f"{path}: has {len(numbers)} questions and {most - left} hits; expected {len(query_ids)} and {most}"
        )
    hits = collector.ranked(numbers)
    _check_places(hits, path)
    return hits


def _check(line: HitLine, query_id: str | None, left: int) -> None:
    """Check that a line is the next one, before more is made of it.

    Raises:
        ValueError: It is of another question, has more hits than there are, or columns of different lengths.
    """
    if line.query_id != query_id:
        raise ValueError(f"is of question {line.query_id!r}, expected {'none' if query_id is None else repr(query_id)}")
    if left < 0:
        raise ValueError("has more hits than the report counts")
    hits = len(line.doc_id)
    if any(column is not None and len(column) != hits for column in _read(line)):
        raise ValueError(f"$.doc_id has {hits} hits, and another column has not")


def _check_places(hits: RankedHits, path: Path) -> None:
    start, end = hits.table.start, hits.table.end
    wrong = np.flatnonzero((start > end) & (end >= 0))
    if len(wrong):
        row = int(wrong[0])
        line = int(np.searchsorted(hits.ends, row, side="right")) + 1
        raise DatasetError(f"{path}: line {line}: start is {start[row]} and end {end[row]}; expected start <= end")


def _read(line: HitLine) -> list[list[Any] | None]:
    return [getattr(line, name) for name in _COLUMNS]


# JSONL with the hits of one question per line.

Hits: TypeAlias = dict[str, Retrieval | None]
"""The retrieval of each question; None where it failed."""

_MOST = 2_000_000_000  # hits of a question
_RESULTS = ("hits", "retrieved_chunk_ids", "retrieved_spans")
_OF_A_HIT = ("doc_id", "start", "end", "chunk_id", "text", "score")


def read_hits(data: bytes, path: Path, order: Order | None) -> Hits | None:
    """Return the hits of each question; None if the file has another format.

    Raises:
        DatasetError: A line cannot be read, or all scores rise and no order is given.
    """
    lines = enumerate(data.split(b"\n"), start=1) if data.lstrip()[:1] == b"{" else iter(())
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None or not _holds_hits(first[1]):
        return None
    rankings = _parsed(chain([first], lines), path)
    if order is None:
        scores = ([hit.score for hit in found.hits if hit.score is not None] for found in rankings.values() if found)
        refuse_rising(scores, path)
        return rankings
    return {query: found and replace(found, hits=_ordered(found.hits, order)) for query, found in rankings.items()}


def _ordered(hits: tuple[Hit, ...], order: Order) -> tuple[Hit, ...]:
    if order == "given":
        return tuple(replace(hit, score=None) for hit in hits)
    return tuple(sorted(hits, key=lambda hit: inf if hit.score is None else -hit.score))


def _holds_hits(line: bytes) -> bool:
    """Return whether a line is a question with its hits, as opposed to one with ids, or a whole file."""
    try:
        content = parse_json(utf8_json.read(line))
    except ValueError:
        return False
    return is_object(content) and (any(key in content for key in _RESULTS) or is_list(content.get("doc_id")))


def _parsed(lines: Iterable[tuple[int, bytes]], path: Path) -> Hits:
    problems, rankings = Problems(), dict[str, Retrieval | None]()
    for number, line in lines:
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            content: Any = parse_json(utf8_json.read(line))
            query_id, found = _question(content)
            if query_id in rankings:
                raise ValueError(f"question {query_id!r} has a ranking already")
            rankings[query_id] = found
        except (ValueError, InputError) as error:
            problems.append(f"{where}: {error}")
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
        line = HitLine.model_validate(content)
        return str(query_id), None if line.failed else as_retrieval([*_hits_of(line)], "it", _MOST)
    given = {key: content[key] for key in (*_RESULTS, "seconds") if key in content}
    return str(query_id), as_retrieval(given, "it", _MOST)


def _hits_of(line: HitLine) -> Iterator[Hit]:
    columns: list[Any] = [getattr(line, name) or [None] * len(line.doc_id) for name in _OF_A_HIT]
    yield from (Hit(*values) for values in zip(*columns, strict=True))
