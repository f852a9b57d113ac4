"""The native format, as JSON (one object) and JSONL (a header line, then one question a line)."""

import json
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, TypeVar

import numpy as np
from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.files import read_text, write_new
from rag_evaluation_framework.datasets.naming import DocumentNames
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.ground_truth import Dataset, TokenLevelGroundTruth, misplaced
from rag_evaluation_framework.ids import DocumentId, EvaluationType, QueryId, QueryText
from rag_evaluation_framework.levels import TOKEN
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.strict_json import parse_json
from rag_evaluation_framework.types import Json, Query

SCHEMA_VERSION = 1
_CONTEXT = 32
_MOST_PROBLEMS = 10


class _Record(BaseModel):
    # Unknown keys are kept; files of TypeScript tools write camelCase.
    model_config = ConfigDict(
        extra="allow", populate_by_name=True, strict=True, alias_generator=AliasGenerator(validation_alias=to_camel)
    )


_RecordT = TypeVar("_RecordT", bound=_Record)


class _Span(_Record):
    doc_id: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str = ""
    before: str = ""
    after: str = ""


class _Question(_Record):
    id: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    relevant_spans: list[_Span]
    metadata: dict[str, Any] = {}


class _Header(_Record):
    schema_version: Literal[1]
    evaluation_type: EvaluationType = "token-level"
    name: str = ""
    corpus_hash: str | None = None
    metadata: dict[str, Any] = {}


def is_native(first: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON file's object, or the first line of a JSONL file, is a header of this format."""
    return isinstance(first, dict) and not {"schema_version", "schemaVersion"}.isdisjoint(first)


def read_json(path: Path, corpus: Corpus | None, utf16_offsets: bool) -> Dataset[CharacterSpan]:
    """Read a dataset from one JSON object.

    Raises:
        DatasetError: With every problem and the JSON path at which it stands.
    """
    content = read_json_text(read_text(path), str(path))
    if not is_native(content):
        raise DatasetError(f"{path}: $.schema_version is missing; wanted a dataset file of version {SCHEMA_VERSION}")
    reader = _Reader(path, corpus, utf16_offsets)
    questions: Json = content.pop("questions", None)
    if not isinstance(questions, list):
        raise DatasetError(f"{path}: $.questions: wanted a list of questions, got {type(questions).__name__}")
    header = reader.validate(_Header, content, "$")
    entries = [reader.question(item, f"$.questions[{number}]") for number, item in enumerate(questions)]
    return reader.dataset(header, entries)


def read_jsonl(path: Path, corpus: Corpus | None, utf16_offsets: bool) -> Dataset[CharacterSpan]:
    """Read a dataset from a header line and one question a line, holding one line at a time.

    Raises:
        DatasetError: With every problem and the line at which it stands.
    """
    reader = _Reader(path, corpus, utf16_offsets)
    lines = json_lines(path)
    header = reader.validate(_Header, next(lines)[1], "line 1: $")
    return reader.dataset(header, [reader.question(item, f"line {number}: $") for number, item in lines])


def read_json_text(text: str, where: str) -> Json:
    """Return the value of a JSON text.

    Raises:
        DatasetError: It cannot be parsed.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise DatasetError(f"{where}: no valid JSON: {error}") from error


def json_lines(path: Path) -> Iterator[tuple[int, Json]]:
    """Yield the number and value of each line that is not blank.

    Raises:
        DatasetError: The file cannot be read, or a line is no UTF-8 or no JSON.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                where = f"{path}: line {number}"
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DatasetError(
                        f"{where}: no UTF-8 at byte {error.start} of it; save the file as UTF-8"
                    ) from error
                if text.strip():
                    yield number, read_json_text(text.strip(), where)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error


def save_dataset(dataset: Dataset[CharacterSpan], path: str | Path) -> Path:
    """Write a dataset, as `.json` or `.jsonl` by the ending of its name.

    If the dataset knows its corpus, every span is written with its text and 32 characters of context on either side,
    by which it can be found again when the document has changed.

    Returns:
        The path.

    Raises:
        DatasetError: The ending is neither, the file exists, a span does not match the corpus, or a question holds a
            lone surrogate.
    """
    path = Path(path)
    problems = [
        f"question {entry.query.id!r}: holds a lone surrogate, which no file of text can hold"
        for entry in dataset
        if not _storable(f"{entry.query.id}{entry.query.text}")
    ]
    problems += [
        f"question {entry.query.id!r}: {problem}"
        for entry in dataset
        for span in entry.relevant
        if dataset.corpus is not None and (problem := misplaced(span, dataset.corpus))
    ]
    if problems:
        raise DatasetError(problem_list(f"dataset {dataset.name!r}", problems))
    header = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_type": dataset.level.evaluation_type,
        "name": dataset.name,
        "corpus_hash": dataset.corpus_hash,
        "metadata": dict(dataset.metadata),
    }
    questions = [
        {
            "id": entry.query.id,
            "query": entry.query.text,
            "relevant_spans": [_span_record(span, dataset.corpus) for span in entry.relevant],
            "metadata": dict(entry.query.metadata),
        }
        for entry in dataset
    ]
    if path.suffix == ".json":
        text = _json({**header, "questions": questions}, path, indent=1) + "\n"
    elif path.suffix == ".jsonl":
        rows: Iterable[object] = (header, *questions)
        text = "".join(_json(row, path) + "\n" for row in rows)
    else:
        raise DatasetError(f"{path}: wanted a name that ends in .json or .jsonl")
    write_new(path, text)
    return path


