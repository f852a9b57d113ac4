"""Chunkers, from documents to chunks; and tokenizers, which measure them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data import Document, DocumentId, PositionAwareChunk

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
