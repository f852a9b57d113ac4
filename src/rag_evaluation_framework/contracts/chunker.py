"""Chunkers, from documents to chunks; tokenizers, which measure them; and how what they return is read."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data import Document, DocumentId, PositionAwareChunk
from rag_evaluation_framework.data.values import all_chunks, gives_items, plain_text
from rag_evaluation_framework.errors import InputError

# Tokenizers: measuring and cutting text in tokens.


class Tokenizer(Component, ABC):
    """Cuts text into tokens and says where each of them starts."""

    @abstractmethod
    def encode(self, text: str) -> Sequence[Hashable]:
        """Return the tokens; text that looks like a special token is ordinary text."""

    @abstractmethod
    def offsets(self, text: str) -> NDArray[np.int64]:
        """Return where each token starts: ascending character offsets, shape (number of tokens,).

        A token that begins inside a character starts at the next one; the first token starts at 0.
        """

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self.encode(text))

    def cut(self, text: str, tokens: int) -> int:
        """Return the length, in characters, of what the first `tokens` tokens cover."""
        starts = self.offsets(text)
        return int(starts[tokens]) if tokens < len(starts) else len(text)


# What a chunker may return, and how it is read as chunks of a document.


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


# Chunkers: from documents to chunks.


class Chunker(Component, ABC):
    """Cuts a text into pieces, without saying where they were. Evaluations wrap it in `ChunkerPositionAdapter`.

    Its texts are what is indexed, and ids are made from them, also where it tidies, lower-cases or shortens them.

    A class may be both this and a `PositionAwareChunker`, in either order of the bases; it is not wrapped.
    """

    @abstractmethod
    def chunk(self, text: str) -> list[str]:
        """Return the pieces in reading order; no pieces for an empty text."""


@Chunker.register
class PositionAwareChunker(Component, ABC):
    """Cuts a document into chunks that know their place.

    Where a `Chunker` is asked for at run time (`isinstance`), this is one too, as it has `chunk`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls.chunk, "__isabstractmethod__", False):  # that of `Chunker`, if it comes first among the bases
            setattr(cls, "chunk", PositionAwareChunker.chunk)  # noqa: B010  mypy assigns to no method

    @abstractmethod
    def chunk_with_positions(self, document: Document) -> Sequence[PositionAwareChunk]:
        """Return the chunks in reading order, each with `document.content[start:end] == content`."""

    def chunk(self, text: str) -> list[str]:
        """Return the texts of the chunks."""
        chunks: Sequence[PositionAwareChunk] = resolved(self.chunk_with_positions(Document(DocumentId(""), text)))
        return [chunk.content for chunk in chunks]
