"""Dataset files whose documents were edited since: their spans found again by what the files keep of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from rag_evaluation_framework._support.files import (
    checked_path,
    is_list,
    is_object,
    json_lines,
    read_json_text,
    read_text,
)
from rag_evaluation_framework._support.records import Record, RecordT
from rag_evaluation_framework._support.strict_yaml import parse_yaml
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.datasets.labels import SpanRecord
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.labelling.anchors import Anchor
from rag_evaluation_framework.labelling.relabelling import Relabelled, relabel


class _Labels(Record):
    relevant_spans: list[Any] = Field(default=[])


class _Documents(Record):
    documents: dict[str, str] = Field(default={})


def load_relabelled(path: str | Path, corpus: Corpus) -> Relabelled:
    """Load a token-level dataset whose documents were edited since it was saved, and find its spans again.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: The file cannot be used.
        LevelMismatch: It is not token-level.
    """
    path = checked_path(path)
    dataset = load_dataset(path, TOKEN)
    header, questions = _content(path)
    anchors = {span: anchor for question in questions for span, anchor in _anchors(question)}
    return relabel(dataset, corpus, anchors, _documents(header))


def _content(path: Path) -> tuple[Any, list[Any]]:
    """Return the header and the questions of a native file, which has been found valid; of others there are none."""
    if path.suffix.lower() == ".jsonl":
        header, *rows = [value for _, value in json_lines(path)]
        return header, rows
    text = read_text(path)
    content: Any = read_json_text(text, str(path)) if path.suffix.lower() == ".json" else parse_yaml(text)
    questions = content.get("questions") if is_object(content) else None
    return content, questions if is_list(questions) else []


def _anchors(question: Any) -> Iterator[tuple[CharacterSpan, Anchor]]:
    """Yield the spans of a question with their anchors, but those of which the contexts cannot be used."""
    labels = _validated(_Labels, question)
    for item in labels.relevant_spans if labels else ():
        label = _validated(SpanRecord, item)
        if label is not None:
            span = CharacterSpan(DocumentId(label.doc_id), label.start, label.end, label.text)
            yield span, Anchor(span.doc_id, span.start, label.text, label.before, label.after, label.unique_with)


def _documents(header: Any) -> dict[str, str]:
    found = _validated(_Documents, header)
    return found.documents if found else {}


def _validated(record: type[RecordT], item: Any) -> RecordT | None:
    try:
        return record.model_validate(item)
    except ValidationError:
        return None
