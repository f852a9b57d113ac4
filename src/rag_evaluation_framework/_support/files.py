"""Text, JSON and CSV files: strict reading and atomic writing."""

import csv
import io
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from rag_evaluation_framework._support.strict_json import Json, parse_json
from rag_evaluation_framework._support.unfinished import unfinished
from rag_evaluation_framework.errors import DatasetError, InputError


def read_text(path: Path, refusal: type[InputError] = DatasetError) -> str:
    """Return the text of a UTF-8 file, with newlines unchanged and without a byte order mark.

    Raises:
        InputError: The file cannot be read, or is not valid UTF-8; raised as the class `refusal`.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise refusal(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: not valid UTF-8 (byte {error.start}); save the file as UTF-8") from error


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
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                where = f"{path}: line {number}"
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DatasetError(
                        f"{where}: not valid UTF-8 (byte {error.start} of the line); save the file as UTF-8"
                    ) from error
                if text.strip():
                    yield number, read_json_text(text.strip(), where)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error


def table_rows(text: str, delimiter: str = ",", *, skip_initial_space: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV text, the header among them, each with the number of the line on which it starts.

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
    first = 1
    try:
        for cells in reader:
            yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        raise csv.Error(f"line {first}: {error}; is there an unclosed quotation mark?") from error


def folder_size(folder: Path) -> int:
    """Return how many bytes the files of a folder take, also while others remove some."""
    total = 0
    for path in folder.rglob("*"):
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
    try:
        with unfinished(path.parent) as folder:
            part = folder / "part"
            with part.open("xb") as file:
                # A lone surrogate, which UTF-8 cannot hold, becomes its JSON escape.
                file.write(text.encode("utf-8", "backslashreplace"))
            if not _published(part, path):
                raise DatasetError(
                    f"{path}: already exists and is not overwritten; choose another name or move the file"
                )
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); choose another path") from error


def _published(part: Path, path: Path) -> bool:
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