def _json(value: object, path: Path, indent: int | None = None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{path}: the metadata cannot be written as JSON: {error}") from error


def _storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _span_record(span: CharacterSpan, corpus: Corpus | None) -> dict[str, Any]:
    record: dict[str, Any] = {"doc_id": span.doc_id, "start": span.start, "end": span.end}
    if corpus is None:
        return {**record, "text": span.text} if span.text else record
    content = corpus[span.doc_id].content
    return {
        **record,
        "text": content[span.start : span.end],
        "before": content[max(0, span.start - _CONTEXT) : span.start],
        "after": content[span.end : span.end + _CONTEXT],
    }


class _Reader:
    """Validates records, collecting problems, and turns them into ground truth."""

    def __init__(self, path: Path, corpus: Corpus | None, utf16_offsets: bool) -> None:
        if utf16_offsets and corpus is None:
            raise DatasetError(f"{path}: UTF-16 offsets can only be converted with the corpus; pass corpus=")
        self.path, self.corpus = path, corpus
        self.names = DocumentNames(corpus) if corpus is not None else None
        self.utf16 = _Utf16Offsets(corpus) if corpus is not None and utf16_offsets else None
        self.ids: set[str] = set()
        self.problems: list[str] = []
        self.unknown: dict[str, str] = {}

    def validate(self, model: type[_RecordT], data: Any, where: str) -> _RecordT | None:
        try:
            record = model.model_validate(data)
        except ValidationError as error:
            self.problems += [
                f"{where}{_json_path(item['loc'])}: {item['msg']}, got {item['input']!r:.60}" for item in error.errors()
            ]
            return None
        for key in record.model_extra or {}:
            self.unknown.setdefault(key, f"{where}: unknown key {key!r} is kept as metadata")
        return record

    def question(self, data: Any, where: str) -> TokenLevelGroundTruth | None:
        record = self.validate(_Question, data, where)
        if record is None:
            return None
        spans = [self.span(span, f"{where}.relevant_spans[{n}]") for n, span in enumerate(record.relevant_spans)]
        if not record.query.strip():
            self.problems.append(f"{where}.query: is blank")
        if record.id in self.ids:
            self.problems.append(f"{where}.id: {record.id!r} is the id of an earlier question; ids must be unique")
        self.ids.add(record.id)
        query = Query(QueryId(record.id), QueryText(record.query), {**record.metadata, **(record.model_extra or {})})
        return TokenLevelGroundTruth(query, tuple(span for span in spans if span is not None))

    def span(self, record: _Span, where: str) -> CharacterSpan | None:
        for key in record.model_extra or {}:
            self.unknown.setdefault(key, f"{where}: unknown key {key!r} is not kept")
        try:
            doc_id = DocumentId(record.doc_id) if self.names is None else self.names.resolve(record.doc_id)
            start, end = record.start, record.end
            if self.utf16 is not None:
                start, end = self.utf16.code_points(doc_id, start), self.utf16.code_points(doc_id, end)
            if start == end:
                raise DatasetError(f"{doc_id}[{start}:{end}] covers no text")
            return CharacterSpan(doc_id, start, end, record.text)
        except ValueError as error:
            self.problems.append(f"{where}: {error}")
            return None

    def dataset(self, header: _Header | None, entries: list[TokenLevelGroundTruth | None]) -> Dataset[CharacterSpan]:
        if self.problems or header is None:
            raise DatasetError(problem_list(str(self.path), self.problems))
        if header.evaluation_type != "token-level":
            raise DatasetError(
                f"{self.path}: $.evaluation_type is {header.evaluation_type!r}; this version reads token-level datasets"
            )
        for note in self.unknown.values():
            warnings.warn(f"{self.path}: {note}", stacklevel=2)
        return Dataset(
            [entry for entry in entries if entry is not None],
            TOKEN,
            name=header.name or self.path.stem,
            corpus=self.corpus,
            corpus_hash=header.corpus_hash,
            metadata={**header.metadata, **(header.model_extra or {})},
        )


def problem_list(source: str, problems: list[str]) -> str:
    """Return one message for several problems: one line if there is one, else a line each, the first ten."""
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    shown = "".join(f"\n  {problem}" for problem in problems[:_MOST_PROBLEMS])
    more = len(problems) - _MOST_PROBLEMS
    return f"{source}: {len(problems)} problems:{shown}" + (f"\n  … and {more} more" if more > 0 else "")


def _json_path(location: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)


class _Utf16Offsets:
    """Converts offsets that count UTF-16 units, as JavaScript does."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.tables: dict[str, np.ndarray[Any, np.dtype[np.int64]]] = {}

    def code_points(self, doc_id: DocumentId, offset: int) -> int:
        table = self.tables.get(doc_id)
        if table is None:
            codes = np.frombuffer(self.corpus[doc_id].content.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            table = self.tables[doc_id] = np.concatenate([[0], np.cumsum(1 + (codes > 0xFFFF))])
        place = int(np.searchsorted(table, offset))
        if place == len(table) or table[place] != offset:
            raise DatasetError(f"UTF-16 offset {offset} is no character boundary of {doc_id!r}")
        return place
