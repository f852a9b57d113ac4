"""Saving datasets in the native format."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from rag_evaluation_framework._outside import json_text, shown
from rag_evaluation_framework._support.files import checked_path, write_new
from rag_evaluation_framework._support.records import Problems, storable
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.datasets.label_records import label_records
from rag_evaluation_framework.datasets.native import SCHEMA_VERSION
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.anchors import known_documents


def save_dataset(dataset: Dataset[Any], path: str | Path) -> Path:
    """Save a dataset of any level as JSON or JSONL, chosen by the file extension.

    If the dataset knows the documents that were labelled, every span is saved with its text and 32 characters of
    context on either side, and every document that holds one with the hash of its text (`documents`), so that spans can
    be found again after documents have changed. A dataset that was loaded keeps what its file had.

    Returns:
        The path.

    Raises:
        DatasetError: It is not a dataset, the extension is neither `.json` nor `.jsonl`, the file exists, a label does
            not match the corpus, a question contains a lone surrogate, or the metadata cannot be written as JSON.
    """
    given: Any = dataset
    if not isinstance(given, Dataset):
        raise DatasetError(f"dataset={shown(given)}: expected a Dataset; load_dataset(path, corpus=...) reads one")
    path = checked_path(path)
    skipped = dict.fromkeys(label.query for label in dataset.skipped)
    problems = Problems(
        chain(
            (f"question {entry.query.id!r}: {text}" for entry in dataset for text in _problems(entry, dataset)),
            (f"skipped question {query.id!r}: {text}" for query in skipped for text in _unstorable(query)),
        )
    )
    if problems:
        raise DatasetError(problems.message(f"dataset {dataset.name!r}"))
    header = {
        "schema_version": SCHEMA_VERSION if _has_places(dataset) else 1,
        "evaluation_type": dataset.level.evaluation_type,
        "name": dataset.name,
        "corpus_hash": dataset.corpus_hash,
        **(
            {"chunking": dataset.chunking} if dataset.chunking or dataset.level.evaluation_type == "chunk-level" else {}
        ),
        "metadata": dict(dataset.metadata),
        **_documents(dataset),
        **({"skipped": [label.record() for label in dataset.skipped]} if dataset.skipped else {}),
        **({"lost_places": [label.record() for label in lost]} if (lost := dataset.contexts.lost) else {}),
    }
    questions = [
        {
            "id": entry.query.id,
            "query": entry.query.text,
            **labels,
            "metadata": dict(entry.query.metadata),
        }
        for entry, labels in zip(dataset, label_records(dataset), strict=True)
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


def _has_places(dataset: Dataset[Any]) -> bool:
    """Return whether an answer has several places, in a question that is scored or skipped."""
    labels = (*dataset.skipped, *dataset.contexts.lost)
    return any(entry.has_alternatives for entry in dataset) or any(label.place for label in labels)


def _documents(dataset: Dataset[Any]) -> dict[str, dict[str, str]]:
    """Return the hashes of the documents that hold spans, by which they are known again when they were renamed.

    And those of documents that have the text of one with a lost label: they had it already, and are no new place of it.
    """
    known = {str(doc_id): digest for doc_id, digest in dataset.contexts.documents.items()}
    corpus = dataset.labelled_corpus
    if corpus is not None:
        labels = (*dataset.skipped, *dataset.contexts.lost)
        lost = {label.anchor.document for label in labels if label.anchor is not None}
        twins = [str(document.id) for document in corpus if document.content_hash in lost]
        known = known_documents([*known, *twins], corpus)
    return {"documents": known} if known else {}


def _problems(entry: GroundTruth[Any], dataset: Dataset[Any]) -> list[str]:
    problems = _unstorable(entry.query)
    return problems if dataset.corpus is None else [*problems, *entry.problems(dataset.corpus)]


def _unstorable(query: Query) -> list[str]:
    known = storable(f"{query.id}{query.text}")
    return [] if known else ["contains a lone surrogate, which cannot be written as UTF-8"]


def _json(value: object, path: Path, indent: int | None = None) -> str:
    try:
        return json_text(value, indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: the metadata cannot be written as JSON: {error}") from error
