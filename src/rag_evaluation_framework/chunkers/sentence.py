"""Sentence chunking: cuts between sentences."""

from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.chunkers.measure import (
    Units,
    check_length,
    check_sizes,
    cut_out,
    length_shown,
    measured,
)
from rag_evaluation_framework.chunkers.recursive_character import Cutter
from rag_evaluation_framework.contracts.roles import PositionAwareChunker
from rag_evaluation_framework.data import Document, PositionAwareChunk
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.text.sentence_boundaries import sentence_places

_DEFAULT_SIZE = 200


@dataclass(frozen=True)
class SentenceChunker(PositionAwareChunker):
    """Puts whole sentences together, up to a size or up to a number of them.

    Sentences are found by rules that need no data and know common abbreviations, mostly English ones; paragraphs,
    headings, list items and table rows end them, too. Only a sentence that is longer than `chunk_size` is cut, at
    blanks if it can be. Nothing is trimmed: the chunks of a document cover all of it but stretches of pure white space.

    Attributes:
        chunk_size: The most that a chunk may hold, in the unit of `length`; never exceeded, but by a single character
            that is longer than this in tokens. If neither this nor `sentences` is given, 200.
        overlap: The most that a chunk may repeat of the one before it, in whole sentences; counted in sentences if
            `sentences` is given, else in the unit of `length`. Less than the size.
        sentences: The most sentences of a chunk, however long they are. Excludes `chunk_size`.
        length: `"characters"`, or anything that `resolve_tokenizer` takes, such as `"cl100k_base"`.

    Raises:
        TokenizerError: `length` is no tokenizer.
        ConfigError: A size is impossible, or both sizes are given.
    """

    chunk_size: int | None = None
    overlap: int = 0
    sentences: int | None = None
    length: Any = "characters"

    def __post_init__(self) -> None:
        check_length(self.length)
        if self.chunk_size is not None and self.sentences is not None:
            raise ConfigError(
                f"SentenceChunker: chunk_size={self.chunk_size!r} and sentences={self.sentences!r}; "
                "expected one of them, a size or a number of sentences"
            )
        if self.sentences is not None:
            check_sizes("SentenceChunker", "sentences", self.sentences, self.overlap)
            return
        size = _DEFAULT_SIZE if self.chunk_size is None else self.chunk_size
        check_sizes("SentenceChunker", "chunk_size", size, self.overlap)
        object.__setattr__(self, "chunk_size", size)

    @property
    def name(self) -> str:
        """The class with its sizes."""
        size = f"chunk_size={self.chunk_size}" if self.sentences is None else f"sentences={self.sentences}"
        unit = length_shown(self.length)
        return f"SentenceChunker({size}, overlap={self.overlap}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document."""
        places = sentence_places(document.content)
        text, by_sentences = document.content, self.sentences is not None
        measure = Units(text, [start for start, _ in places]) if by_sentences else measured(text, self.length)
        cutter = Cutter(text, measure, self._size, self.overlap, (" ",))
        return cut_out(document, cutter.packed(places))

    @property
    def _size(self) -> int:
        return self.sentences or self.chunk_size or _DEFAULT_SIZE
