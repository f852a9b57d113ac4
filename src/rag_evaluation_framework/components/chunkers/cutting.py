"""Chunkers that cut a document at its own boundaries, or by size; how they measure and cut."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnEmbedder
from ...adapt.results import as_vectors
from ...base.outside import shown
from ...contracts.component import check_choice, check_count, check_number
from ...contracts.registry.building import as_component
from ...contracts.registry.loading import load_installed
from ...contracts.roles import Embedder, PositionAwareChunker, Tokenizer, as_fitted
from ...data import Document, PositionAwareChunk
from ...errors import ConfigError, InputError, NotIndexed
from ...statistics.nearest import unit
from ...text.sentence_boundaries import sentence_places
from ...text.tokenizers import resolve_tokenizer, tokenizer_name

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Measuring a document once, so that the length of any stretch of it is a subtraction.

Place = tuple[int, int]
"""Where a stretch of a text starts and ends."""


class Measure:
    """The length of stretches of one text, in characters: Unicode code points."""

    def __init__(self, text: str) -> None:
        self.text = text

    def length(self, start: int, end: int) -> int:
        """Return how long the characters `start` to `end` are."""
        return end - start

    def advance(self, start: int, units: int) -> int:
        """Return the position `units` further on than `start`, at most the end of the text."""
        return min(start + units, len(self.text))

    def retreat(self, end: int, units: int) -> int:
        """Return the position `units` before `end`, at least 0."""
        return max(end - units, 0)

    def exactly(self, start: int, end: int) -> int:
        """Return how long the stretch is when it is measured by itself, as its reader will measure it."""
        return self.length(start, end)

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


class Units(Measure):
    """Length in units whose starts are known, such as sentences: a stretch has the units that start in it."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        super().__init__(text)
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
    return Measure(text) if _is_characters(length) else Tokens(text, resolve_tokenizer(length))


def check_length(length: Any) -> None:
    """Check that a length is a text, whose tokenizer is loaded when it is used, or a tokenizer; else TokenizerError."""
    if not isinstance(length, str | Path):
        resolve_tokenizer(length)


def length_shown(length: Any) -> str:
    """Return what the name of a chunker says of its length: nothing of characters."""
    return "" if _is_characters(length) else f", length={tokenizer_name(length)}"


def _is_characters(length: Any) -> bool:
    return isinstance(length, str) and length == "characters"  # a function's own `==` may return anything


def check_sizes(owner: str, size_name: str, size: int, overlap: int, length: Any = "characters") -> None:
    """Raise ConfigError unless 1 <= size and 0 <= overlap < size, both whole numbers; check what they count in, too."""
    check_length(length)
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


# Recursive character chunking: cuts at the largest natural boundary that fits.

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
        check_sizes("RecursiveCharacterChunker", "chunk_size", self.chunk_size, self.overlap, self.length)
        given: Any = self.separators
        if not isinstance(cast("object", given), list | tuple) or any(
            not isinstance(each, str) for each in cast("list[Any]", given)
        ):
            raise ConfigError(f"RecursiveCharacterChunker: separators={shown(given)}; expected a list of texts")
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
        cutter = Cutter(measure, self.chunk_size, self.overlap, self.separators, self.separator_at)
        return cut_out(document, cutter.cut(0, len(document.content)))


@dataclass
class Cutter:
    """The recursion over one text; chunkers with boundaries of their own begin it at `packed`."""

    measure: Measure
    size: int
    overlap: int
    separators: Sequence[str]
    separator_at: SeparatorAt = "end"

    def __post_init__(self) -> None:
        space = r"\s*" if self.separator_at == "end" else ""
        self.boundaries = [re.compile(re.escape(separator) + space) for separator in self.separators if separator]

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
        text = self.measure.text
        found = boundary.finditer(text, start, end)
        ends = [match.start() if self.separator_at == "start" else match.end() for match in found]
        if ends and not text[start : ends[0]].strip():
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


# Fixed-size chunking: windows of equally many tokens.


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


# Sentence chunking: cuts between sentences.


