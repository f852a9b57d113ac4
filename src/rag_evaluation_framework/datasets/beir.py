"""BEIR's folders: `queries.jsonl` with `qrels/*.tsv` beside it, at document level."""

from pathlib import Path
from typing import Any

from ..base.files import is_object, json_lines
from ..base.outside import first_of, shown
from ..base.records import RecordReader
from ..data import DOCUMENT, Corpus, Dataset, DocumentId, GroundTruth, Query
from ..data.ids import QueryId, QueryText
from ..errors import DatasetError
from .labels import Given, LabelReader
from .rankings import read_qrels

_QUERIES = "queries.jsonl"
_MOST_NAMED = 5


def beir_files(path: Path) -> tuple[Path, Path] | None:
    """Return the files of questions and of judgements that are meant by a path; None if it is not BEIR's.

    Args:
        path: The folder, its `queries.jsonl`, or one of its `qrels/*.tsv`.

    Raises:
        DatasetError: There are judgements of several splits, or none.
    """
    is_split = path.suffix == ".tsv" and path.parent.name == "qrels"
    folder = path.parents[1] if is_split else path.parent if path.name == _QUERIES else path
    queries, qrels = folder / _QUERIES, folder / "qrels"
    if not queries.is_file() or not (qrels.is_dir() and (is_split or path in (folder, queries))):
        return None
    splits = [path] if is_split else sorted(qrels.glob("*.tsv"))
    if len(splits) != 1:
        found = f"has {first_of([split.name for split in splits], _MOST_NAMED)}" if splits else "has no .tsv file"
        raise DatasetError(f"{qrels}: {found}; expected one split, or name it in place of {path}: {qrels / 'test.tsv'}")
    return queries, splits[0]


def read_beir(queries: Path, qrels: Path, corpus: Corpus | None) -> Dataset[DocumentId]:
    """Read the questions that have judgements, in the order of their file; gains are the scores above 0.

    Raises:
        DatasetError: A file cannot be read; a question is missing, or a document that the corpus does not have.
    """
    judged = read_qrels(qrels)
    records = RecordReader(str(qrels))
    labels = LabelReader(records, corpus)
    entries: list[GroundTruth[DocumentId] | None] = []
    for number, row in json_lines(queries):
        if not is_object(row) or not isinstance(row.get("_id"), str) or not isinstance(row.get("text"), str):
            raise DatasetError(f"{queries}: line {number}: expected an object with '_id' and 'text', got {shown(row)}")
        if row["_id"] in judged:
            metadata: Any = row.get("metadata") or {}
            query = Query(QueryId(row["_id"]), QueryText(row["text"]), metadata if is_object(metadata) else {})
            gains = {doc_id: gain for doc_id, gain in judged.pop(row["_id"]).items() if gain > 0}
            nothing, at = Given([], query.id), Given(gains, query.id)
            entries.append(labels.truth(DOCUMENT, query, at, nothing, Given({}, query.id), nothing))
    if judged:
        raise DatasetError(f"{qrels}: judges questions that {queries} does not have: {first_of(judged, _MOST_NAMED)}")
    if records.problems:
        raise records.error()
    name = f"{queries.parent.resolve().name}-{qrels.stem}"
    return Dataset([entry for entry in entries if entry is not None], DOCUMENT, name=name, corpus=corpus)
