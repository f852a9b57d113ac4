"""The native dataset format: JSON or YAML (one object), and JSONL (a header line, then a question a line)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import FailFast, Field, StringConstraints
from pydantic.alias_generators import to_camel

from rag_evaluation_framework.base.files import Json, is_list, is_object
from rag_evaluation_framework.base.records import IGNORED, Record, RecordReader, as_list
from rag_evaluation_framework.data import (
    Corpus,
    Dataset,
    DocumentId,
    EvaluationType,
    GroundTruth,
    Query,
    QueryId,
    QueryText,
)
from rag_evaluation_framework.data.label_contexts import Anchor, Skipped, UniqueWith
from rag_evaluation_framework.data.levels import Level, check_level
from rag_evaluation_framework.datasets.labels import BESIDE_ANSWERS, Given, LabelReader, have_places
from rag_evaluation_framework.datasets.texts import texts_beside
from rag_evaluation_framework.errors import DatasetError

# Labels that could not be placed, as the native format lists them.


class _SkippedQuery(Record):
    id: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    metadata: dict[str, Any] = Field(default={})


class _Label(Record):
    doc_id: Annotated[str, Field(min_length=1)]
    start: Annotated[int, Field(ge=0)]
    before: str = ""
    after: str = ""
    unique_with: UniqueWith | None = None
    document: Annotated[str, StringConstraints(pattern="^([0-9a-f]{64})?$")] = ""
    was_in: list[str] = Field(default=[])
    times: Annotated[int, Field(ge=1)] = 1
    name_is_taken: bool = False
    answer: Annotated[int, Field(ge=0)] | None = None
    place: Annotated[int, Field(ge=0)] = 0
    beside: Annotated[int, Field(ge=1)] = 1
    among: Annotated[int, Field(ge=0)] = 0

    def of(self, skipped: Skipped) -> Skipped:
        """Return a skipped label with what it is found again by."""
        known = self.before, self.after, self.unique_with, self.document, tuple(self.was_in)
        anchor = Anchor(self.doc_id, self.start, skipped.quote, *known, self.times, self.name_is_taken)
        place = None if self.answer is None else (self.answer, self.place)
        return replace(skipped, anchor=anchor, place=place, beside=self.beside, among=self.among)


class _Skipped(Record):
    query: Any  # validated by itself, as what is unknown in it is kept
    quote: str
    reason: str
    label: Any = None  # by itself, as what is unknown in it is ignored


def read_skipped(items: list[Any], where: str, records: RecordReader, *, are_scored: bool = False) -> list[Skipped]:
    """Return the labels that a file lists, after recording what is wrong with them.

    Args:
        items: Their objects.
        where: Their place in the file.
        records: Collects problems.
        are_scored: Whether their questions are scored ones of the file, as of lost places.
    """
    labels: list[Skipped] = []
    wordings: dict[str, str] = {}
    for number, item in enumerate(items):
        place = f"{where}[{number}]"
        record = records.validate(_Skipped, item, place, unknown=IGNORED)
        query = None if record is None else records.validate(_SkippedQuery, record.query, f"{place}.query")
        if record is None or query is None:
            continue
        if query.id not in wordings and not are_scored:
            records.check_query(query.id, query.query, f"{place}.query")
        if wordings.setdefault(query.id, query.query) != query.query:
            records.problem(f"{place}.query.id", f"{query.id!r} is the id of two skipped questions; ids must be unique")
        metadata = {**query.metadata, **(query.model_extra or {})}
        skipped = Skipped(Query(QueryId(query.id), QueryText(query.query), metadata), record.quote, record.reason)
        label = None
        if record.label is not None:
            label = records.validate(_Label, record.label, f"{place}.label", unknown=IGNORED)
        labels.append(skipped if label is None else label.of(skipped))
    return labels


# The native dataset format: JSON or YAML (one object), and JSONL (a header line, then one question per line).

SCHEMA_VERSION = 2
"""The version of files in which an answer has several places; all others are of version 1."""

_Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class _QueryRecord(Record):
    id: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    metadata: dict[str, Any] = Field(default={})


class _DocumentQuery(_QueryRecord):
    relevant_document_ids: Any
    relevant_prefixes: Annotated[list[str], FailFast()] = Field(default=[])
    gains: Any = Field(default_factory=dict[str, Any])


class _ChunkQuery(_QueryRecord):
    relevant_chunk_ids: Any
    gains: Any = Field(default_factory=dict[str, Any])


class _TokenQuery(_QueryRecord):
    relevant_spans: list[Any]  # read one by one: of a million that are wrong, the library would keep every error


_LEVELS: dict[EvaluationType, tuple[type[_QueryRecord], Callable[..., GroundTruth[Any] | None]]] = {
    "document-level": (_DocumentQuery, LabelReader.document_level),
    "chunk-level": (_ChunkQuery, LabelReader.chunk_level),
    "token-level": (_TokenQuery, LabelReader.token_level),
}
"""The records of each level, and what makes its truth of the fields that only they have, in their order."""

_OWN_KEYS: dict[EvaluationType, list[str]] = {
    level: [key for key in kind.model_fields if key not in _QueryRecord.model_fields]
    for level, (kind, _) in _LEVELS.items()
}
_LEVELS_OF: dict[str, list[EvaluationType]] = {
    key: [level for level, keys in _OWN_KEYS.items() if name in keys]
    for name in chain.from_iterable(_OWN_KEYS.values())
    for key in (name, to_camel(name))
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
    lost_places: list[Any] = Field(default=[])


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
    if header is None and _version(first) not in range(1, SCHEMA_VERSION + 1):
        raise records.error()
    if header is not None:
        labels.hashed = header.texts.keys()
        labels.labelled_here = labels.corpus is not None and labels.corpus.content_hash == header.corpus_hash
    found, rows = _told(first, rows)
    if header is not None:
        check_level(str(path), found, level)
    elif found != level.evaluation_type:  # the questions cannot be judged by this level
        raise records.error()
    has_places = _version(first) == SCHEMA_VERSION
    entries = [_entry(data, where, level, labels, has_places) for where, data in rows]
    truth = [entry for entry in entries if entry is not None]
    skipped = [] if header is None else read_skipped(header.skipped, f"{where}.skipped", records)
    lost = [] if header is None else read_skipped(header.lost_places, f"{where}.lost_places", records, are_scored=True)
    lost = list(_of_answers(lost, truth, f"{where}.lost_places", records))
    if header is None or records.problems:
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
        recorded=labels.contexts(lost),
        texts={DocumentId(name): digest for name, digest in header.texts.items()},
        kept=texts_beside(path),
    )


def _of_answers(
    lost: Iterable[Skipped], truth: Iterable[GroundTruth[Any]], where: str, records: RecordReader
) -> Iterator[Skipped]:
    """Yield the labels of lost places whose question has as many answers as it had; the others are noted."""
    answers = {entry.query.id: len(entry.answers) for entry in truth}
    for label in lost:
        has = answers.get(label.query.id, 0)
        number = label.place[0] if label.place else 0
        if number + label.beside <= has and label.among in (0, has):
            yield label
        else:
            answered = f"{has} answer{'s' * (has != 1)}"
            had = f"where it had {label.among}" if label.among else f"and none of them is answer {number} (from 0)"
            what = f"question {label.query.id!r} has {answered}, {had}: which of them lost a place is not known"
            records.note("lost place", f"{where}: {what}; the entry is left out")


def _version(first: Any) -> object:
    return first.get("schema_version", first.get("schemaVersion")) if is_object(first) else None


def _told(first: Any, rows: Iterable[tuple[str, Any]]) -> tuple[EvaluationType, Iterable[tuple[str, Any]]]:
    """Return the evaluation type that the header names, valid or not, or else the questions; and all the questions."""
    for key in ("evaluationType", "evaluation_type"):
        if key in first:
            return first[key], rows
    return _inferred(rows)


def _inferred(rows: Iterable[tuple[str, Any]]) -> tuple[EvaluationType, Iterable[tuple[str, Any]]]:
    """Return the evaluation type of the first question with a label, else token level; and all the questions."""
    rest, silent = iter(rows), list[tuple[str, Any]]()
    for row in rest:
        silent.append(row)
        for key in row[1] if is_object(row[1]) else ():
            told = _LEVELS_OF.get(key, [])
            if len(told) == 1:
                return told[0], chain(silent, rest)
    return "token-level", silent


def _entry(data: Any, where: str, level: Level[Any], labels: LabelReader, has_places: bool) -> GroundTruth[Any] | None:
    known = len(labels.records.problems)
    for key in data if is_object(data) else ():
        told = _LEVELS_OF.get(key, [level.evaluation_type])
        if level.evaluation_type not in told:
            labels.records.problem(
                f"{where}.{key}",
                f"belongs to {' or '.join(told)} ground truth, but this file is {level.evaluation_type}; keep one file "
                "per evaluation type, and set evaluation_type in the header",
            )
    if len(labels.records.problems) > known:
        return None
    # In version 1 any other key `answers` is metadata.
    if not has_places and is_object(data) and have_places(data.get("answers")):
        labels.records.problem(f"{where}.answers", "answers with several places need schema_version 2 in the header")
        return None
    data, answers = _without_answers(data, where, level, labels.records) if has_places else (data, [])
    kind, truth = _LEVELS[level.evaluation_type]
    record = labels.records.validate(kind, data, where)
    if record is None:
        return None
    labels.records.check_query(record.id, record.query, where)
    query = Query(QueryId(record.id), QueryText(record.query), {**record.metadata, **(record.model_extra or {})})
    own = (Given(getattr(record, key), f"{where}.{key}") for key in _OWN_KEYS[level.evaluation_type])
    return truth(labels, query, *own, Given(answers, f"{where}.answers"))


def _without_answers(data: Any, where: str, level: Level[Any], records: RecordReader) -> tuple[Any, list[Any]]:
    """Return a question as files of version 1 have it, with nothing relevant, and its answers, if it has them."""
    if not is_object(data) or "answers" not in data:
        return data, []
    answers, key = data["answers"], _OWN_KEYS[level.evaluation_type][0]
    for other in (key, to_camel(key)):
        if other in data:
            records.problem(f"{where}.{other}", BESIDE_ANSWERS)
            return data, []
    listed = records.attempt(f"{where}.answers", as_list, answers, " of answers with their places")
    rest = {name: value for name, value in data.items() if name != "answers"}
    return {**rest, key: []}, listed or []
