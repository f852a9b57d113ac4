"""Text, JSON and CSV files: strict reading and atomic writing."""

import csv
import errno
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.strict_json import Json, parse_json
from rag_evaluation_framework._support.unfinished import unfinished
from rag_evaluation_framework.errors import DatasetError, InputError

_LARGEST = 200_000_000  # bytes of a dataset that is read as a whole
LONGEST_LINE = 100_000_000  # bytes of a line, where what is in a file is read line by line
# At the beginning of a text that has the encoding; others seldom begin so.
_WIDE = {
    "UTF-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff"),
    "UTF-16LE": re.compile(rb"(?:[\t-~]\0){2}"),
    "UTF-16BE": re.compile(rb"(?:\0[\t-~]){2}"),
}
_IMPOSSIBLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)


def checked_path(given: str | os.PathLike[str], refusal: type[InputError] = DatasetError) -> Path:
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
        raise refusal(f"{shown(given)} is not a path; expected one, such as 'docs' or Path('docs')") from error
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


def read_bytes(path: Path, refusal: type[InputError], *, most: int, remedy: str) -> bytes:
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
        with _opened(path, refusal) as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > most else file.read() if size else file.read(most + 1)  # a pipe has no size
    except OSError as error:
        raise _unreadable(path, error, refusal) from error
    if max(size, len(data)) > most:
        raise refusal(f"{path}: has more than {most:,} bytes; {remedy}")
    return data


def refuse_wide(data: bytes, path: Path, refusal: type[InputError]) -> None:
    """Raise an error of the class `refusal` if the content of a file, or its begin, is UTF-16 or UTF-32."""
    for encoding, begin in _WIDE.items():
        if begin.match(data):
            raise refusal(f"{path}: is {encoding}; expected UTF-8; convert it: iconv -f {encoding} -t UTF-8 OLD > NEW")


def read_text(
    path: Path,
    refusal: type[InputError] = DatasetError,
    *,
    most: int = _LARGEST,
    remedy: str = "save it as JSONL, which is read line by line",
) -> str:
    """Return the text of a UTF-8 file or pipe, with newlines unchanged and without a byte order mark.

    The arguments are those of `read_bytes`.

    Raises:
        InputError: The file cannot be read, is too large, or is not valid UTF-8; raised as the class `refusal`.
    """
    data = read_bytes(path, refusal, most=most, remedy=remedy)
    refuse_wide(data, path, refusal)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: not valid UTF-8 (byte {error.start}); save the file as UTF-8") from error


def _opened(path: Path, refusal: type[InputError]) -> BinaryIO:
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


def _unreadable(path: Path, error: OSError, refusal: type[InputError]) -> InputError:
    return refusal(f"{path}: cannot be read ({error.strerror}); check the path and its permissions")


def read_json_text(text: str, where: str) -> Json:
    """Parse a JSON text and return its value.

    Raises:
        DatasetError: It is not valid JSON.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise DatasetError(f"{where}: not valid JSON: {error}") from error


def json_lines(path: Path) -> Iterator[tuple[int, Json]]:
    """Yield the number and value of each non-blank line of a JSONL file.

    Raises:
        DatasetError: The file cannot be read, or a line is not valid UTF-8 or not valid JSON.
    """
    try:
        with _opened(path, DatasetError) as lines:
            for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE + 1), b""), start=1):
                where = f"{path}: line {number}"
                if len(line) > LONGEST_LINE:
                    raise DatasetError(
                        f"{where}: has more than {LONGEST_LINE:,} bytes; is it JSONL, one value per line?"
                    )
                if number == 1:
                    refuse_wide(line, path, DatasetError)
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DatasetError(
                        f"{where}: not valid UTF-8 (byte {error.start} of the line); save the file as UTF-8"
                    ) from error
                if text.strip():
                    yield number, read_json_text(text.strip(), where)
    except OSError as error:
        raise _unreadable(path, error, DatasetError) from error


def table_rows(text: str, delimiter: str = ",", *, skip_initial_space: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV text, the header first, each with the number of the line on which it starts.

    As Excel writes tables, a line `sep=;` may precede the header, and empty columns may follow on the right: neither is
    part of the table.

    Args:
        text: The text, with newlines unchanged.
        delimiter: The character between two cells.
        skip_initial_space: Whether white space behind a delimiter is dropped.

    Raises:
        csv.Error: A row is not valid CSV; the message says on which line it starts.
    """
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=skip_initial_space
    )
    first, width = 1, 0
    try:
        for cells in reader:
            if first > 1 or cells != ["sep=", ""]:
                width = width or max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)
                yield first, cells if any(cells[width:]) else cells[:width]
            first = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error) and text.count('"') % 2 == 0:  # as many marks are opened as closed
            told = f"a cell has more than {csv.field_size_limit():,} characters; shorten it"
        else:
            told = f"{error}; is there an unclosed quotation mark?"
        raise csv.Error(f"line {first}: {told}") from error


def folder_size(folder: Path) -> int:
    """Return how many bytes a file, or those of a folder, take, also while others remove some."""
    total = 0
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):
            found = path.lstat()
            total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total


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
        with unfinished(path.parent) as folder:
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
    with unfinished(path.parent) as folder:
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
            _remove(path)
            raise
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
