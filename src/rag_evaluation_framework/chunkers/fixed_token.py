"""Fixed-size chunking: windows of equally many tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rag_evaluation_framework.chunkers.measure import Tokens, check_sizes, cut_out
from rag_evaluation_framework.contracts.roles import PositionAwareChunker
from rag_evaluation_framework.data import Document, PositionAwareChunk
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer, tokenizer_name


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

    requires: ClassVar[Mapping[str, str]] = {"tiktoken": "tiktoken"}

    tokens: int = 100
    overlap: int = 0
    tokenizer: Any = "cl100k_base"

    def __post_init__(self) -> None:
        check_sizes("FixedTokenChunker", "tokens", self.tokens, self.overlap)

    @property
    def name(self) -> str:
        """The class with its sizes."""
        tokenizer = tokenizer_name(self.tokenizer)
        unit = "" if tokenizer == "cl100k_base" else f", tokenizer={tokenizer}"
        return f"FixedTokenChunker(tokens={self.tokens}, overlap={self.overlap}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document."""
        measure = Tokens(document.content, resolve_tokenizer(self.tokenizer))
        return cut_out(document, measure.windows(0, len(document.content), self.tokens, self.overlap))
