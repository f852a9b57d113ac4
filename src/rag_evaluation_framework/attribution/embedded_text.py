"""What embedders read of chunks: of a long one only the beginning."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.contracts.embedder import Embedder, truncation_flags
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.chunks import AnyChunk, PositionAwareChunk
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans
from rag_evaluation_framework.retrievers.hybrid import HybridRetriever
from rag_evaluation_framework.retrievers.reranked import RerankedRetriever
from rag_evaluation_framework.retrievers.vector_rag import VectorRAGRetriever


@dataclass(frozen=True)
class _Embedding:
    """Chunks, and what embeds them."""

    chunks: Sequence[AnyChunk]
    embedder: Embedder


def unread_text(retriever: Retriever, sought: Iterable[CharacterSpan]) -> list[CharacterSpan]:
    """Return the parts of documents that are in chunks, but behind what the embedder reads of each of these.

    Where another retriever of a hybrid reads whole chunks there are none.

    Args:
        retriever: Has indexed the corpus.
        sought: The text that is of interest; chunks elsewhere are not looked at.
    """
    known = [*_embeddings(retriever)]
    embeddings = [embedding for embedding in known if embedding is not None]
    if len(embeddings) < len(known):
        return []
    wanted = _by_document(merge_overlapping_spans(sought))
    whole: list[CharacterSpan] = []
    read: list[CharacterSpan] = []
    for embedding in embeddings:
        chunks = [
            chunk
            for chunk in embedding.chunks
            if isinstance(chunk, PositionAwareChunk)
            and any(span.start < chunk.end and chunk.start < span.end for span in wanted.get(chunk.doc_id, ()))
        ]
        lengths = read_lengths(embedding.embedder, [chunk.content for chunk in chunks]).tolist()
        for chunk, length in zip(chunks, lengths, strict=True):
            whole.append(CharacterSpan(chunk.doc_id, chunk.start, chunk.end))
            end = chunk.end if length >= len(chunk.content) else min(chunk.start + length, chunk.end)
            read.append(CharacterSpan(chunk.doc_id, chunk.start, end))
    return uncovered(merge_overlapping_spans(whole), merge_overlapping_spans(read))


def read_lengths(embedder: Embedder, texts: Sequence[str]) -> Integers:
    """Return how many characters an embedder reads of each text: of the longest beginning that it does not truncate.

    It is found by halving, as embedders tell only whether they truncate a text; shape (len(texts),).
    """
    most = np.array([*map(len, texts)], dtype=np.int64)
    low = np.where(truncation_flags(embedder, texts), 0, most)
    high = most.copy()
    while len(rows := np.flatnonzero(high - low > 1)):
        middle = (low[rows] + high[rows]) // 2
        cut = truncation_flags(embedder, [texts[row][:end] for row, end in zip(rows.tolist(), middle, strict=True)])
        high[rows[cut]] = middle[cut]
        low[rows[~cut]] = middle[~cut]
    return low


def _embeddings(retriever: Retriever) -> Iterator[_Embedding | None]:
    """Yield what embeds the chunks of every retriever in a pipeline; None for one that reads whole chunks."""
    if isinstance(retriever, RerankedRetriever):
        yield from _embeddings(retriever.retriever)
    elif isinstance(retriever, HybridRetriever):
        for number, inner in enumerate(retriever.retrievers):
            if retriever.weights is None or retriever.weights[number]:
                yield from _embeddings(inner)
    elif isinstance(retriever, VectorRAGRetriever):
        yield _Embedding(retriever.chunks(), retriever.embedder)
    else:
        yield None


def _by_document(spans: Iterable[CharacterSpan]) -> dict[str, list[CharacterSpan]]:
    found: dict[str, list[CharacterSpan]] = {}
    for span in spans:
        found.setdefault(span.doc_id, []).append(span)
    return found


def uncovered(spans: Sequence[CharacterSpan], others: Sequence[CharacterSpan]) -> list[CharacterSpan]:
    """Return what spans cover that others do not; both are merged."""
    taken, left = _by_document(others), list[CharacterSpan]()
    for span in spans:
        begin = span.start
        for other in taken.get(span.doc_id, ()):
            if other.end <= begin or other.start >= span.end:
                continue
            if other.start > begin:
                left.append(CharacterSpan(span.doc_id, begin, other.start))
            begin = max(begin, other.end)
        if begin < span.end:
            left.append(CharacterSpan(span.doc_id, begin, span.end))
    return left
