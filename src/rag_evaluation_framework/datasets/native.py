"""The native format, as JSON (one object) and JSONL (a header line, then one question a line), and as YAML."""

from abc import abstractmethod
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import Field
from pydantic.alias_generators import to_camel

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.records import Record, RecordReader, check_level
from rag_evaluation_framework.datasets.units import SpanRecord, UnitReader
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.files import is_list, is_object, json_lines
from rag_evaluation_framework.ground_truth import Dataset, GroundTruth
from rag_evaluation_framework.ids import EvaluationType, QueryId, QueryText
from rag_evaluation_framework.levels import Level
from rag_evaluation_framework.types import Json, Query

SCHEMA_VERSION = 1


class _Question(Record):
    id: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    metadata: dict[str, Any] = Field(default={})

    @abstractmethod
    def truth(self, query: Query, units: UnitReader, where: str) -> GroundTruth[Any] | None:
        """Return the ground truth, or None after noting what is wrong with it."""


class _DocumentQuestion(_Question):
    relevant_document_ids: Any
    relevant_prefixes: list[str] = Field(default=[])
    gains: Any = Field(default_factory=dict[str, Any])

    def truth(self, query: Query, units: UnitReader, where: str) -> GroundTruth[Any] | None:
        places = [f"{where}.{key}" for key in ("relevant_document_ids", "relevant_prefixes", "gains")]
        return units.document_level(query, self.relevant_document_ids, self.relevant_prefixes, self.gains, *places)


class _ChunkQuestion(_Question):
    relevant_chunk_ids: Any
    gains: Any = Field(default_factory=dict[str, Any])

    def truth(self, query: Query, units: UnitReader, where: str) -> GroundTruth[Any] | None:
        places = [f"{where}.{key}" for key in ("relevant_chunk_ids", "gains")]
        return units.chunk_level(query, self.relevant_chunk_ids, self.gains, *places)


class _TokenQuestion(_Question):
    relevant_spans: list[SpanRecord]

    def truth(self, query: Query, units: UnitReader, where: str) -> GroundTruth[Any]:
        return units.token_level(query, self.relevant_spans, f"{where}.relevant_spans")


_QUESTIONS: dict[EvaluationType, type[_Question]] = {
    "document-level": _DocumentQuestion,
    "chunk-level": _ChunkQuestion,
    "token-level": _TokenQuestion,
}


_OWN_KEYS: dict[EvaluationType, tuple[str, ...]] = {
    "document-level": ("relevant_document_ids", "relevant_prefixes"),
    "chunk-level": ("relevant_chunk_ids",),
    "token-level": ("relevant_spans",),
}
_LEVELS_OF: dict[str, tuple[EvaluationType, ...]] = {
    **{key: (found,) for found, keys in _OWN_KEYS.items() for name in keys for key in (name, to_camel(name))},
    "gains": ("document-level", "chunk-level"),
}


class _Header(Record):
    schema_version: Literal[1]
    evaluation_type: EvaluationType = "token-level"
    name: str = ""
    corpus_hash: str | None = None
    chunking: str | None = None
    metadata: dict[str, Any] = Field(default={})


def is_native(first: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether a file's object, or the first line of a JSONL file, is a header of this format."""
    return isinstance(first, dict) and not {"schema_version", "schemaVersion"}.isdisjoint(first)


def read_native(
    content: dict[str, Any], path: Path, level: Level[Any], corpus: Corpus | None, utf16_offsets: bool
) -> Dataset[Any]:
    """Read a dataset from one object.

    Raises:
        DatasetError: With every problem and the JSON path at which it stands.
        LevelMismatch: The file holds another level.
    """
    header = {key: value for key, value in content.items() if key != "questions"}
    questions = content.get("questions")
    if not is_list(questions):
        raise DatasetError(f"{path}: $.questions: wanted a list of questions, got {type(questions).__name__}")
    rows = ((f"$.questions[{number}]", question) for number, question in enumerate(questions))
    return _read(header, "$", rows, path, level, UnitReader(RecordReader(str(path)), corpus, utf16_offsets))


def read_native_lines(path: Path, level: Level[Any], corpus: Corpus | None, utf16_offsets: bool) -> Dataset[Any]:
    """Read a dataset from a header line and one question a line, holding one line at a time.

    Raises:
        DatasetError: With every problem and the line at which it stands.
        LevelMismatch: The file holds another level.
    """
    lines = json_lines(path)
    number, header = next(lines)
    rows = ((f"line {number}: $", question) for number, question in lines)
    units = UnitReader(RecordReader(str(path)), corpus, utf16_offsets)
    return _read(header, f"line {number}: $", rows, path, level, units)


def _read(
    first: Json, where: str, rows: Iterable[tuple[str, Any]], path: Path, level: Level[Any], units: UnitReader
) -> Dataset[Any]:
    records = units.records
    header = records.validate(_Header, first, where)
    if header is not None:
        found = header.evaluation_type
        if "evaluation_type" not in header.model_fields_set:
            found, rows = _inferred(rows)
        check_level(str(path), found, level)
    entries = [_entry(data, where, level, units) for where, data in rows]
    if header is None or records.problems:
        raise records.error()
    records.warn()
    return Dataset(
        [entry for entry in entries if entry is not None],
        level,
        name=header.name or path.stem,
        corpus=units.corpus,
        corpus_hash=header.corpus_hash,
        chunking=header.chunking,
        metadata={**header.metadata, **(header.model_extra or {})},
    )


def _inferred(rows: Iterable[tuple[str, Any]]) -> tuple[EvaluationType, Iterable[tuple[str, Any]]]:
    """Return the evaluation type of the first question that tells one, else token level; and all the questions."""
    rest, silent = iter(rows), list[tuple[str, Any]]()
    for row in rest:
        silent.append(row)
        for key in row[1] if is_object(row[1]) else ():
            told = _LEVELS_OF.get(key, ())
            if len(told) == 1:
                return told[0], chain(silent, rest)
    return "token-level", silent


def _entry(data: Any, where: str, level: Level[Any], units: UnitReader) -> GroundTruth[Any] | None:
    known = len(units.records.problems)
    for key in data if is_object(data) else ():
        told = _LEVELS_OF.get(key, (level.evaluation_type,))
        if level.evaluation_type not in told:
            units.records.problem(
                f"{where}.{key}",
                f"belongs to {' or '.join(told)} ground truth, this file is {level.evaluation_type}; keep one file an "
                "evaluation type, and name that in the head as evaluation_type",
            )
    if len(units.records.problems) > known:
        return None
    record = units.records.validate(_QUESTIONS[level.evaluation_type], data, where)
    if record is None:
        return None
    units.records.check_question(record.id, record.query, where)
    query = Query(QueryId(record.id), QueryText(record.query), {**record.metadata, **(record.model_extra or {})})
    return record.truth(query, units, where)