@dataclass(frozen=True)
class SentenceChunker(PositionAwareChunker):
    """Joins whole sentences, up to a size or a number of sentences.

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
        if self.chunk_size is not None and self.sentences is not None:
            raise ConfigError(
                f"SentenceChunker: chunk_size={self.chunk_size!r} and sentences={self.sentences!r}; "
                "expected one of them, a size or a number of sentences"
            )
        if self.sentences is not None:
            check_sizes("SentenceChunker", "sentences", self.sentences, self.overlap, self.length)
            return
        size = 200 if self.chunk_size is None else self.chunk_size
        check_sizes("SentenceChunker", "chunk_size", size, self.overlap, self.length)
        object.__setattr__(self, "chunk_size", size)

    @property
    def name(self) -> str:
        """The class with its sizes."""
        size = f"chunk_size={self.chunk_size}" if self.sentences is None else f"sentences={self.sentences}"
        unit = length_shown(self.length)
        return f"SentenceChunker({size}, overlap={self.overlap}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document."""
        text, places = document.content, sentence_places(document.content)
        measure = Units(text, [start for start, _ in places]) if self.sentences else measured(text, self.length)
        cutter = Cutter(measure, self.sentences or self.chunk_size or 0, self.overlap, (" ",))  # one of them is given
        return cut_out(document, cutter.packed(places))


# Markdown chunking: cuts at headings.

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
        check_count("MarkdownHeaderChunker", "max_level", self.max_level)
        if self.max_level > 6:
            raise ConfigError(f"MarkdownHeaderChunker: max_level={self.max_level}; expected 1 to 6")
        check_sizes("MarkdownHeaderChunker", "chunk_size", self.chunk_size, self.overlap, self.length)

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
    tokens = _parser("inline").parse(text[begin:])
    for token, content in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            first, last = token.map
            end = lines[last] if last < len(lines) else len(text)
            yield _Heading(lines[first], end, int(token.tag[1:]), _plain(content.content))


@cache
def _parser(*without: str) -> "MarkdownIt":  # loaded where headings are looked for
    parser: MarkdownIt = load_installed("markdown_it:MarkdownIt")("commonmark")
    return parser.disable([*without])


def _plain(markup: str) -> str:
    """Return the text of a heading without its markup, on one line."""
    words: list[str] = []
    for token in _parser().parseInline(markup)[0].children or []:
        if token.type in {"text", "code_inline", "image"}:
            words.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            words.append(" ")
    return " ".join("".join(words).split())


# Semantic chunking: cuts where the subject changes.


