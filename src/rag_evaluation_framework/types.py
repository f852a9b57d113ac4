"""The words of the framework in one place: everything a caller needs to name the data that flows through it."""

from .data import CharacterSpan, Chunk, Corpus, Document, PositionAwareChunk, Query
from .data.hits import Hit, Ranking, Retrieval, Stage
from .data.ids import ChunkId, DocumentId, EvaluationType, PositionAwareChunkId, QueryId, QueryText, RelevanceId

__all__ = [
    "CharacterSpan",
    "Chunk",
    "ChunkId",
    "Corpus",
    "Document",
    "DocumentId",
    "EvaluationType",
    "Hit",
    "PositionAwareChunk",
    "PositionAwareChunkId",
    "Query",
    "QueryId",
    "QueryText",
    "Ranking",
    "RelevanceId",
    "Retrieval",
    "Stage",
]
