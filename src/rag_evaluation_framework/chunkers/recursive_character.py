"""Recursive character chunking: cuts at the largest natural boundary that fits."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.chunkers.measure import (
    Measure,
    Place,
    check_length,
    check_sizes,
    cut_out,
    length_shown,
    measured,
)
from rag_evaluation_framework.contracts.component import check_choice
from rag_evaluation_framework.contracts.roles import PositionAwareChunker
from rag_evaluation_framework.data import Document, PositionAwareChunk
from rag_evaluation_framework.errors import ConfigError

SeparatorAt = Literal["end", "start"]


@dataclass(frozen=True)
class RecursiveCharacterChunker(PositionAwareChunker):
    """Cuts at paragraphs, then lines, then sentences, then words, and only then inside a word.

    A text that is too long is cut at every occurrence of the first separator that it contains; neighbouring pieces
    are put together as long as they fit, and a piece that is too long by itself is cut in the same way at the next
    separators. A separator and the white space behind it stay with the piece before, unless `separator_at` says
    otherwise. Nothing is trimmed: the chunks of a document cover all of it but stretches of pure white space.

    Attributes:
        chunk_size: The most that a chunk may hold, in the unit of `length`; never exceeded, but by a single character
            that is longer than this in tokens.
        overlap: The most that a chunk may repeat of the one before it, in whole pieces; less than `chunk_size`.
            Tokens are counted in the whole document here, so that by itself the repeated text may have a few more.
        separators: Where to cut, from the largest to the smallest unit of text.
        length: `"characters"`, or anything that `resolve_tokenizer` takes, such as `"cl100k_base"`.
        separator_at: Which end of a piece keeps separators: `"end"`, with the white space behind them, or `"start"`,
            as in LangChain, where a chunk may begin with the full stop of the sentence before.

    Raises:
        TokenizerError: `length` is no tokenizer.
        ConfigError: A size is impossible, or `separator_at` is unknown.
    """

    chunk_size: int = 200
    overlap: int = 0
    separators: tuple[str, ...] = ("\n\n", "\n", ".", "?", "!", " ")
    length: Any = "characters"
    separator_at: SeparatorAt = "end"

    def __post_init__(self) -> None:
        check_length(self.length)
        check_sizes("RecursiveCharacterChunker", "chunk_size", self.chunk_size, self.overlap)
        if not _is_list_of_texts(self.separators):
            raise ConfigError(
                f"RecursiveCharacterChunker: separators={shown(self.separators)}; expected a list of texts"
            )
        object.__setattr__(self, "separators", tuple(self.separators))
        check_choice("RecursiveCharacterChunker", "separator_at", self.separator_at, get_args(SeparatorAt))

    @property
    def name(self) -> str:
        """The class with its sizes, and what is not as usual."""
        unit = length_shown(self.length)
        place = "" if self.separator_at == "end" else f", separator_at={self.separator_at}"
        return f"RecursiveCharacterChunker(chunk_size={self.chunk_size}, overlap={self.overlap}{unit}{place})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document."""
        measure = measured(document.content, self.length)
        cutter = Cutter(document.content, measure, self.chunk_size, self.overlap, self.separators, self.separator_at)
        return cut_out(document, cutter.cut(0, len(document.content)))


def _is_list_of_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(text, str) for text in cast("Sequence[object]", given))


class Cutter:
    """The recursion over one text; chunkers with boundaries of their own begin it at `packed`."""

    def __init__(
        self,
        text: str,
        measure: Measure,
        size: int,
        overlap: int,
        separators: Sequence[str],
        separator_at: SeparatorAt = "end",
    ) -> None:
        self.text = text
        self.measure = measure
        self.size, self.overlap = size, overlap
        self.separator_at = separator_at
        space = r"\s*" if separator_at == "end" else ""
        self.boundaries = [re.compile(re.escape(separator) + space) for separator in separators if separator]

    def cut(self, start: int, end: int, level: int = 0) -> Iterator[Place]:
        """Yield chunks of a stretch, cut at the separators from number `level` on."""
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
        yield from self.packed(pieces, level)

    def packed(self, pieces: Sequence[Place], level: int = 0) -> Iterator[Place]:
        """Yield chunks of neighbouring pieces; those too long by themselves are cut at the separators from `level`."""
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
        """Return whether a stretch is small enough, within the text and by itself."""
        return self.measure.length(start, end) <= self.size and self.measure.exactly(start, end) <= self.size

    def pieces(self, start: int, end: int, boundary: re.Pattern[str]) -> list[Place]:
        """Cut at every boundary; the first needs something other than white space before it."""
        found = boundary.finditer(self.text, start, end)
        ends = [match.start() if self.separator_at == "start" else match.end() for match in found]
        if ends and not self.text[start : ends[0]].strip():
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
                self.overlap  # a piece inside a token has no length
                and first < len(pieces)
                and pieces[first - 1][0] > start
                and length(pieces[first - 1][0], end) <= self.overlap
                and self.fits(pieces[first - 1][0], pieces[last][1])
            ):
                first -= 1
