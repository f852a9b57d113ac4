"""The words of the framework: what flows from the corpus to the judge.

Everything a caller needs to name is importable from here, identities and spans included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rag_evaluation_framework.corpus import Corpus, Document
from rag_evaluation_framework.errors import SpanError
from rag_evaluation_framework.ids import (
    ChunkId,
    DocumentId,
    EvaluationType,
    PositionAwareChunkId,
    QueryId,
    QueryText,
    RelevanceId,
    generate_pa_chunk_id,
    generate_query_id,
)
from rag_evaluation_framework.spans import CharacterSpan

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


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document, without its place.

    Attributes:
        id: `generate_chunk_id(content)`.
        content: The text.
        doc_id: The document it was cut from.
        metadata: Anything else, for example `{"section": "Introduction"}`.
    """

    id: ChunkId
    content: str
    doc_id: DocumentId
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)


@dataclass(frozen=True, slots=True)
class PositionAwareChunk:
    """A piece of a document that knows its place: `document.content[start:end] == content`.

    Attributes:
        id: `generate_pa_chunk_id(content)`; equal texts share an id, so storage is keyed by place.
        content: The text.
        doc_id: The document it was cut from.
        start: First character, 0-based.
        end: One past the last character.
        metadata: Anything else, for example `{"section": "Introduction"}`.

    Raises:
        SpanError: `start` is negative or after `end`.
    """

    id: PositionAwareChunkId
    content: str
    doc_id: DocumentId
    start: int
    end: int
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise SpanError(f"chunk [{self.start}:{self.end}] of {self.doc_id!r}: wanted 0 <= start <= end")

    @classmethod
    def of(cls, document: Document, start: int, end: int) -> "PositionAwareChunk":
        """Cut the characters `start` to `end` out of a document.

        Raises:
            SpanError: The document is shorter than that, or `start` is negative or after `end`.
        """
        if end > len(document.content):
            raise SpanError(
                f"chunk [{start}:{end}] of {document.id!r} ends after the document's {len(document.content)} characters"
            )
        content = document.content[start:end]
        return cls(generate_pa_chunk_id(content), content, document.id, start, end)

    def to_span(self) -> CharacterSpan:
        """Return the place, with the chunk's content as its text where that still is the text of the place."""
        text = self.content if len(self.content) == self.end - self.start else ""
        return CharacterSpan(self.doc_id, self.start, self.end, text)


@dataclass(frozen=True, slots=True)
class Query:
    """A question.

    Attributes:
        id: Unique in its dataset.
        text: The wording that is given to the retriever.
        metadata: Anything else, for example `{"tags": ["billing"]}`.
    """

    id: QueryId
    text: QueryText
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @classmethod
    def from_text(cls, text: str) -> "Query":
        """Return a question whose id follows from its wording."""
        return cls(generate_query_id(text), QueryText(text))


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked result, as far as the retriever tells what it found.

    Attributes:
        doc_id: The document, or None if unknown.
        start: First character in the document, or None if unknown.
        end: One past the last character, or None if unknown.
        chunk_id: The chunk's identity, or None.
        text: What was retrieved, or None.
        score: The retriever's own score, higher is better, or None.
    """

    doc_id: DocumentId | None = None
    start: int | None = None
    end: int | None = None
    chunk_id: str | None = None
    text: str | None = None
    score: float | None = None

    @classmethod
    def of(cls, chunk: PositionAwareChunk, score: float | None = None) -> "Hit":
        """Return a chunk as a complete hit."""
        return cls(chunk.doc_id, chunk.start, chunk.end, chunk.id, chunk.content, score)

    @property
    def span(self) -> CharacterSpan | None:
        """The place in the corpus, or None if the hit is not located."""
        if self.doc_id is None or self.start is None or self.end is None:
            return None
        return CharacterSpan(self.doc_id, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a retrieval, such as `embed`, `search` or `rerank`.

    Attributes:
        name: What the step does.
        seconds: Its duration on a monotonic clock.
        hits: The ranking after the step, where it has one of its own that differs from the final one.
    """

    name: str
    seconds: float
    hits: tuple[Hit, ...] | None = None


Ranking: TypeAlias = tuple[Hit, ...]
"""Hits, best first. The order of the list is the rank; scores never re-order it."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The ranking for one question, with the steps that led to it.

    Attributes:
        hits: Best first.
        stages: In the order in which they ran.
    """

    hits: Ranking
    stages: tuple[Stage, ...] = ()


Retrieved: TypeAlias = Retrieval | Sequence[PositionAwareChunk] | Sequence[Hit]
"""What a retriever may return: the full record, or just its ranked chunks or hits."""

Json: TypeAlias = dict[str, Any] | list[Any] | str | float | None
"""What a JSON text can hold."""
