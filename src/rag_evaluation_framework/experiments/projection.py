"""Reading spans as documents or chunks, when they are judged; the dataset stays what it is."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.naming import DocumentNames
from rag_evaluation_framework.ground_truth import (
    ChunkLevelGroundTruth,
    Dataset,
    DocumentLevelGroundTruth,
    renamed_gains,
)
from rag_evaluation_framework.ids import ChunkId, DocumentId
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import PositionAwareChunk


def project_to_documents(dataset: Dataset[CharacterSpan]) -> tuple[DocumentLevelGroundTruth, ...]:
    """Return, for each question, the documents in which its spans lie."""
    return tuple(
        DocumentLevelGroundTruth(entry.query, tuple(dict.fromkeys(span.doc_id for span in entry.relevant)))
        for entry in dataset
    )


def resolve_documents(dataset: Dataset[DocumentId], corpus: Corpus) -> tuple[DocumentLevelGroundTruth, ...]:
    """Return the ground truth with the ids of the corpus, where a document is called by its name or stem alone."""
    names = DocumentNames(corpus)

    def known(doc_id: DocumentId) -> DocumentId:
        return names.find(doc_id) or doc_id

    entries: Any = dataset.ground_truth
    return tuple(
        replace(
            entry,
            relevant_document_ids=tuple(map(known, entry.relevant_document_ids)),
            gains=renamed_gains(entry.query, entry.gains, known),
        )
        for entry in entries
    )


class ChunkProjection:
    """Reads spans as chunks.

    A chunk is relevant to a span if it holds at least half of the span, or half of the chunk lies in the span; if no
    chunk does, the one that holds the most, of equals the first. A span that no chunk touches cannot be retrieved; it
    counts as one relevant chunk that is not there.

    Attributes:
        unreachable: How many spans no chunk touches.
    """

    def __init__(self, chunks: Sequence[PositionAwareChunk], name: Callable[[PositionAwareChunk], ChunkId]) -> None:
        self.chunks, self.name = chunks, name
        self.unreachable = 0
        rows: dict[str, list[int]] = defaultdict(list)
        for row, chunk in enumerate(chunks):
            rows[chunk.doc_id].append(row)
        self.columns = {doc_id: self._column(numbers) for doc_id, numbers in rows.items()}

    def _column(self, rows: list[int]) -> NDArray[np.int64]:
        """Return number, start and end of chunks; shape (3, chunks)."""
        places = [(row, self.chunks[row].start, self.chunks[row].end) for row in rows]
        return np.array(places, dtype=np.int64).T

    def project(self, dataset: Dataset[CharacterSpan]) -> tuple[ChunkLevelGroundTruth, ...]:
        """Return, for each question, the chunks that hold its spans."""
        return tuple(
            ChunkLevelGroundTruth(
                entry.query, tuple(dict.fromkeys(chunk for span in entry.relevant for chunk in self._relevant(span)))
            )
            for entry in dataset
        )

    def _relevant(self, span: CharacterSpan) -> Iterator[ChunkId]:
        rows, starts, ends = self.columns.get(span.doc_id, np.zeros((3, 0), dtype=np.int64))
        shared = np.minimum(ends, span.end) - np.maximum(starts, span.start)
        if not (shared > 0).any():
            self.unreachable += 1
            yield ChunkId(f"{span.doc_id}[{span.start}:{span.end}], which no chunk holds")
            return
        relevant = (shared > 0) & ((2 * shared >= span.length()) | (2 * shared >= ends - starts))
        chosen = np.flatnonzero(relevant) if relevant.any() else np.array([shared.argmax()])
        for row in map(int, rows[chosen]):
            yield self.name(self.chunks[row])
