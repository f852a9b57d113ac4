"""Projection of relevant spans to relevant chunks, for evaluation at chunk level."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.chunks import AnyChunk, PositionAwareChunk
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ground_truth import ChunkLevelGroundTruth
from rag_evaluation_framework.data.ids import ChunkId
from rag_evaluation_framework.data.spans import CharacterSpan


class ChunkProjection:
    """Projects spans to chunks; the dataset itself stays as it is.

    A chunk is relevant to a span if it holds at least half of the span, or at least half of the chunk lies in the span;
    if no chunk does, the one that holds the most of it, the first of equals. A span that no chunk touches cannot be
    retrieved; it counts as one relevant chunk that does not exist. Chunks without a place hold no span.

    Attributes:
        unreachable: How many spans no chunk touches; of an answer with several places, only if it has none without.
        unplaced: How many chunks have no place.
    """

    def __init__(self, chunks: Sequence[AnyChunk], name: Callable[[AnyChunk], ChunkId]) -> None:
        self.chunks = [chunk for chunk in chunks if isinstance(chunk, PositionAwareChunk)]
        self.name = name
        self.unreachable = 0
        self.unplaced = len(chunks) - len(self.chunks)
        rows: dict[str, list[int]] = defaultdict(list)
        for row, chunk in enumerate(self.chunks):
            rows[chunk.doc_id].append(row)
        self.columns = {doc_id: self._column(numbers) for doc_id, numbers in rows.items()}

    def _column(self, rows: list[int]) -> NDArray[np.int64]:
        """Return number, start and end of chunks; shape (3, chunks)."""
        columns = [(row, self.chunks[row].start, self.chunks[row].end) for row in rows]
        return np.array(columns, dtype=np.int64).T

    def project(self, dataset: Dataset[CharacterSpan]) -> tuple[ChunkLevelGroundTruth, ...]:
        """Return, for each query, the chunks that hold its spans; a place of an answer needs those of all its spans."""
        return tuple(
            ChunkLevelGroundTruth(entry.query, tuple(map(self._projected, entry.answers))) for entry in dataset
        )

    def _projected(self, answer: Answer[CharacterSpan]) -> Answer[ChunkId]:
        places = [[(span, self._relevant(span)) for span in place] for place in answer.places]
        untouched = [sum(not chunks for _, chunks in place) for place in places]
        if all(untouched):
            self.unreachable += untouched[0]
        needed = ([chunk for span, chunks in place for chunk in chunks or [_nowhere(span)]] for place in places)
        return Answer(tuple(tuple(dict.fromkeys(chunks)) for chunks in needed))

    def _relevant(self, span: CharacterSpan) -> list[ChunkId]:
        rows, starts, ends = self.columns.get(span.doc_id, np.zeros((3, 0), dtype=np.int64))
        shared = np.minimum(ends, span.end) - np.maximum(starts, span.start)
        if not (shared > 0).any():
            return []
        relevant = (shared > 0) & ((2 * shared >= span.length()) | (2 * shared >= ends - starts))
        chosen = np.flatnonzero(relevant) if relevant.any() else np.array([shared.argmax()])
        return [self.name(self.chunks[row]) for row in map(int, rows[chosen])]


def _nowhere(span: CharacterSpan) -> ChunkId:
    return ChunkId(f"{span.doc_id}[{span.start}:{span.end}], which no chunk holds")
