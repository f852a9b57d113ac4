"""The native dataset format: JSON or YAML (one object), and JSONL (a header line, then a question a line)."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, TypeVar

from pydantic import FailFast, Field, StringConstraints
from pydantic.alias_generators import to_camel

from ..base.files import Json, checked_path, is_list, is_object, temporary_folder, write_new
from ..base.outside import json_text
from ..base.records import IGNORED, Problems, Record, RecordReader, storable
from ..data import CHUNK, Corpus, Dataset, DocumentId, EvaluationType, GroundTruth, Query, QueryId, QueryText
from ..data.dataset import Incomplete, Skipped, checked_dataset
from ..data.levels import Level, check_level
from ..data.spans import CharacterSpan
from ..errors import DatasetError
from .labels import BESIDE_ANSWERS, Given, LabelReader, SpanRecord, have_places
from .texts import drop_texts, keep_texts, texts_beside

# Questions whose labels are not in the documents, as the native format lists them.


class _Question(Record):
    id: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    metadata: dict[str, Any] = Field(default={})

    def as_query(self) -> Query:
        """Return the question; keys that are not known are metadata, too."""
        return Query(QueryId(self.id), QueryText(self.query), {**self.metadata, **(self.model_extra or {})})


class _Listed(Record):
    query: Any  # validated by itself, as what is unknown in it is kept


class _Skipped(_Listed):
    quote: str
    reason: str
    document: str = ""


class _Placed(SpanRecord):
    text_hash: Annotated[str, StringConstraints(pattern="^([0-9a-f]{64})?$")] | None = None

    def placed(self) -> CharacterSpan:
        return CharacterSpan(DocumentId(self.doc_id), self.start, self.end, self.text)


_Place = Annotated[list[_Placed], Field(min_length=1)]


class _Incomplete(_Listed):
    answers: Annotated[list[Annotated[list[_Place], Field(min_length=1)]], Field(min_length=1)]


ListedT = TypeVar("ListedT", bound=_Listed)


def _listed(
    kind: type[ListedT], items: list[Any], where: str, records: RecordReader
) -> Iterator[tuple[ListedT, Query, str]]:
    """Yield the records of a list with their questions and places, after recording what is wrong with them."""
    for number, item in enumerate(items):
        place = f"{where}[{number}]"
        record = records.validate(kind, item, place, unknown=IGNORED)
        question = None if record is None else records.validate(_Question, record.query, f"{place}.query")
        if record is not None and question is not None:
            if not question.query.strip():
                records.problem(f"{place}.query.query", "is blank")
            yield record, question.as_query(), place


def _read_incomplete(items: list[Any], where: str, records: RecordReader) -> Iterator[Incomplete]:
    """Yield the questions of which a label is not in the documents, after recording what is wrong with them."""
    for record, query, place in _listed(_Incomplete, items, where, records):
        answers = records.attempt(f"{place}.answers", _answers, record)
        if answers is None:
            continue
        question = Incomplete(query, answers)
        numbered = zip(question.labels(), chain.from_iterable(chain.from_iterable(record.answers)), strict=True)
        texts = {numbers: span.text_hash for (numbers, _), span in numbered if span.text_hash is not None}
        yield replace(question, texts=texts)


def _answers(record: _Incomplete) -> tuple[tuple[tuple[CharacterSpan, ...], ...], ...]:
    return tuple(tuple(tuple(span.placed() for span in spans) for spans in places) for places in record.answers)


# The native dataset format: JSON or YAML (one object), and JSONL (a header line, then one question per line).

SCHEMA_VERSION = 2
"""The version of files in which an answer has several places; all others are of version 1."""

_Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class _DocumentQuery(_Question):
    relevant_document_ids: Any
    relevant_prefixes: Annotated[list[str], FailFast()] = Field(default=[])
    gains: Any = Field(default_factory=dict[str, Any])


class _ChunkQuery(_Question):
    relevant_chunk_ids: Any
    gains: Any = Field(default_factory=dict[str, Any])


class _TokenQuery(_Question):
    relevant_spans: list[Any]  # read one by one: of a million that are wrong, the library would keep every error


_LEVELS: dict[EvaluationType, type[_Question]] = {
    "document-level": _DocumentQuery,
    "chunk-level": _ChunkQuery,
    "token-level": _TokenQuery,
}
_OWN_KEYS = {
    level: [key for key in kind.model_fields if key not in _Question.model_fields] for level, kind in _LEVELS.items()
}


class _Header(Record):
    schema_version: Literal[1, 2]
    evaluation_type: EvaluationType = "token-level"
    name: str = ""
    corpus_hash: str | None = None
    chunking: str | None = None
    metadata: dict[str, Any] = Field(default={})
    texts: dict[str, _Sha256] = Field(default={})
    skipped: list[Any] = Field(default=[])  # read one by one, as the questions are
    incomplete: list[Any] = Field(default=[])


def is_native(first: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether the object of a file, or the first line of a JSONL file, is a header of this format."""
    return isinstance(first, dict) and not {"schema_version", "schemaVersion"}.isdisjoint(first)


