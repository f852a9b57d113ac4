"""Saving datasets in the native format, once, or again and again while they grow."""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.files import checked_path, unfinished, write_new
from rag_evaluation_framework.base.outside import json_text, shown
from rag_evaluation_framework.base.records import Problems, storable
from rag_evaluation_framework.data import Dataset, GroundTruth, Query
from rag_evaluation_framework.datasets.native import SCHEMA_VERSION
from rag_evaluation_framework.datasets.texts import drop_texts, keep_texts
from rag_evaluation_framework.errors import DatasetError

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
    given: Any = dataset
    if not isinstance(given, Dataset):
        raise DatasetError(f"dataset={shown(given)}: expected a Dataset; load_dataset(path, corpus=...) reads one")
    path = checked_path(path)
    text = dataset_text(dataset, path)
    write_new(path, text)
    keep_texts(dataset, path)
    return path


def dataset_text(dataset: Dataset[Any], path: Path) -> str:
    """Return what the file of a dataset holds; its name tells which format that is.

    Raises:
        DatasetError: As for `save_dataset`.
    """
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
    if path.suffix == ".json":
        return _json({**header, "questions": questions}, path, indent=1) + "\n"
    if path.suffix == ".jsonl":
        rows: Iterable[object] = (header, *questions)
        return "".join(_json(row, path) + "\n" for row in rows)
    raise DatasetError(f"{path}: expected a file name ending in .json or .jsonl")


def _has_places(dataset: Dataset[Any]) -> bool:
    """Return whether an answer of a question that is scored has several places."""
    return any(entry.has_alternatives for entry in dataset)


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


# Saving a dataset again and again while it grows, in place of what its file held: whole or not at all.


def file_state(path: Path) -> str:
    """Return what tells a content of a file from any other; "" if there is no file.

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
        with unfinished(file.parent) as folder:
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
