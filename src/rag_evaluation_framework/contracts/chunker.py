"""Chunkers: from documents to chunks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.data.ids import DocumentId


class Chunker(Component, ABC):
    """Cuts a text into pieces, without saying where they were. Evaluations wrap it in `ChunkerPositionAdapter`.

    Its texts are what is indexed, and ids are made from them, also where it tidies, lower-cases or shortens them.
    """

    @abstractmethod
    def chunk(self, text: str) -> list[str]:
        """Return the pieces in reading order; no pieces for an empty text."""


class PositionAwareChunker(Chunker):
    """Cuts a document into chunks that know their place."""

    @abstractmethod
    def chunk_with_positions(self, document: Document) -> Sequence[PositionAwareChunk]:
        """Return the chunks in reading order, each with `document.content[start:end] == content`."""

    def chunk(self, text: str) -> list[str]:
        """Return the texts of the chunks."""
        return [chunk.content for chunk in self.chunk_with_positions(Document(DocumentId(""), text))]
