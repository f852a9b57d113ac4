"""Loading a dataset from a file in any supported format."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Unpack, overload

from .. import base, labels
from ..adapt.question_exports import is_export
from ..base.files import Json, checked_path, json_lines, read_json_text, read_text
from ..base.notes import collect_notes
from ..base.outside import shown
from ..base.records import brief_repr
from ..base.tables import TABLES, read_rows
from ..data import CharacterSpan, ChunkRegistry, Dataset, count_skipped
from ..data.documents import Corpus, checked_corpus
from ..data.levels import CHUNK, DOCUMENT, TOKEN, Level, U, check_level, checked_level
from ..errors import DatasetError, LevelMismatch
from .beir import beir_files, read_beir
from .chunking_evaluation import COLUMNS, read_chunking_evaluation
from .langsmith_examples import ExampleOptions, ExampleReader, dataset_from_examples, is_example
from .native import is_native, read_native
from .retrieval_harness import Loader, is_harness, read_harness

_LARGEST_YAML = 20_000_000  # bytes


class LoadOptions(ExampleOptions, total=False):
    """Keywords of `load_dataset`."""

    loader: Loader | None
    allow_assets: bool
    columns: Mapping[str, str] | None


@overload
def load_dataset(path: str | Path, **options: Unpack[LoadOptions]) -> Dataset[CharacterSpan]: ...


@overload
def load_dataset(path: str | Path, level: Level[U], **options: Unpack[LoadOptions]) -> Dataset[U]: ...


def load_dataset(
    path: str | Path,
    level: Level[Any] = TOKEN,
    *,
    corpus: Corpus | None = None,
    utf16_offsets: bool = False,
    registry: ChunkRegistry | None = None,
    query_key: str | None = None,
    ground_truth_key: str | None = None,
    loader: Loader | None = None,
    allow_assets: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Dataset[Any]:
    """Load a dataset from a file; its format is recognised by its content.

    Formats: the native JSON, JSONL or YAML; datasets of the retrieval harness, version 1, in JSON or YAML; examples of
    `inputs` and `outputs` as LangSmith stores them, in JSON, JSONL or YAML; BEIR's folders; questions with quotes in a
    table, a sheet, JSON or JSONL, also as ragas, DeepEval, LlamaIndex and SQuAD write them; the public chunking
    evaluation's CSV of `question, references, corpus_id`. The last two need the corpus.

    Args:
        path: The file; of BEIR, its folder, `queries.jsonl`, or the one of several `qrels/*.tsv`.
        level: The evaluation type to load: `TOKEN`, `CHUNK` or `DOCUMENT`.
        corpus: The documents that the dataset refers to. With it, documents may be named by a part of their id, unless
            the file keeps hashes of them, or the texts around its spans.
        utf16_offsets: Whether span offsets count UTF-16 units, as in JavaScript.
        registry: Where position-aware chunks are in the documents, for examples that list chunk ids instead of spans.
        query_key: The key of `inputs` that holds the question; by default `query`, or the one that is usual for it.
        ground_truth_key: The key of `outputs` that holds the ground truth; by default any key known for the level.
        loader: What returns the text of a document of the retrieval harness that has a `loaderRef` in its place, such
            as `folder_loader("docs")`.
        allow_assets: Whether documents of the retrieval harness may have `assets`, which stay in their metadata: what
            reads them may fetch anything that they name.
        columns: What the columns of questions with quotes are called, as for `check_quotes`.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: The file cannot be used; the message names each problem and where it is.
        LevelMismatch: The file holds another level than the one asked for.
    """
    path, level = checked_path(path), checked_level(level)
    corpus = None if corpus is None else checked_corpus(corpus)
    ending = path.suffix.lower()
    beir = beir_files(path)
    dataset: Dataset[Any]
    if beir is not None:
        check_level(str(path), "document-level", level)
        dataset = read_beir(*beir, corpus)
    elif ending in (".txt", *TABLES):
        dataset = _read_quotes(path, level, corpus, columns)
    elif ending not in (".json", ".jsonl", ".yaml", ".yml"):
        raise DatasetError(
            f"{path}: expected a file name ending in .json, .jsonl or .csv (or .yaml, .yml, .tsv, .txt, .xlsx, .xlsm, "
            ".xls, .ods), or a folder of BEIR with queries.jsonl and qrels"
        )
    else:  # one value or a value per line; the first tells which format it is
        examples = ExampleReader(str(path), level, corpus, utf16_offsets, registry, query_key, ground_truth_key)
        (where, first), lines = _values(path)
        if is_native(first):
            dataset = read_native(first, where, lines, path, level, corpus, utf16_offsets)
        elif lines is not None and is_example(first):
            dataset = examples.dataset(chain([(where, first)], lines), path.stem)
        elif lines is None and isinstance(first, list) and (not first or any(map(is_example, first))):
            dataset = examples.dataset(((f"$[{number}]", item) for number, item in enumerate(first)), path.stem)
        elif lines is not None or is_export(first):
            dataset = _read_quotes(path, level, corpus, columns)
        elif is_harness(first):
            check_level(str(path), "document-level", level)
            dataset = read_harness(first, path, corpus, loader, allow_assets=allow_assets)
        else:
            raise DatasetError(f"{path}: {_no_dataset(first)}")
    if skipped := 0 if len(dataset) else count_skipped(dataset.skipped):
        are = "is" if skipped == 1 else "are"
        raise DatasetError(f"{path}: no question has a label yet: {skipped} {are} skipped; `rag-eval label` goes on")
    if not len(dataset):
        raise DatasetError(f"{path}: holds no questions")
    return dataset


def load_at_its_level(path: str | Path, **options: Unpack[LoadOptions]) -> Dataset[Any]:
    """Load a dataset at the level that its file has, as `load_dataset` does."""
    for level in (TOKEN, CHUNK):
        with suppress(LevelMismatch):
            return load_dataset(path, level, **options)
    return load_dataset(path, DOCUMENT, **options)


def questions_of(
    given: Any, corpus: Corpus | None, level: Level[U], columns: Mapping[str, str] | None = None
) -> Dataset[U]:
    """Return the dataset of whatever holds questions.

    Args:
        given: A `Dataset`, which is returned; a path, as for `load_dataset`; a list of dicts, a data frame, or an
            object of ragas, DeepEval or LlamaIndex, as for `check_quotes`; examples of LangSmith.
        corpus: The documents; quotes are located in them.
        level: The evaluation type.
        columns: What columns are called, as for `check_quotes`.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: It holds no questions, or they cannot be used.
        LevelMismatch: They have another level.
    """
    found: Any = given
    if isinstance(given, str | os.PathLike):
        return load_dataset(Path(found), level, corpus=corpus, columns=columns)
    if isinstance(given, Sequence) and given and all(map(is_example, found)):
        return dataset_from_examples(found, level, corpus=corpus)
    if not isinstance(given, Dataset):
        check_level("questions", "token-level", level)
        found = labels.dataset_from_quotes(given, _needed(corpus, f"questions={shown(found, 60)}"), columns)
    dataset: Dataset[U] = found
    return dataset


def load_unfinished(path: Path) -> Dataset[CharacterSpan]:
    """Load a native token-level dataset, of which no question need be labelled yet.

    Raises:
        DatasetError: The file is not a native `.json` or `.jsonl` file, or cannot be used.
        LevelMismatch: It holds another level.
    """
    if checked_path(path).suffix.lower() in (".json", ".jsonl"):
        (where, first), lines = _values(path)
        if is_native(first):
            return read_native(first, where, lines, path, TOKEN)
    raise DatasetError(
        f"{path}: expected a dataset as `rag-eval init` and `rag-eval label` write it, .json or .jsonl with "
        "schema_version; load_dataset reads other formats, and save_dataset writes this one"
    )


def _values(path: Path) -> tuple[tuple[str, Json], Iterator[tuple[str, Json]] | None]:
    """Return the first value of a file and, of one with a value per line, the others; each with its location."""
    ending = path.suffix.lower()
    if ending == ".json":
        return ("$", read_json_text(read_text(path), str(path))), None
    if ending != ".jsonl":
        text = read_text(path, most=_LARGEST_YAML, remedy="save it as JSON, which is read a hundred times as fast")
        try:
            return ("$", base.parse_yaml(text)), None
        except ValueError as error:
            raise DatasetError(f"{path}: cannot be parsed: {error}") from error
    lines = ((f"line {number}: $", value) for number, value in json_lines(path))
    first = next(lines, None)
    if first is None:
        raise DatasetError(f"{path}: holds no questions")
    return first, lines


def _read_quotes(
    path: Path, level: Level[Any], corpus: Corpus | None, columns: Mapping[str, str] | None
) -> Dataset[CharacterSpan]:
    check_level(str(path), "token-level", level)
    if path.suffix.lower() == ".csv":
        with collect_notes():  # the reader of quotes says it again
            rows = read_rows(path)
            _, header = next(rows, (1, list[str]()))
        if set(header) >= COLUMNS:
            return read_chunking_evaluation(header, rows, path, _needed(corpus, path))
    return labels.dataset_from_quotes(path, _needed(corpus, path), columns)


def _needed(corpus: Corpus | None, path: Path | str) -> Corpus:
    if corpus is None:
        raise DatasetError(
            f"{path}: quotes have to be located in the documents; pass evaluate(..., documents='path'), elsewhere "
            "corpus=Corpus.of('path'), on the command line --corpus"
        )
    return corpus


def _no_dataset(content: Json) -> str:
    expected = (
        "expected an object with `schema_version` and `questions`, an object with `version` and `queries` (a harness "
        "dataset), or a list of objects with `inputs` and `outputs`"
    )
    if isinstance(content, dict) and "results" in content:
        return f"is the report of a run, not a dataset; {expected}"
    if isinstance(content, dict) and "questions" in content:
        return f"$.schema_version is missing; {expected}"
    got = f"an object with {', '.join(content) or 'nothing'}" if isinstance(content, dict) else brief_repr(content)
    return f"is not a dataset: {expected}; got {got:.80}"
