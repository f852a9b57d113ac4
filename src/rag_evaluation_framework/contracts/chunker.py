"""Chunkers: from documents to chunks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.data.ids import DocumentId


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
        return [chunk.content for chunk in self.chunk_with_positions(Document(DocumentId(""), text))]