def read_native(
    first: dict[str, Any],
    where: str,
    lines: Iterable[tuple[str, Json]] | None,
    path: Path,
    level: Level[Any],
    corpus: Corpus | None = None,
    utf16_offsets: bool = False,
) -> Dataset[Any]:
    """Read a dataset.

    Args:
        first: The object of the file, or its header.
        where: The location of that.
        lines: The questions behind a header, each with its location; None if the object has them.
        path: The file.
        level: The level that is asked for.
        corpus: The documents.
        utf16_offsets: Whether offsets count UTF-16 units.

    Raises:
        DatasetError: Lists every problem with its location.
        LevelMismatch: The file has another level.
    """
    labels = LabelReader(RecordReader(str(path)), corpus, utf16_offsets)
    rows = lines
    if rows is None:
        queries = first.get("questions")
        if not is_list(queries):
            raise DatasetError(f"{path}: $.questions: expected a list of questions, got {type(queries).__name__}")
        rows = ((f"$.questions[{number}]", query) for number, query in enumerate(queries))
        first = {key: value for key, value in first.items() if key != "questions"}
    records = labels.records
    header = records.validate(_Header, first, where)
    if header is None:
        raise records.error()
    check_level(str(path), header.evaluation_type, level)
    labels.hashed = header.texts.keys()
    entries = [_entry(data, where, level, labels) for where, data in rows]
    truth = [entry for entry in entries if entry is not None]
    listed = _listed(_Skipped, header.skipped, f"{where}.skipped", records)
    skipped = [Skipped(query, record.quote, record.reason, record.document) for record, query, _ in listed]
    incomplete = [*_read_incomplete(header.incomplete, f"{where}.incomplete", records)]
    if records.problems:
        raise records.error()
    records.warn()
    metadata = {**header.metadata, **(header.model_extra or {})}
    return Dataset(
        truth,
        level,
        name=header.name or path.stem,
        corpus=labels.corpus,
        corpus_hash=header.corpus_hash,
        chunking=header.chunking,
        metadata=metadata,
        skipped=skipped,
        incomplete=incomplete,
        texts={DocumentId(name): digest for name, digest in header.texts.items()},
        kept=texts_beside(path),
    )


def _entry(data: Any, where: str, level: Level[Any], labels: LabelReader) -> GroundTruth[Any] | None:
    kind = _LEVELS[level.evaluation_type]
    key, *others = _OWN_KEYS[level.evaluation_type]
    answers = data.get("answers") if is_object(data) else None
    beside = {key, to_camel(key)} & data.keys() if is_object(data) else set[str]()
    if have_places(answers) or (answers == [] and not beside):
        if beside:
            labels.records.problem(f"{where}.{min(beside)}", BESIDE_ANSWERS)
            return None
        data = {name: value for name, value in data.items() if name != "answers"} | {key: list[Any]()}
    else:  # it is metadata
        answers = []
    record = labels.records.validate(kind, data, where)
    if record is None:
        return None
    labels.records.check_query(record.id, record.query, where)
    given, *more = (Given(getattr(record, name), f"{where}.{name}") for name in (key, *others))
    listed = Given(answers, f"{where}.answers")
    return labels.truth(level, record.as_query(), given, listed, **dict(zip(others, more, strict=True)))


# Saving datasets in the native format.


