"""The folder of results: one folder per run, written whole or not at all, never overwritten."""

import errno
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from ..base.exits import errors_as
from ..base.files import is_object, opened, read_json_text, read_text, remove_abandoned, temporary_folder
from ..base.outside import bounded, error_text, fit_to_keep, harmless_json, shown
from ..errors import ConfigError, ResultError

# The folder of results: one folder per run, written whole or not at all, never overwritten.

ROOT = Path(".rag-eval")
RUNS = "runs"
CELLS = "cells"
"""The folder of finished cells of sweeps."""
REPORT = "report.json"
QUESTIONS = "questions.jsonl"
RANKINGS = "rankings.jsonl.gz"
SUMMARY = "summary.md"
EXPERIMENT = "experiment.json"
"""Where a result was published, if it was: beside the report, which is never changed."""
BASELINE = "baseline"
UNFINISHED = "unfinished"
"""The folder in `runs/` of answers of runs that are under way, or ended early; it is no run."""
SCHEMA_VERSION = 4
LARGEST_REPORT = 256 << 20
"""How many bytes of a report are read. What is said of a run takes some kilobytes, 5,000 questions some megabytes."""
LONGEST_LINE = 256 << 20
"""How many bytes of a line are read, which is one question; 32 million characters take at most 6 each."""
_EXPECTED = f"expected a run's folder or its {REPORT}"
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


def check_root(root: Path, folder: str = RUNS) -> None:
    """Raise ConfigError if results cannot be saved in a folder there: better before the work than after it."""
    runs, where = root.absolute() / folder, f"results are to be saved in {bounded(str(root), 200)}"
    with errors_as(lambda error: ConfigError(f"{where}: not writable ({reason(error)}); choose another folder")):
        with suppress(FileNotFoundError, NotADirectoryError):
            runs.stat()  # no file may have this name
        existing = next(path for path in (runs, *runs.parents) if path.exists())
        if not existing.is_dir():
            raise ConfigError(f"{where}, but {existing} is a file; choose another folder")
        with temporary_folder(existing):  # what is allowed, is not always possible
            pass
    remove_abandoned(root)  # where that was tried by a process that was interrupted, before there were runs


def run_folders(root: str | Path, created: str, dataset: str, kind: str = RUNS) -> Iterator[Path]:
    """Yield the names a run's folder may have: `<root>/runs/<UTC time>-<dataset>`, then the same with a number."""
    time = datetime.fromisoformat(created).strftime("%Y%m%dT%H%M%SZ")
    name = f"{time}-{re.sub(r'[^A-Za-z0-9._-]+', '-', fit_to_keep(dataset))[:60].strip('-.') or 'dataset'}"
    for number in count(1):
        yield Path(root) / kind / (name if number == 1 else f"{name}-{number}")


def write_run(root: str | Path, created: str, dataset: str, write: Callable[[Path], None], kind: str = RUNS) -> Path:
    """Create the first folder of `run_folders` that is free, even if another process takes one at the same moment.

    Raises:
        ResultError: No folder can be created there.
    """
    for folder in run_folders(root, created, dataset, kind):
        try:
            if not folder.exists():
                return write_folder(folder, write)
        except ResultError:
            if not folder.exists():
                raise
    raise ResultError(f"{root}: has no free folder")


def write_folder(folder: Path, write: Callable[[Path], None]) -> Path:
    """Create a folder with the files that `write` writes into the folder it is given, all at once.

    Raises:
        ResultError: The folder exists and is not empty, or cannot be created or written.
    """
    made: Path | None = None
    try:
        with temporary_folder(folder.parent) as made:
            write(made)
            made.chmod(0o755)
            made.rename(folder)  # where nothing may be but an empty folder
    except OSError as error:
        if made is not None and error.errno in _TAKEN:
            raise ResultError(
                f"{folder}: exists already, and nothing was overwritten; choose another folder"
            ) from error
        raise ResultError(
            f"{folder}: cannot be {'created' if made is None else 'written'} ({reason(error)}); "
            f"{'make room, or ' if error.errno in (errno.ENOSPC, errno.EDQUOT) else ''}choose another folder"
        ) from error
    return folder


def reason(error: Exception) -> str:
    """Return why something cannot be read or written."""
    return (error.strerror if isinstance(error, OSError) else None) or error_text(error)


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines of text as UTF-8."""
    with file.open("wb") as output:
        for line in lines:
            output.write(harmless_json(f"{line}\n").encode())


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts into a folder by the names of their files; each ends with a line end."""
    for name, text in texts.items():
        write_lines(folder / name, [text.removesuffix("\n")])


def sha256(file: Path) -> str:
    """Return the hash of a file.

    Raises:
        ResultError: It cannot be read, or is not a file.
    """
    try:
        with opened(file, ResultError) as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise ResultError(f"{file}: cannot be read ({error.strerror})") from error


def report_text(head: Mapping[str, Any], queries: Sequence[str] | None) -> str:
    """Return a report as strict JSON, with one line per query so that it can be read and compared by eye.

    Args:
        head: What the report says of the whole run.
        queries: The queries as JSON; None if they are in the file beside.
    """
    text = json.dumps({"schema_version": SCHEMA_VERSION, **head}, ensure_ascii=False, allow_nan=False, indent=1)
    listed = ",\n".join(f"  {line}" for line in queries or ())
    return text if queries is None else f'{text[:-2]},\n "queries": [\n{listed}\n ]\n}}'


def read_report(path: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file of a report, and its content.

    Args:
        path: The file, or the folder it is in.

    Raises:
        ResultError: The file is missing or too large, is not a JSON object, or has another schema version.
    """
    is_there = True
    with suppress(OSError, ValueError):  # what no file can be called is refused when it is read
        path = path / REPORT if path.is_dir() else path
        is_there = path.exists()
    if path.name in (QUESTIONS, RANKINGS, SUMMARY):
        raise ResultError(f"{path}: is a part of a result; expected the run's folder or its {REPORT}")
    if not is_there:
        raise ResultError(f"{path}: cannot be read (No such file or directory); {_EXPECTED}")
    text = read_text(path, ResultError, most=LARGEST_REPORT, remedy=_EXPECTED)
    content = read_json_text(text, str(path), ResultError)
    if is_object(content) and "schema_version" not in content:
        raise ResultError(
            f"{path}: has no schema_version, so it is not a report of rag-eval; what other tools report cannot be "
            "compared, as nothing says that their scores mean the same. Run what it is about once more with rag-eval"
        )
    found = content["schema_version"] if is_object(content) else None
    if not is_object(content) or type(found) is not int or found != SCHEMA_VERSION:
        raise ResultError(
            f"{path}: schema_version is {shown(found)}; this version reads {SCHEMA_VERSION}: run it again, or read it "
            "with the version that wrote it"
        )
    return path, content
