"""Opening dataset files, and writing them so that a reader never meets half a file."""

import os
from contextlib import suppress
from pathlib import Path

from rag_evaluation_framework.errors import DatasetError


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, newlines untouched, without a byte order mark.

    Raises:
        DatasetError: The file cannot be read, or is no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: no UTF-8 at byte {error.start}; save the file as UTF-8") from error


def write_new(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        DatasetError: There is a file of that name already, which is not overwritten, or it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    try:
        # A lone surrogate, which UTF-8 cannot hold, becomes its JSON escape.
        part.write_bytes(text.encode("utf-8", "backslashreplace"))
        _publish(part, path)
    except FileExistsError:
        raise DatasetError(
            f"{path}: exists already and is not overwritten; choose another name or move it away"
        ) from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    finally:
        with suppress(OSError):
            part.unlink()


def _publish(part: Path, path: Path) -> None:
    """Give a file its name, unlike a rename never in place of another."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # file systems without hard links
        with path.open("xb") as file:
            file.write(part.read_bytes())
