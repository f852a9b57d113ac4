"""Files compressed with gzip, which may unfold to any size: 300 KB of them can be 300 MB of zeros.

What is kept of them at a time is bounded: by `FREE` bytes or, if that is more, by `RATIO` times the size of the file.
Texts and numbers are seldom more than ten times their compressed size. A line, of which values of many times its size
may be made, is at most as large as the file, if that is more than `FREE`, and never larger than `LONGEST_LINE`. All
lines together are bounded too: much may be kept of each.
"""

import gzip
import os
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from rag_evaluation_framework.errors import DatasetError

FREE = 16 << 20
FREE_IN_ALL = 256 << 20
LONGEST_LINE = 256 << 20
RATIO = 50
_PIECE = 1 << 20


def unfolded(data: bytes, path: Path) -> bytes:
    """Return what is compressed in the content of a file.

    Raises:
        DatasetError: It is not compressed with gzip, is cut off, or is too much.
    """
    most, found = max(FREE, RATIO * len(data)), BytesIO()
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as pieces:
            while piece := pieces.read(_PIECE):
                if found.write(piece) and found.tell() > most:
                    raise DatasetError(
                        f"{path}: unfolds to {_too_much(len(data), most)}. Decompress it first if it is right"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path}: cannot be decompressed ({error}); create or download the file again") from error
    return found.getvalue()


def unfolded_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines that are compressed in a file; no more than one of them is kept.

    Raises:
        DatasetError: The file cannot be read, is cut off, has a line that is too long, or is too much.
    """
    try:
        with path.open("rb") as file, gzip.GzipFile(fileobj=file) as lines:
            size = os.fstat(file.fileno()).st_size
            number = total = 0
            while line := lines.readline(_PIECE):
                number += 1
                if len(line) == _PIECE and not line.endswith(b"\n"):
                    line = _long(line, lines, size, f"{path}: line {number}")
                total += weight(line)
                if total > most_in_all(size):
                    raise DatasetError(f"{path}: line {number}: unfolds to {_too_much(size, most_in_all(size))}")
                yield line
    except (OSError, EOFError, zlib.error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise DatasetError(f"{path}: cannot be read ({reason})") from error


def most_in_all(size: int) -> int:
    """Return how many bytes the lines may have that are compressed in a file of this size, and what is made of them."""
    return FREE_IN_ALL + RATIO * size


def weight(line: bytes) -> int:
    """Return how many bytes the text of a line may take: one wide character makes four of each."""
    return len(line) if line.isascii() else 4 * len(line)


def _long(begin: bytes, lines: gzip.GzipFile, size: int, where: str) -> bytes:
    """Return the whole of a line of which the begin was read."""
    line, piece, most, each = BytesIO(), begin, max(FREE, size), 1
    while piece:
        line.write(piece)
        each = max(each, weight(piece) // len(piece))
        if each * line.tell() > LONGEST_LINE:
            raise DatasetError(f"{where}: takes more than {LONGEST_LINE:,} bytes; expected the hits of one question")
        if line.tell() > most:
            raise DatasetError(f"{where}: unfolds to {_too_much(size, most)}")
        piece = b"" if piece.endswith(b"\n") else lines.readline(_PIECE)
    return line.getvalue()


def _too_much(size: int, most: int) -> str:
    return f"more than {most:,} bytes, of a file of {size:,} bytes; no more is read"
