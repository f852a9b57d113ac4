"""Files of text and JSON: read strictly, and written so that a reader never meets half of one."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from rag_evaluation_framework.errors import DatasetError, InputError
from rag_evaluation_framework.strict_json import parse_json
from rag_evaluation_framework.types import Json


def read_text(path: Path, refusal: type[InputError] = DatasetError) -> str:
    """Return the text of a UTF-8 file, newlines untouched, without a byte order mark.

    Raises:
        InputError: The file cannot be read, or is no UTF-8; of the kind that is given as `refusal`.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise refusal(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: no UTF-8 at byte {error.start}; save the file as UTF-8") from error


def read_json_text(text: str, where: str) -> Json:
    """Return the value of a JSON text.

    Raises:
        DatasetError: It cannot be parsed.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise DatasetError(f"{where}: no valid JSON: {error}") from error


def json_lines(path: Path) -> Iterator[tuple[int, Json]]:
    """Yield the number and value of each line that is not blank.

    Raises:
        DatasetError: The file cannot be read, or a line is no UTF-8 or no JSON.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                where = f"{path}: line {number}"
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DatasetError(
                        f"{where}: no UTF-8 at byte {error.start} of it; save the file as UTF-8"
                    ) from error
                if text.strip():
                    yield number, read_json_text(text.strip(), where)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Return whether a value of a file is a list."""
    return isinstance(value, list)


def is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    """Return whether a value of a file is an object."""
    return isinstance(value, dict)


def write_new(path: Path, text: str) -> None:
    """Write a file whole or not at all, also if other threads and processes write it at the same moment.

    Raises:
        DatasetError: There is a file of that name already, which is not overwritten, or it cannot be written.
    """
    # Not of tempfile, whose files nobody else may read. No other writer has this name, so that none writes to a file
    # that is published already.
    part = path.with_name(f".{os.urandom(16).hex()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as file:
            # A lone surrogate, which UTF-8 cannot hold, becomes its JSON escape.
            file.write(text.encode("utf-8", "backslashreplace"))
        if not _published(part, path):
            raise DatasetError(f"{path}: exists already and is not overwritten; choose another name or move it away")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    finally:
        _remove(part)


def _published(part: Path, path: Path) -> bool:
    """Give a file its name, unlike a rename never in place of another; return whether the name was free."""
    try:
        os.link(part, path)
    except FileExistsError:
        return False
    except OSError:  # file systems without hard links: take the name first, so that what is replaced is our own
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
