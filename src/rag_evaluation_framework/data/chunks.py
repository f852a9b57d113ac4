"""Chunks: pieces of documents, with and without their position."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.data.ids import ChunkId, DocumentId, PositionAwareChunkId, generate_pa_chunk_id
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import FrozenDict, check_offsets, check_texts, freeze_metadata
from rag_evaluation_framework.errors import SpanError


@dataclass(frozen=True, slots=True)
class Chunk:
    """Chunk of a document, without its position.

    Attributes:
        id: `generate_chunk_id(content)` of the text as it was chunked; it stays where the text is rewritten.
        content: The text.
        doc_id: The document it was cut from.
        metadata: Anything else, for example `{"section": "Introduction"}`; a copy that cannot be changed.

    Raises:
        SpanError: A field is of another type.
    """

    id: ChunkId
    content: str
    doc_id: DocumentId
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not type(self.id) is type(self.content) is type(self.doc_id) is str:
            check_texts(self, SpanError, "id", "content", "doc_id")
        if type(self.metadata) is not FrozenDict:
            freeze_metadata(self, SpanError)


@dataclass(frozen=True, slots=True)
class PositionAwareChunk:
    """Chunk of a document with its position.

    Built-in chunkers keep `document.content[start:end] == content`. Of a chunker that tidies white space, the content
    is the chunker's own text, and the position that of the document's.

    Attributes:
        id: `generate_pa_chunk_id(content)` of the text as it was chunked; it stays where the text is rewritten. Equal
            texts share an id, so no store takes it for a key.
        content: The text.
        doc_id: The document it was cut from.
        start: First character, 0-based.
        end: One past the last character.
        metadata: Anything else, for example `{"section": "Introduction"}`; a copy that cannot be changed.

    Raises:
        SpanError: `start` is negative or after `end`, or a field is of another type.
    """

    id: PositionAwareChunkId
    content: str
    doc_id: DocumentId
    start: int
    end: int
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not (
            type(self.start) is type(self.end) is int
            and type(self.id) is type(self.content) is type(self.doc_id) is str
        ):
            check_texts(self, SpanError, "id", "content", "doc_id")
            check_offsets(self, SpanError)
        if type(self.metadata) is not FrozenDict:
            freeze_metadata(self, SpanError)
        if not 0 <= self.start <= self.end:
            raise SpanError(f"chunk [{self.start}:{self.end}] of {self.doc_id!r}: expected 0 <= start <= end")

    @classmethod
    def of(cls, document: Document, start: int, end: int) -> "PositionAwareChunk":
        """Return the chunk of a document from `start` up to, but not including, `end`.

        Raises:
            SpanError: `end` is past the end of the document, or `start` is negative or after `end`.
        """
        if end > len(document.content):
            raise SpanError(
                f"chunk [{start}:{end}] of {document.id!r} ends after the document's {len(document.content)} characters"
            )
        content = document.content[start:end]
        return cls(generate_pa_chunk_id(content), content, document.id, start, end)

    def to_span(self) -> CharacterSpan:
        """Return the chunk's position as a span, with its content as the text if that has the right length."""
        text = self.content if len(self.content) == self.end - self.start else ""
        return CharacterSpan(self.doc_id, self.start, self.end, text)


AnyChunk: TypeAlias = Chunk | PositionAwareChunk
"""Chunk as retrievers index it, stores keep it and rerankers order it: with its position, if that is known."""


def describe_chunk(chunk: AnyChunk) -> str:
    """Return a chunk as messages call it: by its position or, without one, by the beginning of its text."""
    if isinstance(chunk, PositionAwareChunk):
        return f"chunk [{chunk.start}:{chunk.end}] of {chunk.doc_id!r}"
    return f"chunk {chunk.content[:40]!r} of {chunk.doc_id!r}"
