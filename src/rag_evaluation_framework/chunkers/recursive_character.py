"""Cutting at the largest natural boundary that fits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.chunkers.measure import Measure, check_sizes, cut_out, measured
from rag_evaluation_framework.contracts.chunker import PositionAwareChunker
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.tokenizers import tokenizer_name
from rag_evaluation_framework.types import Document, PositionAwareChunk

Place = tuple[int, int]


@dataclass(frozen=True)
class RecursiveCharacterChunker(PositionAwareChunker):
    """Cuts at paragraphs, then lines, then sentences, then words, and only then inside a word.

    A text that is too long is cut behind every occurrence of the first separator that it contains; neighbouring pieces
    are put together as long as they fit, and a piece that is too long by itself is cut in the same way at the next
    separators. A separator and the white space behind it stay with the piece before. Nothing is trimmed: the chunks
    of a document cover all of it but stretches of pure white space.

    Attributes:
        chunk_size: The most that a chunk may hold, in the unit of `length`; never exceeded, but by a single character
            that is longer than this in tokens.
        overlap: The most that a chunk may repeat of the one before it, in whole pieces; less than `chunk_size`.
            Tokens are counted in the whole document here, so that by itself the repeated text may have a few more.
        separators: Where to cut, from the largest to the smallest unit of text.
        length: `"characters"`, or anything that `resolve_tokenizer` takes, such as `"cl100k_base"`.

    Raises:
        ConfigError: A size is impossible.
    """

    chunk_size: int = 200
    overlap: int = 0
    separators: tuple[str, ...] = ("\n\n", "\n", ".", "?", "!", " ")
    length: Any = "characters"

    def __post_init__(self) -> None:
        check_sizes("RecursiveCharacterChunker", "chunk_size", self.chunk_size, self.overlap)
        given: object = self.separators
        if isinstance(given, str):
            raise ConfigError(f"RecursiveCharacterChunker: separators={given!r}; wanted a list of texts")
        object.__setattr__(self, "separators", tuple(self.separators))

    @property
    def name(self) -> str:
        """The class with its sizes."""
        unit = "" if self.length == "characters" else f", length={tokenizer_name(self.length)}"
        return f"RecursiveCharacterChunker(chunk_size={self.chunk_size}, overlap={self.overlap}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document."""
        cutter = _Cutter(document.content, self, measured(document.content, self.length))
        return cut_out(document, cutter.cut(0, len(document.content), 0))


class _Cutter:
    """The recursion over one text."""

    def __init__(self, text: str, chunker: RecursiveCharacterChunker, measure: Measure) -> None:
        self.text = text
        self.size, self.overlap = chunker.chunk_size, chunker.overlap
        self.boundaries = [re.compile(re.escape(separator) + r"\s*") for separator in chunker.separators if separator]
        self.measure = measure

    def cut(self, start: int, end: int, level: int) -> Iterator[Place]:
        if self.fits(start, end):
            yield start, end
            return
        pieces: list[Place] = []
        while len(pieces) < 2 and level < len(self.boundaries):
            pieces = self.pieces(start, end, self.boundaries[level])
            level += 1
        if len(pieces) < 2:
            yield from self.measure.windows(start, end, self.size, self.overlap)
            return
        together: list[Place] = []
        for piece in pieces:
            if self.fits(*piece):
                together.append(piece)
            else:
                yield from self.merged(together)
                together = []
                yield from self.cut(*piece, level)
        yield from self.merged(together)

    def fits(self, start: int, end: int) -> bool:
        return self.measure.length(start, end) <= self.size and self.measure.exactly(start, end) <= self.size

    def pieces(self, start: int, end: int, boundary: re.Pattern[str]) -> list[Place]:
        """Cut behind every boundary that has something other than white space before it."""
        ends = [match.end() for match in boundary.finditer(self.text, start, end)]
        if ends and self.text[start : ends[0]].isspace():
            del ends[0]
        if not ends or ends[-1] < end:
            ends.append(end)
        return list(zip([start, *ends[:-1]], ends, strict=True))

    def merged(self, pieces: list[Place]) -> Iterator[Place]:
        """Put neighbouring pieces together as long as they fit, repeating up to `overlap` of the chunk before."""
        length = self.measure.length
        first = last = 0
        while first < len(pieces):
            start = pieces[first][0]
            while last + 1 < len(pieces) and length(start, pieces[last + 1][1]) <= self.size:
                last += 1
            while last > first and self.measure.exactly(start, pieces[last][1]) > self.size:
                last -= 1
            yield start, pieces[last][1]
            end, first, last = pieces[last][1], last + 1, last + 1
            while (
                first < len(pieces)
                and pieces[first - 1][0] > start
                and length(pieces[first - 1][0], end) <= self.overlap
                and self.fits(pieces[first - 1][0], pieces[last][1])
            ):
                first -= 1
