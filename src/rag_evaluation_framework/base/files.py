"""Files: strict JSON, texts and lines, compressed ones too, and writing that is whole or not at all."""

import codecs
import errno
import gzip
import io
import json
import os
import platform
import re
import shutil
import stat
import sys
import time
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from itertools import chain, count
from math import isinf
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeAlias, TypeGuard

from ..errors import DatasetError, RagEvalError
from .outside import shown

# Strict JSON: no repeated keys, no NaN or infinity, no numbers beyond floats, limited nesting.

Json: TypeAlias = dict[str, Any] | list[Any] | str | float | None
"""Any value that JSON can represent."""

_LONG = "Exceeds the limit"  # how Python begins to say that it does not read whole numbers of so many digits


def parse_json(text: str, *, finite: bool = True) -> Json:
    """Parse a JSON text and return its value.

    Args:
        text: The text.
        finite: Whether numbers beyond the range of floats are refused. If not, they are infinite, for callers that
            check numbers in any case: to look at each takes as long as the rest.

    Raises:
        ValueError: It is not valid JSON, repeats a key, contains NaN, infinity or a number beyond the range of floats,
            or is nested too deeply.
    """
    try:
        value: Json = (_DECODER if finite else _QUICK).decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:
        if not str(error).startswith(_LONG):
            raise
        raise ValueError(f"a whole number has more than {sys.get_int_max_str_digits():,} digits") from error
    return value


def _finite(written: str) -> float:
    number = float(written)
    if isinf(number):
        raise ValueError(f"{written:.60} is too large for a floating-point number")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a valid JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"duplicate key {shown(next(key for key, count in counts.items() if count > 1))}")
    return content


# Made once: making one takes as long as reading a line of JSONL.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_refuse_constant)
_QUICK = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


# Folders in which something is made beside its place, to be moved there whole; what killed processes left is removed.
#
# Whoever makes something holds a lock on its folder, which ends with the process however that ends: a process id would
# be another's one day. A lock says nothing about other machines that share the file system, so what comes from one of
# them is removed only when nothing in it has changed for a day.

if sys.platform != "win32":
    import fcntl

_PREFIX = ".rag-eval-unfinished-"
_LONG_AGO = 24 * 60 * 60  # seconds
_MINE = f"{_PREFIX}{platform.node()}-"  # locks are known to this machine alone


@contextmanager
def temporary_folder(parent: Path) -> Generator[Path]:
    """Make a hidden folder in `parent` for content that is moved there when finished; remove leftovers afterwards.

    Folders of processes that were killed are removed first, and `parent` is made if there is none.

    Raises:
        OSError: The folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(parent)
    folder, lock = _made(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # not there any more if all went well
        if lock is not None:
            os.close(lock)


def is_unfinished(place: Path) -> bool:
    """Return whether a folder is one in which something is made, or was by a process that was killed."""
    return place.name.startswith(_PREFIX)


def _made(parent: Path) -> tuple[Path, int | None]:
    """Make a folder and lock it, if the file system can do that."""
    while True:
        folder = Path(mkdtemp(prefix=_MINE, dir=parent))
        try:
            return folder, locked(folder)
        except (BlockingIOError, FileNotFoundError):  # another process takes it for an abandoned one: let it
            continue


def remove_abandoned(parent: Path) -> None:
    """Remove the hidden folders that killed processes left in a folder."""
    try:
        found = [*parent.glob(f"{_PREFIX}*")]
    except OSError:  # the folder was removed meanwhile, or cannot be read
        return
    for folder in found:
        with suppress(OSError):  # it is in use, or was moved or removed meanwhile
            lock = locked(folder) if folder.name.startswith(_MINE) else None
            try:
                last_change = max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
                if lock is not None or time.time() - last_change > _LONG_AGO:
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                if lock is not None:
                    os.close(lock)


def locked(folder: Path) -> int | None:
    """Lock a folder until the descriptor that is returned is closed; None where folders cannot be locked.

    Raises:
        BlockingIOError: Another process holds it.
        FileNotFoundError: It is not there any more.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), folder.stat()):  # it was removed, and another one made
            raise FileNotFoundError(folder)
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


# Text, JSON and CSV files: strict reading and atomic writing.

LARGEST = 200_000_000
"""How many bytes a file may have that is read as a whole."""

_WIDEST = 4  # bytes by which UTF-16 and UTF-32 are recognised
LONGEST_LINE = 100_000_000  # bytes of a line, where what is in a file is read line by line
# At the beginning of a text that has the encoding; others seldom begin so.
_WIDE = {
    "UTF-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff"),
    "UTF-16LE": re.compile(rb"(?:[\t-~]\0){2}"),
    "UTF-16BE": re.compile(rb"(?:\0[\t-~]){2}"),
}
_IMPOSSIBLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)


