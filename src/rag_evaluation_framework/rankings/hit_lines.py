"""Rankings with all that is known of their hits, as JSONL compressed with gzip: one line per question."""

import gzip
import json
from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from rag_evaluation_framework._outside import one_line, shown
from rag_evaluation_framework._support import utf8_json
from rag_evaluation_framework._support.compressed import FREE, LONGEST_LINE, most_in_all, unfolded_lines, weight
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.data.hit_table import HitCollector, HitTable, RankedHits
from rag_evaluation_framework.errors import DatasetError

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