def save_dataset(dataset: Dataset[Any], path: str | Path) -> Path:
    """Save a dataset of any level as JSON or JSONL, chosen by the file extension.

    If the dataset knows the documents that were labelled, every span is saved with its text, every document with the
    hash of its text (`texts`), and the texts themselves in a folder beside the file, `questions.texts` for
    `questions.json`, so that labels can be followed after documents have changed. A dataset that was loaded keeps what
    its file had.

    Returns:
        The path.

    Raises:
        DatasetError: It is not a dataset, the extension is neither `.json` nor `.jsonl`, the file exists, a label does
            not match the corpus, a question contains a lone surrogate, or the metadata cannot be written as JSON.
    """
    path = checked_path(path)
    text = dataset_text(checked_dataset(dataset), path)
    if not path.exists():  # else it is refused
        keep_texts(dataset, path)  # before the file, which a process that is killed in between would leave without them
    write_new(path, text)
    return path


def dataset_text(dataset: Dataset[Any], path: Path) -> str:
    """Return the content of a dataset's file, in the format that its name selects.

    Raises:
        DatasetError: As for `save_dataset`.
    """
    skipped = {label.query.id: label.query for label in dataset.skipped}
    problems = Problems(
        f"{kind} {query.id!r}: contains a lone surrogate, which cannot be written as UTF-8"
        for kind, queries in (("question", dataset.queries), ("skipped question", skipped.values()))
        for query in queries
        if not storable(f"{query.id}{query.text}")
    )
    if dataset.corpus is not None:
        for entry in dataset:
            for problem in entry.problems(dataset.corpus):
                problems.append(f"question {entry.query.id!r}: {problem}")
    if problems:
        raise DatasetError(problems.message(f"dataset {dataset.name!r}"))
    header = {
        "schema_version": SCHEMA_VERSION if any(entry.has_alternatives for entry in dataset) else 1,
        "evaluation_type": dataset.level.evaluation_type,
        "name": dataset.name,
        "corpus_hash": dataset.corpus_hash,
        **({"chunking": dataset.chunking} if dataset.chunking or dataset.level is CHUNK else {}),
        "metadata": dict(dataset.metadata),
        **({"texts": dict(dataset.texts)} if dataset.texts else {}),
        **({"skipped": [label.record() for label in dataset.skipped]} if dataset.skipped else {}),
        **({"incomplete": [question.record() for question in dataset.incomplete]} if dataset.incomplete else {}),
    }
    questions = [
        {
            "id": entry.query.id,
            "query": entry.query.text,
            **entry.record(dataset.labelled_corpus),
            "metadata": dict(entry.query.metadata),
        }
        for entry in dataset
    ]
    if path.suffix.lower() == ".json":
        return _json({**header, "questions": questions}, path, indent=1) + "\n"
    if path.suffix.lower() == ".jsonl":
        rows: Iterable[object] = (header, *questions)
        return "".join(_json(row, path) + "\n" for row in rows)
    raise DatasetError(f"{path}: expected a file name ending in .json or .jsonl")


def _json(value: object, path: Path, indent: int | None = None) -> str:
    try:
        return json_text(value, indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: the metadata cannot be written as JSON: {error}") from error


# Saving a dataset again and again while it grows, in place of what its file held: whole or not at all.


def file_state(path: Path) -> str:
    """Return a fingerprint of the content of a file; "" if there is no file.

    Raises:
        DatasetError: It cannot be read.
    """
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error


def replace_dataset(dataset: Dataset[Any], path: Path, state: str) -> str:
    """Save a dataset in place of an earlier one, so that its file always holds one of the two.

    Of a symbolic link the file that it leads to is replaced. Its mode stays.

    Args:
        dataset: The dataset.
        path: Its file, `.json` or `.jsonl`; its folder is made if there is none.
        state: The `file_state` of the file when the earlier dataset was read or written.

    Returns:
        The new state.

    Raises:
        DatasetError: It cannot be saved, or somebody else has written the file since; then it stays as it is.
    """
    file = path.resolve() if path.is_symlink() else path
    try:
        with temporary_folder(file.parent) as folder:
            part = folder / path.name
            write_new(part, dataset_text(dataset, path))
            written = file_state(part)
            if file_state(file) not in (state, written):  # the second after an interrupt, which comes at any moment
                raise DatasetError(
                    f"{path}: was written by somebody else meanwhile, so it is left as it is; start again to go on "
                    "with what it holds now"
                )
            with suppress(FileNotFoundError):
                shutil.copymode(file, part)
            keep_texts(dataset, file)
            part.replace(file)
        drop_texts(file)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); give another file") from error
    return written
