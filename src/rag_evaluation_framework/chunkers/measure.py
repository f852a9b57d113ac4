"""Measuring a document once, so that the length of any stretch of it is a subtraction."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.roles import Tokenizer
from rag_evaluation_framework.data import Document, PositionAwareChunk
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer, tokenizer_name

Place = tuple[int, int]
"""Where a stretch of a text starts and ends."""


class Measure(ABC):
    """The length of stretches of one text, in characters or in tokens."""

    @abstractmethod
    def length(self, start: int, end: int) -> int:
        """Return how long the characters `start` to `end` are."""

    @abstractmethod
    def advance(self, start: int, units: int) -> int:
        """Return the position `units` further on than `start`, at most the end of the text."""

    @abstractmethod
    def retreat(self, end: int, units: int) -> int:
        """Return the position `units` before `end`, at least 0."""

    @abstractmethod
    def exactly(self, start: int, end: int) -> int:
        """Return how long the stretch is when it is measured by itself, as its reader will measure it."""

    def longest(self, start: int, end: int, size: int) -> int:
        """Return the furthest end, up to `end`, of a stretch from `start` that is at most `size` long by itself.

        Cutting a text changes its tokens at the cut, rarely to more of them; then it is cut a token earlier. One
        character is the least: a size below the tokens of a single character cannot be kept.
        """
        end = min(end, max(self.advance(start, size), start + 1))
        while end > start + 1 and self.exactly(start, end) > size:
            end = max(start + 1, min(self.retreat(end, 1), end - 1))
        return end

    def windows(self, start: int, end: int, size: int, overlap: int) -> Iterator[Place]:
        """Yield stretches of at most `size` in order, each repeating up to `overlap` of the one before."""
        stop = self.longest(start, end, size)
        yield start, stop
        while stop < end:
            start = max(self.retreat(stop, overlap), start + 1) if overlap else stop
            while (reach := self.longest(start, end, size)) <= stop:  # a window that would show nothing new
                start = min(max(self.advance(start, 1), start + 1), stop)
            stop = reach
            yield start, stop


class Characters(Measure):
    """Length in Unicode code points."""

    def __init__(self, text: str) -> None:
        self.text = text

    def length(self, start: int, end: int) -> int:
        """Return the number of characters."""
        return end - start

    def advance(self, start: int, units: int) -> int:
        """Return `start + units`, at most the end of the text."""
        return min(start + units, len(self.text))

    def retreat(self, end: int, units: int) -> int:
        """Return `end - units`, at least 0."""
        return max(end - units, 0)

    def exactly(self, start: int, end: int) -> int:
        """Return the number of characters."""
        return end - start


class Units(Measure):
    """Length in units whose starts are known, such as sentences: a stretch has the units that start in it."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self.text = text
        self.starts = starts

    def length(self, start: int, end: int) -> int:
        """Return the number of units that start in the stretch."""
        return bisect_left(self.starts, end) - bisect_left(self.starts, start)

    def advance(self, start: int, units: int) -> int:
        """Return where the unit `units` after the one at `start` starts."""
        unit = bisect_left(self.starts, start) + units
        return self.starts[unit] if unit < len(self.starts) else len(self.text)

    def retreat(self, end: int, units: int) -> int:
        """Return where the unit `units` before the one at `end` starts."""
        return self.starts[max(bisect_left(self.starts, end) - units, 0)] if self.starts else 0

    def exactly(self, start: int, end: int) -> int:
        """Return the number of units that start in the stretch."""
        return self.length(start, end)


class Tokens(Units):
    """Length in tokens of the whole text."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        super().__init__(text, tokenizer.offsets(text).tolist())
        self.tokenizer = tokenizer

    def exactly(self, start: int, end: int) -> int:
        """Return the number of tokens of the stretch, encoded by itself."""
        return self.tokenizer.count(self.text[start:end])


def measured(text: str, length: Any) -> Measure:
    """Return the measure of a text in `"characters"`, or in tokens of a tokenizer."""
    return Characters(text) if _is_characters(length) else Tokens(text, resolve_tokenizer(length))


def check_length(length: Any) -> None:
    """Check that a length is a text, whose tokenizer is loaded when it is used, or a tokenizer; else TokenizerError."""
    if not isinstance(length, str | Path):
        resolve_tokenizer(length)


def length_shown(length: Any) -> str:
    """Return what the name of a chunker says of its length: nothing of characters."""
    return "" if _is_characters(length) else f", length={tokenizer_name(length)}"


def _is_characters(length: Any) -> bool:
    return isinstance(length, str) and length == "characters"


def check_sizes(owner: str, size_name: str, size: int, overlap: int) -> None:
    """Raise ConfigError unless size is at least 1 and 0 <= overlap < size, both whole numbers."""
    check_count(owner, size_name, size)
    check_count(owner, "overlap", overlap, least=0)
    if overlap >= size:
        raise ConfigError(f"{owner}: overlap={overlap} with {size_name}={size}; expected 0 <= overlap < {size_name}")


def cut_out(
    document: Document, places: Iterable[Place], metadata: Mapping[str, Any] | None = None
) -> list[PositionAwareChunk]:
    """Return the stretches of a document as chunks; those of nothing but white space are left out."""
    return [
        PositionAwareChunk.of(document, start, end, metadata)
        for start, end in places
        if start < end and not document.content[start:end].isspace()
    ]
