"""Rankings with all that is known of their hits, as JSONL compressed with gzip: one line per question."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.data.hit_table import HitCollector, HitTable, RankedHits
from rag_evaluation_framework.errors import DatasetError

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
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    query_id: str
    doc_id: list[str | None]
    start: list[NonNegativeInt | None] | None = None
    end: list[NonNegativeInt | None] | None = None
    chunk_id: list[str | None] | None = None
    text: list[str | None] | None = None
    score: list[float | None] | None = None


_COLUMNS = tuple(HitLine.model_fields)[1:]


def write_hit_lines(file: BinaryIO, query_ids: Sequence[str], rankings: RankedHits) -> None:
    """Write one line per question, one after the other; equal rankings are equal bytes.

    Args:
        file: Where to write, opened for bytes.
        query_ids: The questions.
        rankings: What was found for each.
    """
    bounds = zip(rankings.begins.tolist(), rankings.ends.tolist(), strict=True)
    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as lines:
        for query_id, (begin, end) in zip(query_ids, bounds, strict=True):
            line = {"query_id": query_id, **_columns(rankings.table, slice(begin, end))}
            lines.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace"))
            lines.write(b"\n")


def _columns(table: HitTable, rows: slice) -> dict[str, list[Any]]:
    first, *others = zip(_COLUMNS, table.columns(rows), strict=True)
    return dict([first, *(other for other in others if any(value is not None for value in other[1]))])


def read_hit_lines(path: Path) -> tuple[list[str], RankedHits]:
    """Return the ids of the questions, and what was found for each.

    Raises:
        DatasetError: The file cannot be read, or a line is not the hits of a question.
    """
    collector = HitCollector()
    query_ids: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            known = HitLine.model_validate(parse_json(line.decode()))
            hits = len(known.doc_id)
            columns = [[None] * hits if column is None else column for column in _read(known)]
            if any(len(column) != hits for column in columns):
                raise ValueError(f"$.doc_id has {hits} hits, and another column has not")
            numbers.append(collector.add_columns(*columns))
        except ValidationError as error:
            first = error.errors()[0]
            raise DatasetError(
                f"{path}: line {number}: $.{'.'.join(map(str, first['loc']))}: {first['msg']}"
            ) from error
        except (ValueError, OverflowError) as error:
            raise DatasetError(f"{path}: line {number}: {error}") from error
        query_ids.append(known.query_id)
    return query_ids, collector.ranked(numbers)


def _read(line: HitLine) -> list[list[Any] | None]:
    return [getattr(line, name) for name in _COLUMNS]


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) as lines:
            yield from lines
    except (OSError, EOFError, zlib.error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise DatasetError(f"{path}: cannot be read ({reason})") from error
