"""Ids: distinct string types for type checkers, and chunk and query ids made from content hashes."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, NewType, TypeAlias
from unicodedata import normalize

from ..base.outside import shown
from ..errors import InputError

DocumentId = NewType("DocumentId", str)
"""Id of a document: its POSIX path relative to the corpus folder, for example `"guides/rag_overview.md"`."""

ChunkId = NewType("ChunkId", str)
"""Id of a chunk, made from its content: `chunk_` and 12 hexadecimal digits."""

PositionAwareChunkId = NewType("PositionAwareChunkId", str)
"""Id of a position-aware chunk, made from its content: `pa_chunk_` and 12 hexadecimal digits."""

QueryId = NewType("QueryId", str)
"""Id of a question, for example `"query_f47ac10b"`."""

QueryText = NewType("QueryText", str)
"""The wording of a question."""

RelevanceId: TypeAlias = DocumentId | ChunkId
"""The ids that rank metrics compare: documents or chunks."""

EvaluationType = Literal["document-level", "chunk-level", "token-level"]
"""Which unit an evaluation compares: documents, chunks or characters of text."""

_QUERY_DIGITS = (8, 16, 64)  # of 10,000 questions two share 8 digits in 1 % of all cases, of 100,000 in 69 %
_FROM_CONTENT = re.compile(r"(?:pa_)?chunk_[0-9a-f]{12}")


def content_digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, 64 hexadecimal digits; a lone surrogate counts as its three bytes.

    Raises:
        InputError: It is not a text.
    """
    try:
        data = text.encode("utf-8", "surrogatepass")
    except AttributeError:
        raise InputError(f"expected a text to make an id from, got {shown(text)}") from None
    return sha256(data).hexdigest()


def generate_chunk_id(content: str) -> ChunkId:
    """Return `chunk_` and the first 12 hexadecimal digits of the content's SHA-256; same text, same id."""
    return ChunkId("chunk_" + content_digest(content)[:12])


def generate_pa_chunk_id(content: str) -> PositionAwareChunkId:
    """Return `pa_chunk_` and the first 12 hexadecimal digits of the content's SHA-256; same text, same id."""
    return PositionAwareChunkId("pa_chunk_" + content_digest(content)[:12])


def generate_query_id(text: str) -> QueryId:
    """Return `query_` and the first 8 hexadecimal digits of the question's SHA-256; same wording, same id."""
    return QueryId(f"query_{content_digest(text)[: _QUERY_DIGITS[0]]}")


class QueryIds:
    """Generated ids of questions, no two of which are equal: of two wordings that share one, the later has a longer id.

    It has 16 hexadecimal digits of the wording's SHA-256, or all 64. The first keeps its 8, so that questions that are
    added change no id.

    Args:
        taken: Ids that are in use, each with its wording. A wording that has one of its generated ids there keeps it.
    """

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        self._wordings = dict(taken or {})

    def of(self, text: str) -> QueryId:
        """Return the id of a wording; the same as before for the same wording."""
        digest = content_digest(text)
        possible = [QueryId(f"query_{digest[:digits]}") for digits in _QUERY_DIGITS]
        for query_id in possible:
            if self._wordings.get(query_id) == text:
                return query_id
        free = next((query_id for query_id in possible if query_id not in self._wordings), possible[-1])
        self._wordings.setdefault(free, text)
        return free


def canonical_document_id(name: str) -> DocumentId:
    """Return the id of a document in NFC: macOS may name files with accents apart, and datasets write them whole."""
    return DocumentId(name if name.isascii() else normalize("NFC", name))


def canonical_chunk_id(chunk_id: str) -> ChunkId:
    """Return the plain form of a chunk id, under which chunk-level scoring compares chunks."""
    return ChunkId(chunk_id.removeprefix("pa_") if chunk_id.startswith("pa_chunk_") else chunk_id)


def is_from_content(chunk_id: str | None) -> bool:
    """Return whether an id has the form of those that are made from a chunk's content."""
    return chunk_id is not None and _FROM_CONTENT.fullmatch(chunk_id) is not None
