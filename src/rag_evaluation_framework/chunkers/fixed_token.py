"""Cutting into windows of equally many tokens."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.chunkers.measure import Tokens, check_sizes, cut_out
from rag_evaluation_framework.contracts.chunker import PositionAwareChunker
from rag_evaluation_framework.tokenizers import resolve_tokenizer
from rag_evaluation_framework.types import Document, PositionAwareChunk


@dataclass(frozen=True)
class FixedTokenChunker(PositionAwareChunker):
    """Cuts every `tokens - overlap` tokens, wherever that falls, but never inside a character.

    The document is encoded once and cut between its tokens; a window that would have more tokens when encoded by
    itself ends a token earlier. The chunks of a document cover all of it but stretches of pure white space.

    Attributes:
        tokens: The most tokens of a chunk; never exceeded, but by a single character that has more.
        overlap: How many tokens a chunk repeats of the one before it; less than `tokens`.
        tokenizer: Anything that `resolve_tokenizer` takes; loaded when the first document is cut.

    Raises:
        ConfigError: A size is impossible.
    """

    tokens: int = 100
    overlap: int = 0
    tokenizer: Any = "cl100k_base"

    def __post_init__(self) -> None:
        check_sizes("FixedTokenChunker", "tokens", self.tokens, self.overlap)

    @property
    def name(self) -> str:
        """The class with its sizes."""
        return f"FixedTokenChunker(tokens={self.tokens}, overlap={self.overlap})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document."""
        return cut_out(document, self._windows(document.content))

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        measure = Tokens(text, resolve_tokenizer(self.tokenizer))
        start = 0
        while start < len(text):
            end = measure.longest(start, len(text), self.tokens)
            yield start, end
            if end == len(text):
                return
            start = max(measure.retreat(end, self.overlap), start + 1) if self.overlap else end
