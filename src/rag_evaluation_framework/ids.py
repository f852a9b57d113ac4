"""Nominal identities: strings that a type checker keeps apart, and the content hashes that make chunk ids."""

from hashlib import sha256
from typing import Literal, NewType, TypeAlias

DocumentId = NewType("DocumentId", str)
"""A document of the corpus: the POSIX path relative to its folder, for example `"guides/rag_overview.md"`."""

ChunkId = NewType("ChunkId", str)
"""A chunk by its content: `chunk_` and 12 hexadecimal digits."""

PositionAwareChunkId = NewType("PositionAwareChunkId", str)
"""A chunk that knows its place, by its content: `pa_chunk_` and 12 hexadecimal digits."""

QueryId = NewType("QueryId", str)
"""A question, for example `"query_f47ac10b"`."""

QueryText = NewType("QueryText", str)
"""The wording of a question."""

RelevanceId: TypeAlias = DocumentId | ChunkId
"""What rank metrics compare: an identity, of whichever level."""

EvaluationType = Literal["document-level", "chunk-level", "token-level"]
"""Which unit an evaluation compares: documents, chunks or characters of text."""


def content_digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, 64 hexadecimal digits; a lone surrogate counts as its three bytes."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def generate_chunk_id(content: str) -> ChunkId:
    """Return `chunk_` and the first 12 hexadecimal digits of the content's SHA-256; same text, same id."""
    return ChunkId("chunk_" + content_digest(content)[:12])


def generate_pa_chunk_id(content: str) -> PositionAwareChunkId:
    """Return `pa_chunk_` and the first 12 hexadecimal digits of the content's SHA-256; same text, same id."""
    return PositionAwareChunkId("pa_chunk_" + content_digest(content)[:12])


def generate_query_id(text: str) -> QueryId:
    """Return `query_` and the first 8 hexadecimal digits of the question's SHA-256; same wording, same id."""
    return QueryId("query_" + content_digest(text)[:8])


def canonical_chunk_id(chunk_id: str) -> ChunkId:
    """Return the id under which chunk-level scoring knows a chunk: position-aware and plain ids are one chunk."""
    return ChunkId(chunk_id.removeprefix("pa_") if chunk_id.startswith("pa_chunk_") else chunk_id)
