"""The one door through which datasets come in."""

import csv
import io
from pathlib import Path

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.chunking_evaluation import COLUMNS, read_chunking_evaluation
from rag_evaluation_framework.datasets.files import read_text
from rag_evaluation_framework.datasets.native import is_native, json_lines, read_json, read_jsonl
from rag_evaluation_framework.datasets.quotes import dataset_from_quotes
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.ground_truth import Dataset
from rag_evaluation_framework.levels import TOKEN, Level
from rag_evaluation_framework.spans import CharacterSpan


def load_dataset(
    path: str | Path,
    level: Level[CharacterSpan] = TOKEN,
    *,
    corpus: Corpus | None = None,
    utf16_offsets: bool = False,
) -> Dataset[CharacterSpan]:
    """Read a dataset.

    Formats, told apart by their content: the native JSON and JSONL; CSV or JSONL of `question, quote[, document]`; the
    public chunking evaluation's CSV of `question, references, corpus_id`. The last two need the corpus.

    Args:
        path: The file.
        level: The evaluation type that is wanted.
        corpus: The documents that the dataset is about. With it, documents may be named by their stem alone.
        utf16_offsets: The offsets of a native file count UTF-16 units, as JavaScript does.

    Raises:
        DatasetError: The file cannot be used; the message names each problem and its place.
        LevelMismatch: The file holds another level than the one that is wanted.
    """
    if level is not TOKEN:
        raise LevelMismatch(f"{path}: a token-level dataset was read as {level.evaluation_type}")
    path = Path(path)
    dataset: Dataset[CharacterSpan]
    if path.suffix.lower() == ".json":
        dataset = read_json(path, corpus, utf16_offsets)
    elif path.suffix.lower() == ".jsonl":
        first = next(json_lines(path), None)
        if first is None:
            raise DatasetError(f"{path}: holds no questions")
        native = is_native(first[1])
        dataset = (
            read_jsonl(path, corpus, utf16_offsets) if native else dataset_from_quotes(path, _needed(corpus, path))
        )
    elif path.suffix.lower() in (".csv", ".tsv"):
        header = next(csv.reader(io.StringIO(read_text(path).partition("\n")[0])), ())
        reader = read_chunking_evaluation if set(header) >= COLUMNS else dataset_from_quotes
        dataset = reader(path, _needed(corpus, path))
    else:
        raise DatasetError(f"{path}: wanted a file that ends in .json, .jsonl or .csv")
    if not len(dataset):
        raise DatasetError(f"{path}: holds no questions")
    return dataset


def _needed(corpus: Corpus | None, path: Path) -> Corpus:
    if corpus is None:
        raise DatasetError(f"{path}: quotes are located in documents; pass corpus=Corpus.from_folder(...)")
    return corpus
