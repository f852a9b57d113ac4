"""The words of the framework in one place: everything a caller needs to name the data that flows through it."""

from rag_evaluation_framework.data.chunks import Chunk, PositionAwareChunk
from rag_evaluation_framework.data.documents import Corpus, Document
from rag_evaluation_framework.data.hits import Hit, Ranking, Retrieval, Stage
from rag_evaluation_framework.data.ids import (
    ChunkId,
    DocumentId,
    EvaluationType,
    PositionAwareChunkId,
    QueryId,
    QueryText,
    RelevanceId,
)
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan

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