def checked_path(given: str | os.PathLike[str], refusal: type[RagEvalError] = DatasetError) -> Path:
    """Return a path after checking that a file can be called so; whether there is one is left to who opens it.

    Raises:
        InputError: It is not a path, is too long, goes round in links, or holds a NUL or a surrogate that stands for no
            byte; raised as the class `refusal`.
    """
    try:
        path = Path(given)
        for place in (path, *(Path(os.sep, name) for name in path.parts)):  # its folder may have to be made yet
            with suppress(FileNotFoundError):
                place.lstat()
    except TypeError as error:
        raise refusal(f"{shown(given)} is not a path; expected one, of a file or a folder") from error
    except ValueError as error:  # a UnicodeEncodeError is one
        raise refusal(f"path {shown(str(given))}: no file can be called so ({error}); choose another path") from error
    except OSError as error:
        if error.errno in _IMPOSSIBLE:
            raise refusal(f"path {shown(str(given))}: {error.strerror}; choose another path") from error
        path = Path(given)
    return path


def from_home(given: str | os.PathLike[str]) -> str:
    """Return a path, as a shell reads it: `~` at its beginning is the folder of the user, where there is one."""
    try:
        return os.path.expanduser(given)  # noqa: PTH111  that of Path raises if there is no such user
    except ValueError:  # nobody can be called so; who opens it says why
        return os.fspath(given)


def whole_path(given: str) -> str:
    """Return a path from the root on; an address, and what no path can be, as it is."""
    try:
        return given if "://" in given else str(Path(given).resolve())
    except (OSError, ValueError):
        return given


def read_bytes(path: Path, refusal: type[RagEvalError], *, most: int, remedy: str) -> bytes:
    """Return the content of a file or pipe.

    Args:
        path: A regular file, or a pipe such as `/dev/stdin`; one that nobody writes to is empty.
        refusal: The class of the error.
        most: How many bytes it may have.
        remedy: What to do about a larger one, for the message.

    Raises:
        InputError: It cannot be read, is too large, or is something else, such as a folder or device; raised as the
            class `refusal`.
    """
    try:
        with opened(path, refusal) as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > most else file.read() if size else file.read(most + 1)  # a pipe has no size
    except OSError as error:
        raise _unreadable(path, error, refusal) from error
    if max(size, len(data)) > most:
        raise refusal(f"{path}: has more than {most:,} bytes; {remedy}")
    return data


def as_utf8(data: bytes, path: Path, refusal: type[RagEvalError]) -> bytes:
    """Return the content of a file in UTF-8: converted if it is UTF-16 or UTF-32, else as it is.

    Raises:
        InputError: It begins so, and is not valid; raised as the class `refusal`.
    """
    encoding = _wide(data)
    try:
        return data.decode(encoding).encode() if encoding else data
    except UnicodeError as error:
        raise refusal(f"{path}: not valid {encoding}; save the file as UTF-8") from error


def _wide(data: bytes) -> str | None:
    """Return the encoding of a content, or its begin, that is UTF-16 or UTF-32; None of another."""
    return next((encoding for encoding, begin in _WIDE.items() if begin.match(data)), None)


def read_text(
    path: Path,
    refusal: type[RagEvalError] = DatasetError,
    *,
    most: int = LARGEST,
    remedy: str = "save it as JSONL, which is read line by line",
) -> str:
    """Return the text of a file or pipe, with newlines unchanged and without a byte order mark.

    It is UTF-8, or UTF-16 or UTF-32 by its byte order mark or its first characters. The arguments are those of
    `read_bytes`.

    Raises:
        InputError: The file cannot be read, is too large, or is not valid UTF-8; raised as the class `refusal`.
    """
    data = read_bytes(path, refusal, most=most, remedy=remedy)
    try:
        return as_utf8(data, path, refusal).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: not valid UTF-8 (byte {error.start}); save the file as UTF-8") from error


def opened(path: Path, refusal: type[RagEvalError]) -> io.BufferedReader:
    """Open a regular file or a pipe for reading, without waiting for somebody to write to it."""
    try:
        file = open_at_once(path)
    except (OSError, ValueError):
        checked_path(path, refusal)  # says it in words, if it is because of the name
        raise
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISFIFO(mode):
        os.set_blocking(file.fileno(), True)
    elif not stat.S_ISREG(mode):
        file.close()
        raise refusal(f"{path}: is a device; expected a file")
    return file


def open_at_once(path: Path) -> io.BufferedReader:
    """Open whatever is there for reading, without waiting for somebody to write to a pipe; who asks closes it."""
    # Windows has no pipes that are files.
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))


def _unreadable(path: Path, error: OSError, refusal: type[RagEvalError]) -> RagEvalError:
    return refusal(f"{path}: cannot be read ({error.strerror}); check the path and its permissions")


