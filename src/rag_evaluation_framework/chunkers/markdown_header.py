"""Markdown chunking: cuts at headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

from rag_evaluation_framework.chunkers.measure import check_length, check_sizes, cut_out, length_shown
from rag_evaluation_framework.chunkers.recursive_character import RecursiveCharacterChunker
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.roles import PositionAwareChunker
from rag_evaluation_framework.data import Document, PositionAwareChunk
from rag_evaluation_framework.errors import ConfigError

_BLOCKS = MarkdownIt("commonmark").disable("inline")
_INLINE = MarkdownIt("commonmark")
_LINE_BREAK = re.compile(r"\r\n?|\n")  # CommonMark's, and only these: a form feed or U+2028 ends no line
_FRONT_MATTER = re.compile(
    r"\ufeff?(?P<fence>---|\+\+\+)[ \t]*(?:\r\n?|\n)"
    r"(?:[\w\"'][^\r\n:=]*[:=].*?[\r\n])??"  # begins with a key: else the fence is a thematic break
    r"(?:(?P=fence)|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)",
    re.DOTALL,
)


class _Heading(NamedTuple):
    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True)
class MarkdownHeaderChunker(PositionAwareChunker):
    """Cuts Markdown into its sections, and long sections as `RecursiveCharacterChunker` does.

    A section is a heading, as CommonMark defines them (`# Title` or underlined), with what follows up to the next.
    What looks like a heading inside code, HTML, a list or a quotation is text, and so is front matter. A heading with
    nothing between it and a deeper one begins the chunk of the deeper one. The text before the first heading is a
    section, too. Nothing is trimmed: the chunks of a document cover all of it but stretches of pure white space.

    Each chunk says in its metadata what it is in: `{"section": "Billing > Refunds", "level": 2}`; an empty section
    and level 0 before the first heading.

    Attributes:
        max_level: The deepest level of headings at which is cut, 1 to 6; deeper headings are text of their section.
        chunk_size: The most that a chunk may hold, in the unit of `length`; never exceeded, but by a single character
            that is longer than this in tokens.
        overlap: The most that a chunk may repeat of the one before it in the same section; less than `chunk_size`.
        length: `"characters"`, or anything that `resolve_tokenizer` takes, such as `"cl100k_base"`.

    Raises:
        TokenizerError: `length` is no tokenizer.
        ConfigError: A level or size is impossible.
    """

    max_level: int = 6
    chunk_size: int = 800
    overlap: int = 0
    length: Any = "characters"

    def __post_init__(self) -> None:
        check_length(self.length)
        check_count("MarkdownHeaderChunker", "max_level", self.max_level)
        if self.max_level > 6:
            raise ConfigError(f"MarkdownHeaderChunker: max_level={self.max_level}; expected 1 to 6")
        check_sizes("MarkdownHeaderChunker", "chunk_size", self.chunk_size, self.overlap)

    @property
    def name(self) -> str:
        """The class with its level and sizes."""
        unit = length_shown(self.length)
        sizes = f"chunk_size={self.chunk_size}, overlap={self.overlap}"
        return f"MarkdownHeaderChunker(max_level={self.max_level}, {sizes}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order, each with its section; none for a blank document."""
        splitter = RecursiveCharacterChunker(self.chunk_size, self.overlap, length=self.length)
        chunks: list[PositionAwareChunk] = []
        for section in self._sections(document.content):
            part = Document(document.id, document.content[section.start : section.end])
            places = [(section.start + c.start, section.start + c.end) for c in splitter.chunk_with_positions(part)]
            metadata = {"section": section.title, "level": section.level}
            chunks += cut_out(document, places, metadata)
        return chunks

    def _sections(self, text: str) -> Iterator[_Heading]:
        """Yield the sections end to end, each with the titles of its headings from the outermost."""
        start, level = 0, 0
        path: list[tuple[int, str]] = []
        end_of_heading = 0
        for heading in _headings(text):
            if heading.level > self.max_level:
                continue
            between = text[end_of_heading : heading.start]
            if level >= heading.level or between.strip().strip("\ufeff"):
                yield _Heading(start, heading.start, level, _joined(path))
                start = heading.start
            path = [outer for outer in path if outer[0] < heading.level] + [(heading.level, heading.title)]
            level, end_of_heading = heading.level, heading.end
        yield _Heading(start, len(text), level, _joined(path))


def _joined(path: list[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in path if title)


def _headings(text: str) -> Iterator[_Heading]:
    """Yield the headings that are in no other block, in order."""
    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else int(text.startswith("\ufeff"))
    lines = [begin, *(match.end() for match in _LINE_BREAK.finditer(text, begin))]
    tokens = _BLOCKS.parse(text[begin:])
    for token, content in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            first, last = token.map
            end = lines[last] if last < len(lines) else len(text)
            yield _Heading(lines[first], end, int(token.tag[1:]), _plain(content.content))


def _plain(markup: str) -> str:
    """Return the text of a heading without its markup, on one line."""
    words: list[str] = []
    for token in _INLINE.parseInline(markup)[0].children or []:
        if token.type in {"text", "code_inline", "image"}:
            words.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            words.append(" ")
    return " ".join("".join(words).split())
