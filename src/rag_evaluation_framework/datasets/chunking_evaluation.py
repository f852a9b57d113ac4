"""Question table of the public chunking evaluation: `question, references, corpus_id`."""

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..base.files import read_json_text
from ..base.outside import shown
from ..base.records import Problems
from ..data import TOKEN, CharacterSpan, Corpus, Dataset, Query, TokenLevelGroundTruth
from ..data.documents import DocumentResolver
from ..data.ids import DocumentId, QueryIds, QueryText
from ..errors import DatasetError

COLUMNS = {"question", "references", "corpus_id"}


def read_chunking_evaluation(
    header: list[str], rows: Iterable[tuple[int, list[str]]], path: Path, corpus: Corpus
) -> Dataset[CharacterSpan]:
    """Read the question table, from its header and its other rows, each with its line.

    `references` is a JSON list of `content`, `start_index` and `end_index` in code points. A question about a document
    that the corpus lacks is an error, and so is a reference that does not match its text.

    Raises:
        DatasetError: The table cannot be read; or lists every problem with its line.
    """
    resolver, ids = DocumentResolver(corpus), QueryIds()
    entries: list[TokenLevelGroundTruth] = []
    problems = Problems()
    for line, cells in rows:
        if cells:
            try:
                entries.append(_entry(dict(zip_longest(header, cells[: len(header)])), corpus, resolver, ids))
            except ValueError as error:
                problems.append(f"line {line}: {error}")
    if problems:
        raise DatasetError(problems.message(str(path)))
    return Dataset(entries, TOKEN, name=path.stem, corpus=corpus)


def _entry(row: dict[str, Any], corpus: Corpus, resolver: DocumentResolver, ids: QueryIds) -> TokenLevelGroundTruth:
    if not (row["question"] or "").strip() or row["references"] is None or row["corpus_id"] is None:
        raise DatasetError("a column is empty")
    doc_id = resolver.resolve(row["corpus_id"])
    references = read_json_text(row["references"], "references")
    if not isinstance(references, list):
        raise DatasetError(f"references: expected a JSON list, got {type(references).__name__}")
    query = Query(ids.of(row["question"]), QueryText(row["question"]), {"corpus_id": row["corpus_id"]})
    return TokenLevelGroundTruth(query, tuple(_span(reference, doc_id, corpus) for reference in references))


def _span(reference: Any, doc_id: DocumentId, corpus: Corpus) -> CharacterSpan:
    try:
        start, end, text = int(reference["start_index"]), int(reference["end_index"]), str(reference["content"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"references: expected content, start_index and end_index, got {shown(reference)}"
        ) from error
    content = corpus[doc_id].content
    if start < 0 or end - start != len(text) or not text or not content.startswith(text, start):
        raise DatasetError(
            f"references: {doc_id}[{start}:{end}] is {content[start : min(end, start + 40)]!r} in the document, but "
            f"{text[:40]!r} in the reference; offsets count code points of the file"
        )
    return CharacterSpan(doc_id, start, end, text)
