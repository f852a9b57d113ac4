"""The question table of the public chunking evaluation: `question, references, corpus_id`."""

import csv
import io
from pathlib import Path
from typing import Any

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.naming import DocumentNames
from rag_evaluation_framework.datasets.records import problem_list
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.files import read_json_text, read_text
from rag_evaluation_framework.ground_truth import Dataset, TokenLevelGroundTruth
from rag_evaluation_framework.ids import DocumentId, QueryId, QueryText, generate_query_id
from rag_evaluation_framework.levels import TOKEN
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Query

COLUMNS = {"question", "references", "corpus_id"}


def read_chunking_evaluation(path: Path, corpus: Corpus) -> Dataset[CharacterSpan]:
    """Read the table; `references` is a JSON list of `content`, `start_index` and `end_index` in code points.

    Questions on corpora that are not at hand are an error, like a reference that does not match its text.

    Raises:
        DatasetError: With every problem and its line.
    """
    names = DocumentNames(corpus)
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    entries: list[TokenLevelGroundTruth] = []
    problems: list[str] = []
    line = reader.line_num + 2
    try:
        for row in reader:
            try:
                entries.append(_entry(row, corpus, names))
            except ValueError as error:
                problems.append(f"line {line}: {error}")
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"line {line}: {error}")
    if problems:
        raise DatasetError(problem_list(str(path), problems))
    return Dataset(entries, TOKEN, name=path.stem, corpus=corpus)


def _entry(row: dict[str, Any], corpus: Corpus, names: DocumentNames) -> TokenLevelGroundTruth:
    if not row["question"] or row["references"] is None or row["corpus_id"] is None:
        raise DatasetError("a column is empty")
    doc_id = names.resolve(row["corpus_id"])
    references = read_json_text(row["references"], "references")
    if not isinstance(references, list):
        raise DatasetError(f"references: wanted a JSON list, got {type(references).__name__}")
    query = Query(
        QueryId(generate_query_id(row["question"])), QueryText(row["question"]), {"corpus_id": row["corpus_id"]}
    )
    return TokenLevelGroundTruth(query, tuple(_span(reference, doc_id, corpus) for reference in references))


def _span(reference: Any, doc_id: DocumentId, corpus: Corpus) -> CharacterSpan:
    try:
        start, end, text = int(reference["start_index"]), int(reference["end_index"]), str(reference["content"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"references: wanted content, start_index and end_index, got {reference!r:.80}") from error
    if corpus[doc_id].content[start:end] != text or not text:
        raise DatasetError(
            f"references: {doc_id}[{start}:{end}] reads {corpus[doc_id].content[start:end][:40]!r}, the reference says "
            f"{text[:40]!r}; offsets count the code points of the file"
        )
    return CharacterSpan(doc_id, start, end, text)
