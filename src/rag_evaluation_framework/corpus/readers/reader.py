"""The contract of readers, what they return, and which one reads a file."""

import hashlib
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.files import read_bytes
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import raised, shown
from rag_evaluation_framework.base.tables import decoded
from rag_evaluation_framework.errors import CorpusError

_GROUP = f"{__name__.partition('.')[0]}.reader"
_LARGEST = 500_000_000  # bytes of a file
_BUILT_IN = {"html": "html:HtmlReader", "htm": "html:HtmlReader"}


@dataclass(frozen=True)
class Reading:
    """What a reader makes of a file.

    Attributes:
        text: The canonical text. The same bytes, read by the same version, always give the same text.
        starts: Offsets in the text from which on it goes along with the file, ascending, the last one its end; none if
            no places are known.
        offsets: The offset in the file, in its code points, of each of `starts`; the last one is its end.
        line_ends: The offsets of the line ends of the file, ascending.
    """

    text: str
    starts: Sequence[int] = ()
    offsets: Sequence[int] = ()
    line_ends: Sequence[int] = ()


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
        reader: Name of the reader: the suffix of its files.
        version: Version of the reader.
        sha256: SHA-256 of the bytes of the file, 64 hexadecimal digits.
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

    def place(self, at: int) -> tuple[int, int]:
        """Return the line and the column in the file of what stands at an offset of the text; both count from 1."""
        offset, ends = self.offset(at), self.reading.line_ends
        line = bisect_left(ends, offset)
        return line + 1, offset - (ends[line - 1] if line else -1)


def read_file(path: Path) -> tuple[str, Source | None]:
    """Return the text of a file, and what its reader knows of it; None if the file is its own text.

    Raises:
        CorpusError: The file cannot be read, has more than 500 MB, or is not what its reader expects; plain text has
            to be UTF-8.
    """
    data = read_bytes(path, CorpusError, most=_LARGEST, remedy="split it, or exclude it with a narrower glob pattern")
    suffix = path.suffix.lower().removeprefix(".")
    point = _readers().get(suffix)
    if point is None:
        return decoded(data, path, CorpusError), None

    def refuse(error: BaseException) -> Any:
        why = str(error) if isinstance(error, CorpusError) else f"its reader {point.value} raised {raised(error)}"
        raise CorpusError(f"{path}: {why}; mend the file, or exclude it with a narrower glob pattern") from error

    reader, reading = outcome(lambda: _read(point, data), refuse)
    return reading.text, Source(suffix, reader.version, hashlib.sha256(data).hexdigest(), reading)


def _read(point: EntryPoint, data: bytes) -> tuple[Reader, Reading]:
    reader = point.load()()
    reading = reader.read(data)
    if not isinstance(reader, Reader) or not isinstance(reading, Reading):
        raise TypeError(f"{shown(reading)}; expected a Reader that returns a Reading")
    return reader, reading


@cache
def _readers() -> Mapping[str, EntryPoint]:
    """Return the readers by suffix, in lower case and without the dot."""
    table = {suffix: EntryPoint(suffix, f"{__package__}.{found}", _GROUP) for suffix, found in _BUILT_IN.items()}
    for point in entry_points(group=_GROUP):
        if point.name in table:
            note(f"plug-in {point.value!r} reads files ending in .{point.name}, which have a reader")
        else:
            table[point.name] = point
    return table
