"""The contract of readers, what they return, and which one reads a file."""

import hashlib
import inspect
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

from ...base.exits import outcome
from ...base.files import read_bytes
from ...base.notes import note
from ...base.optional import plug_ins
from ...base.outside import error_text, shown
from ...base.tables import decoded
from ...errors import CorpusError, MissingDependency

_KIND = "reader"
LARGEST = 500_000_000  # bytes of a file
_APART = "\n\n"  # between pages
_BUILT_IN = {
    "docx": "docx:DocxReader",
    "htm": "html:HtmlReader",
    "html": "html:HtmlReader",
    "ipynb": "notebook:NotebookReader",
    "pdf": "pdf:PdfReader",
}
TEXTS = ("adoc", "markdown", "md", "mdx", "mkd", "org", "qmd", "rest", "rmd", "rst", "text", "txt")
"""The suffixes of files that are their own text, and are documents; of code and data nobody asks questions."""

Converter: TypeAlias = Callable[[Path], str]
"""A function of somebody's that makes the text of a file."""


@dataclass(frozen=True)
class Reading:
    """Text and facts that a reader makes of a file.

    Attributes:
        text: The canonical text. The same bytes, read by the same version, always give the same text.
        starts: Offsets in the text from which on it goes along with the file, ascending, the last one its end; none if
            no places are known.
        offsets: The offset in the file, in its code points, of each of `starts`; the last one is its end.
        line_ends: The offsets of the line ends of the file, ascending.
        pages: Offsets in the text at which its pages begin, ascending; none of what has no pages.
    """

    text: str
    starts: Sequence[int] = ()
    offsets: Sequence[int] = ()
    line_ends: Sequence[int] = ()
    pages: Sequence[int] = ()

    @classmethod
    def of_pages(cls, pages: Sequence[str], numbers: Iterable[int]) -> "Reading":
        """Return the texts of pages as one, separated by blank lines; a missing page begins where the next one does.

        Args:
            pages: The texts.
            numbers: The number of each page, ascending, counted from 1.
        """
        starts = [0, *accumulate(len(page) + len(_APART) for page in pages)]
        begins = list[int]()
        for start, number in zip(starts, numbers, strict=False):  # the last one is the end
            begins += [start] * (number - len(begins))
        return cls(_APART.join(pages), pages=begins)

    @property
    def blank_pages(self) -> int:
        """Number of pages without text, such as scans."""
        ends = [*(start - len(_APART) for start in self.pages[1:]), len(self.text)]
        return sum(start == end for start, end in zip(self.pages, ends, strict=False))


class Reader(ABC):
    """Makes the canonical text of one kind of file.

    Attributes:
        version: Changes with every change of the text that is made of a file, whoever caused it.
    """

    version: str

    @abstractmethod
    def read(self, data: bytes) -> Reading:
        """Return the text of a file.

        Args:
            data: Its bytes.

        Raises:
            CorpusError: The bytes are not a file of this kind; the message says what was expected, without the path.
        """


@dataclass(frozen=True, slots=True)
class Source:
    """The file from which a reader made the text of a document.

    Attributes:
        reader: Name of the reader: the suffix of its files, or `module:function` of a converter.
        version: Version of the reader, with that of the library that it asks.
        sha256: SHA-256 of the bytes of the file, 64 hexadecimal digits; "" if it was read by another library.
        reading: What the reader returned, with the places of the text in the file.
    """

    reader: str
    version: str
    sha256: str
    reading: Reading = field(repr=False, compare=False)

    def offset(self, at: int) -> int:
        """Return the offset in the file of what stands at an offset of the text: the nearest one before what it added.

        Both count code points from 0.
        """
        starts, offsets = self.reading.starts, self.reading.offsets
        number = bisect_right(starts, at) - 1
        if number < 0:
            return 0
        ends = [end for end in (*offsets[number + 1 : number + 2], offsets[-1]) if end >= offsets[number]]
        return min(offsets[number] + at - starts[number], *ends)

    def page(self, at: int) -> int:
        """Return the page on which an offset of the text is, counted from 1; 0 of what has no pages."""
        return bisect_right(self.reading.pages, at)

    def place(self, at: int) -> tuple[int, int]:
        """Return the line and the column in the file of what stands at an offset of the text; both count from 1."""
        offset, ends = self.offset(at), self.reading.line_ends
        line = bisect_left(ends, offset)
        return line + 1, offset - (ends[line - 1] if line else -1)


def readable(suffix: str) -> bool:
    """Return whether files with a suffix, such as `.md`, are documents: of text, or of a kind that has a reader."""
    name = suffix.lower().removeprefix(".")
    return name in TEXTS or name in _readers()


def read_file(path: Path, converter: Converter | None = None) -> tuple[str, Source | None]:
    """Return the text of a file and the facts of its reader; None if the file is its own text.

    Args:
        path: The file.
        converter: What reads it instead of its reader, if it is not one of text.

    Raises:
        CorpusError: The file cannot be read, has more than 500 MB, or is not what its reader expects.
        MissingDependency: Its reader needs a package that is not installed.
    """
    data = read_bytes(path, CorpusError, most=LARGEST, remedy="split it")
    suffix = path.suffix.lower().removeprefix(".")
    readers = _readers()
    if suffix not in readers and (suffix in TEXTS or converter is None):
        return decoded(data, path, CorpusError), None
    name = converter_name(converter) if converter else f"its reader {readers[suffix].value}"

    def read() -> Source:
        sha256 = hashlib.sha256(data).hexdigest()
        if converter is not None:
            text: Any = converter(path)
            if not isinstance(text, str) or not text.strip():
                raise CorpusError(f"{name} returned {shown(text)}; have it return the text of the file")
            return Source(name, converter_version(converter), sha256, Reading(text))
        reader: Any = readers[suffix].load()()
        reading = reader.read(data)
        if not isinstance(reader, Reader) or not isinstance(reading, Reading):
            raise TypeError(f"{shown(reading)}; expected a Reader that returns a Reading")
        return Source(suffix, reader.version, sha256, reading)

    def refuse(error: BaseException) -> Any:
        if isinstance(error, MissingDependency):
            raise error
        why = str(error) if isinstance(error, CorpusError) else f"{name} raised {error_text(error)}"
        says_how = isinstance(error, CorpusError) and ";" in why
        raise CorpusError(f"{path}: {why}{'' if says_how else '; mend the file'}") from error

    source = outcome(read, refuse)
    return source.reading.text, source


def converter_name(converter: Converter) -> str:
    """Return what a configuration calls a function: `module:function`."""
    return f"{converter.__module__}:{getattr(converter, '__qualname__', type(converter).__name__)}"


def converter_version(converter: Converter) -> str:
    """Return a version of a converter: its `version`, that of its package, a hash of its code, or ""."""
    if told := getattr(converter, "version", None):
        return str(told)
    with suppress(PackageNotFoundError):
        return version(converter.__module__.partition(".")[0])
    with suppress(OSError, TypeError):
        return hashlib.sha256(inspect.getsource(converter).encode()).hexdigest()[:12]
    return ""


@cache
def _readers() -> Mapping[str, EntryPoint]:
    """Return the readers by suffix, in lower case and without the dot."""
    table = {suffix: EntryPoint(suffix, f"{__package__}.{found}", _KIND) for suffix, found in _BUILT_IN.items()}
    for point in plug_ins(_KIND):
        if point.name in table:
            note(f"plug-in {point.value!r} reads files ending in .{point.name}, which have a reader")
        else:
            table[point.name] = point
    return table
