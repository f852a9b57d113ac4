"""Cutting documents into the passages that a person looks through."""

import sys
from dataclasses import dataclass

from rag_evaluation_framework.chunkers.markdown_header import MarkdownHeaderChunker
from rag_evaluation_framework.chunkers.measure import cut_out
from rag_evaluation_framework.chunkers.sentence import SentenceChunker
from rag_evaluation_framework.contracts.chunker import PositionAwareChunker
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.documents import Document

_SECTIONS = MarkdownHeaderChunker(chunk_size=sys.maxsize)


@dataclass(frozen=True)
class PassageChunker(PositionAwareChunker):
    """Puts whole sentences of one section together: what can be read at a glance, and is about one thing.

    Sections are those of `MarkdownHeaderChunker`, sentences those of `SentenceChunker`. Text without headings is one
    section.

    Attributes:
        chunk_size: The most characters of a passage.

    Raises:
        ConfigError: The size is impossible.
    """

    chunk_size: int = 400

    def __post_init__(self) -> None:
        SentenceChunker(self.chunk_size)

    @property
    def name(self) -> str:
        """The class with its size."""
        return f"PassageChunker(chunk_size={self.chunk_size})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the passages in reading order; none for a blank document."""
        sentences = SentenceChunker(self.chunk_size)
        places: list[tuple[int, int]] = []
        for section in _SECTIONS.chunk_with_positions(document):
            part = Document(document.id, section.content)
            places += [
                (section.start + passage.start, section.start + passage.end)
                for passage in sentences.chunk_with_positions(part)
            ]
        return cut_out(document, places)
