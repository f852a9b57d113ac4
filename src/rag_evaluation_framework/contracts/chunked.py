"""What a chunker may return, and how it is read as chunks of a document."""

from collections.abc import Mapping, Set
from typing import Any

from rag_evaluation_framework._outside import one_line, shown
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.data.plain import all_chunks, gives_items, plain_text
from rag_evaluation_framework.errors import InputError


def as_texts(returned: Any, source: str, text: str) -> list[str]:
    """Read what a chunker made of a text: its pieces, in reading order, as plain ones.

    Raises:
        InputError: It is not a list of texts, or has no end.
    """
    if gives_items(returned, str, Mapping, Set):
        pieces: list[Any] | None = all_chunks(returned, len(text), source)
        if pieces is None:
            raise InputError(
                f"{source} returned more texts than the document has characters; expected a list that has an end"
            )
        if all(isinstance(piece, str) for piece in pieces):
            return [*map(plain_text, pieces)]
    raise InputError(f"{source} returned {one_line(shown(returned))}; expected a list of texts, in reading order")


def as_placed(returned: Any, source: str, document: Document) -> list[PositionAwareChunk]:
    """Read what a chunker that knows places made of a document.

    Raises:
        InputError: They are not chunks of this document, or have no end.
    """
    if not gives_items(returned, str, Mapping):
        raise InputError(
            f"{source} returned {one_line(shown(returned))} for {document.id!r}; expected a list of chunks"
        )
    chunks: list[Any] | None = all_chunks(returned, len(document.content), source)
    if chunks is None:
        raise InputError(
            f"{source} made more chunks of {document.id!r} than it has characters; expected a list that has an end"
        )
    for chunk in chunks:
        if not _is_of(document, chunk):
            raise InputError(
                f"{source} made {one_line(shown(chunk))} of {document.id!r}; expected chunks of the document that it "
                "was given"
            )
    return chunks


def _is_of(document: Document, chunk: Any) -> bool:
    return isinstance(chunk, PositionAwareChunk) and chunk.doc_id == document.id and chunk.end <= len(document.content)