@dataclass(frozen=True)
class SemanticChunker(PositionAwareChunker):
    """Cuts between two sentences where what precedes is least like what follows.

    All sentences of a document are embedded in one call. Each gap between two of them has a distance: one minus the
    cosine of the mean vectors of the `buffer + 1` sentences on either side. The text is cut at the gaps whose distance
    exceeds the given percentile of all distances of the document, so that a document is its own yardstick: of 100
    sentences about 5 gaps exceed the 95th percentile. A document of less than three sentences is not cut, nor one whose
    distances are all equal. A gap beside sentences without a direction (zero vectors) has no distance and is not cut.

    An embedder that learns from a corpus and has not yet is fitted on the sentences of each document.

    After Kamradt's "5 Levels of Text Splitting" (2024), whose groups of sentences overlap; here the two sides of a gap
    share no sentence, so that the greatest distance is at the change of subject and not beside it.

    Attributes:
        embedder: What turns sentences into vectors, an embedder or a function `(texts) -> vectors`; best the one that
            the retriever uses.
        percentile: Which percentile a distance has to exceed, 0 to 100; lower cuts more often.
        buffer: How many more sentences on each side are looked at; at least 0.
        min_size: A gap is passed over where the chunk before or the rest behind it would be shorter than this, in the
            unit of `length`.
        max_size: The most that a chunk may hold, in the unit of `length`, if anything: what is longer is cut between
            sentences, and a longer sentence at blanks. It has precedence over `min_size`.
        length: `"characters"`, or anything that `resolve_tokenizer` takes, such as `"cl100k_base"`.

    Raises:
        ConfigError: `embedder` is not an Embedder, or a number is impossible.
    """

    embedder: Embedder
    percentile: float = 95
    buffer: int = 1
    min_size: int = 0
    max_size: int | None = None
    length: Any = "characters"

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(
            self,
            embedder: Embedder | OwnEmbedder,
            percentile: float = 95,
            buffer: int = 1,
            min_size: int = 0,
            max_size: int | None = None,
            length: Any = "characters",
        ) -> None: ...

    def __post_init__(self) -> None:
        check_length(self.length)
        object.__setattr__(self, "embedder", as_component(Embedder, self.embedder, "SemanticChunker"))
        check_number("SemanticChunker", "percentile", self.percentile, most=100)
        check_count("SemanticChunker", "buffer", self.buffer, least=0)
        check_count("SemanticChunker", "min_size", self.min_size, least=0)
        if self.max_size is not None:
            check_count("SemanticChunker", "max_size", self.max_size)
            if self.min_size > self.max_size:
                raise ConfigError(
                    f"SemanticChunker: min_size={self.min_size} with max_size={self.max_size}; "
                    "expected min_size <= max_size"
                )

    @property
    def name(self) -> str:
        """The class with its embedder, percentile and sizes."""
        sizes = {"buffer": self.buffer, "min_size": self.min_size, "max_size": self.max_size}
        shown = "".join(f", {key}={value}" for key, value in sizes.items() if value not in (None, 0))
        unit = length_shown(self.length)
        return f"SemanticChunker(embedder={self.embedder.name}, percentile={self.percentile:g}{shown}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document.

        Raises:
            InputError: The embedder returns something other than one finite vector per sentence.
        """
        text = document.content
        measure = measured(text, self.length)
        chunks: list[list[Place]] = [[]]
        start = 0
        places = sentence_places(text)
        for place, cut in zip(places, self._cuts(text, places), strict=True):
            if cut and min(measure.length(start, place[0]), measure.length(place[0], len(text))) >= self.min_size:
                chunks.append([])
                start = place[0]
            chunks[-1].append(place)
        if self.max_size is None:
            return cut_out(document, ((chunk[0][0], chunk[-1][1]) for chunk in chunks if chunk))
        cutter = Cutter(measure, self.max_size, 0, (" ",))
        return cut_out(document, (place for chunk in chunks for place in cutter.packed(chunk)))

    def _cuts(self, text: str, places: Sequence[Place]) -> list[bool]:
        """Return of each sentence whether the subject changes before it."""
        if len(places) < 3:  # a single distance cannot exceed itself
            return [False] * len(places)
        distances = _distances(self._vectors([text[start:end].strip() for start, end in places]), self.buffer)
        known = distances[~np.isnan(distances)]
        threshold = np.percentile(known, self.percentile) if len(known) else np.inf
        return [False, *(distances > threshold).tolist()]

    def _vectors(self, sentences: list[str]) -> NDArray[np.float64]:
        """Return one vector of length 1 (or 0) a sentence, shape (len(sentences), dimension)."""
        try:
            returned = self.embedder.embed(sentences)
        except NotIndexed:
            try:
                learnt: object = self.embedder.fit(sentences)
            except InputError:  # a document without a word: nothing to learn, and no subject that could change
                return np.zeros((len(sentences), 1))
            returned = as_fitted(learnt, self.embedder).embed(sentences)
        source = f"SemanticChunker: {self.embedder.name}.embed"
        return unit(as_vectors(returned, source, sentences, kind=np.float64))


def _distances(vectors: NDArray[np.float64], buffer: int) -> NDArray[np.float64]:
    """Return the distance at each gap, shape (len(vectors) - 1,), 0 to 2; NaN where a side has no direction."""
    before, after = vectors[:-1].copy(), vectors[1:].copy()
    for further in range(1, min(buffer, len(vectors) - 2) + 1):
        before[further:] += vectors[: -further - 1]
        after[:-further] += vectors[further + 1 :]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines: NDArray[np.float64] = (before * after).sum(axis=1) / np.where(lengths == 0, np.nan, lengths)
    # Rounded, since embedders compute in 32 bits: noise must not tell equal distances apart.
    return np.round(1 - cosines, 6)
