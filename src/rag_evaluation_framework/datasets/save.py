"""Saving datasets in the native format."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rag_evaluation_framework._support.files import write_new
from rag_evaluation_framework._support.records import problem_list, storable
from rag_evaluation_framework.data.dataset import Dataset, span_problem
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import (
    ChunkLevelGroundTruth,
    DocumentLevelGroundTruth,
    GroundTruth,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.datasets.native import SCHEMA_VERSION
from rag_evaluation_framework.errors import DatasetError

_CONTEXT = 32


def save_dataset(dataset: Dataset[Any], path: str | Path) -> Path:
    """Save a dataset of any level as JSON or JSONL, chosen by the file extension.

    If the dataset has a corpus, every span is saved with its text and 32 characters of context on either side, so that
    it can be found again after the document has changed.

    Returns:
        The path.

    Raises:
        DatasetError: The extension is neither `.json` nor `.jsonl`, the file exists, a label does not match the corpus,
            a question contains a lone surrogate, or the metadata cannot be written as JSON.
    """
    path = Path(path)
    problems = [f"question {entry.query.id!r}: {problem}" for entry in dataset for problem in _problems(entry, dataset)]
    if problems:
        raise DatasetError(problem_list(f"dataset {dataset.name!r}", problems))
    header = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_type": dataset.level.evaluation_type,
        "name": dataset.name,
        "corpus_hash": dataset.corpus_hash,
        **(
            {"chunking": dataset.chunking} if dataset.chunking or dataset.level.evaluation_type == "chunk-level" else {}
        ),
        "metadata": dict(dataset.metadata),
    }
    questions = [
        {
            "id": entry.query.id,
            "query": entry.query.text,
            **truth_record(entry, dataset.corpus),
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
        raise DatasetError(f"{path}: expected a file name ending in .json or .jsonl")
    write_new(path, text)
    return path


def truth_record(entry: GroundTruth[Any], corpus: Corpus | None) -> dict[str, Any]:
    """Return ground truth as a record: the ids or spans, with prefixes and gains if there are any.

    Raises:
        DatasetError: Files cannot represent this kind of ground truth.
    """
    if isinstance(entry, TokenLevelGroundTruth):
        return {"relevant_spans": [_span_record(span, corpus) for span in entry.relevant_spans]}
    if isinstance(entry, ChunkLevelGroundTruth):
        return {"relevant_chunk_ids": list(entry.relevant_chunk_ids), **_optional(gains=dict(entry.gains))}
    if isinstance(entry, DocumentLevelGroundTruth):
        return {
            "relevant_document_ids": list(entry.relevant_document_ids),
            **_optional(relevant_prefixes=list(entry.relevant_prefixes), gains=dict(entry.gains)),
        }
    raise DatasetError(f"question {entry.query.id!r}: {type(entry).__name__} cannot be saved to a file")


def _optional(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _problems(entry: GroundTruth[Any], dataset: Dataset[Any]) -> list[str]:
    problems: list[str] = []
    if not storable(f"{entry.query.id}{entry.query.text}"):
        problems.append("contains a lone surrogate, which cannot be written as UTF-8")
    if dataset.corpus is None:
        return problems
    if isinstance(entry, TokenLevelGroundTruth):
        problems += [problem for span in entry.relevant_spans if (problem := span_problem(span, dataset.corpus))]
    elif isinstance(entry, DocumentLevelGroundTruth):
        strangers = [doc_id for doc_id in entry.relevant_document_ids if doc_id not in dataset.corpus]
        problems += [f"the corpus has no document {doc_id!r}" for doc_id in strangers]
        problems += [
            f"no document in the corpus starts with {prefix!r}"
            for prefix in entry.relevant_prefixes
            if not any(document.id.startswith(prefix) for document in dataset.corpus)
        ]
    return problems


def _json(value: object, path: Path, indent: int | None = None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: the metadata cannot be written as JSON: {error}") from error


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