def read_json_text(text: str, where: str, refusal: type[RagEvalError] = DatasetError) -> Json:
    """Parse a JSON text and return its value.

    Raises:
        InputError: It is not valid JSON; raised as the class `refusal`.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise refusal(f"{where}: not valid JSON: {error}") from error


def json_lines(
    path: Path, refusal: type[RagEvalError] = DatasetError, *, longest: int | None = None, finite: bool = True
) -> Iterator[tuple[int, Json]]:
    """Yield the number and value of each non-blank line of a JSONL file.

    Args:
        path: The file.
        refusal: The class of the error.
        longest: How many bytes a line may have; by default `LONGEST_LINE`.
        finite: As in `parse_json`.

    Raises:
        InputError: The file cannot be read, or a line is too long, not valid UTF-8 or not valid JSON; raised as the
            class `refusal`.
    """
    try:
        longest = LONGEST_LINE if longest is None else longest
        with opened(path, refusal) as lines:
            wide = _wide(lines.peek(_WIDEST))
            utf8 = codecs.EncodedFile(lines, "utf-8", wide) if wide else lines
            for number, line in enumerate(iter(partial(utf8.readline, longest + 1), b""), start=1):
                where = f"{path}: line {number}"
                if len(line) > longest:
                    raise refusal(f"{where}: has more than {longest:,} bytes; is it JSONL, one value per line?")
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if text:
                        yield number, parse_json(text, finite=finite)
                except UnicodeDecodeError as error:
                    raise refusal(
                        f"{where}: not valid UTF-8 (byte {error.start} of the line); save the file as UTF-8"
                    ) from error
                except ValueError as error:
                    raise refusal(f"{where}: not valid JSON: {error}") from error
    except UnicodeError as error:
        raise refusal(f"{path}: not valid UTF-16 or UTF-32; save the file as UTF-8") from error
    except OSError as error:
        raise _unreadable(path, error, refusal) from error


def is_deeper(value: object, most: int) -> bool:
    """Return whether lists and objects are nested deeper than this, which what walks through them may not bear."""
    level: list[Any] = [value]
    for _ in range(most):
        if not level:
            return False
        nested = (item.values() if is_object(item) else item for item in level if is_object(item) or is_list(item))
        level = [*chain.from_iterable(nested)]
    return any(is_object(item) or is_list(item) for item in level)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Return whether a parsed value is a list."""
    return isinstance(value, list)


def is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    """Return whether a parsed value is an object."""
    return isinstance(value, dict)


def write_new(path: Path, text: str) -> None:
    """Write a new file atomically, safe against other threads and processes writing the same path.

    Raises:
        DatasetError: The file already exists (it is not overwritten), or it cannot be written.
    """
    checked_path(path)
    try:
        with temporary_folder(path.parent) as folder:
            part = folder / "part"
            with part.open("xb") as file:
                # A lone surrogate, which UTF-8 cannot hold, becomes its JSON escape.
                file.write(text.encode("utf-8", "backslashreplace"))
            if not published(part, path):
                raise DatasetError(
                    f"{path}: already exists and is not overwritten; choose another name or move the file"
                )
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); choose another path") from error


def write_over(path: Path, text: str) -> None:
    """Write a file atomically, in place of the one that may be there.

    Raises:
        OSError: It cannot be written.
    """
    with temporary_folder(path.parent) as folder:
        part = folder / "part"
        part.write_bytes(text.encode("utf-8", "backslashreplace"))
        part.replace(path)


def published(part: Path, path: Path) -> bool:
    """Move a file to its final name without replacing another file; return whether the name was free."""
    try:
        os.link(part, path)
    except FileExistsError:
        return False
    except OSError:  # file systems without hard links: reserve the name first, so that we only replace our own file
        try:
            path.open("xb").close()
        except FileExistsError:
            return False
        try:
            part.replace(path)
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise
    return True


# Files compressed with gzip, which may unfold to any size: 300 KB of them can be 300 MB of zeros. Texts and numbers are
# seldom more than ten times their compressed size, so no more is read than `FREE` bytes and `RATIO`
# times the size of the file.

FREE = 16 << 20
RATIO = 50
_PIECE = 1 << 20  # what is read at a time: `read` takes the memory for all that it is asked for at once


def decompressed(data: bytes, path: Path) -> bytes:
    """Return what is compressed in the content of a file.

    Raises:
        DatasetError: It is not compressed with gzip, is cut off, or is too much.
    """
    found = BytesIO()
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as pieces:
            while piece := pieces.read(_PIECE):
                if found.write(piece) and found.tell() > most_unfolded(len(data)):
                    raise DatasetError(f"{path}: {_too_much(len(data))}. Decompress it first if it is right")
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path}: cannot be decompressed ({error}); create or download the file again") from error
    return found.getvalue()


def decompressed_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines that are compressed in a file; no more than one of them is kept.

    Raises:
        DatasetError: The file cannot be read, is cut off, or is too much.
    """
    try:
        size = path.stat().st_size
        left = most_unfolded(size)
        with gzip.open(path) as lines:
            for number in count(1):
                if not (line := lines.readline(left + 1)):
                    return
                if len(line) > left:
                    raise DatasetError(f"{path}: line {number}: {_too_much(size)}")
                left -= len(line)
                yield line
    except (OSError, EOFError, zlib.error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise DatasetError(f"{path}: cannot be read ({reason})") from error


def most_unfolded(size: int) -> int:
    """Return how many bytes may be compressed in a file of this size."""
    return FREE + RATIO * size


def _too_much(size: int) -> str:
    return f"unfolds to more than {most_unfolded(size):,} bytes, of a file of {size:,} bytes; no more is read"
