"""The folder of results: one folder per run, written whole or not at all, never overwritten."""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from rag_evaluation_framework._support.strict_json import Json
from rag_evaluation_framework.errors import ConfigError, ResultError

ROOT = Path(".rag-eval")
RUNS = "runs"
REPORT = "report.json"
SUMMARY = "summary.md"
SCHEMA_VERSION = 1


def check_root(root: Path) -> None:
    """Raise ConfigError if results cannot be saved there: better before the work than after it."""
    runs = root.absolute() / RUNS
    existing = next(path for path in (runs, *runs.parents) if path.exists())
    if not existing.is_dir():
        raise ConfigError(f"results are to be saved in {root}, but {existing} is a file; choose another folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigError(f"results are to be saved in {root}, but {existing} is not writable; choose another folder")


def run_folders(root: str | Path, created: str, dataset: str) -> Iterator[Path]:
    """Yield the names a run's folder may have: `<root>/runs/<UTC time>-<dataset>`, then the same with a number."""
    time = datetime.fromisoformat(created).strftime("%Y%m%dT%H%M%SZ")
    name = f"{time}-{re.sub(r'[^A-Za-z0-9._-]+', '-', dataset)[:60].strip('-.') or 'dataset'}"
    for number in count(1):
        yield Path(root) / RUNS / (name if number == 1 else f"{name}-{number}")


def write_run(root: str | Path, created: str, dataset: str, files: Mapping[str, str]) -> Path:
    """Create the first folder of `run_folders` that is free, even if another process takes one at the same moment.

    Raises:
        ResultError: No folder can be created there.
    """
    for folder in run_folders(root, created, dataset):
        try:
            if not folder.exists():
                return write_folder(folder, files)
        except ResultError:
            if not folder.exists():
                raise
    raise ResultError(f"{root}: has no free folder")


def write_folder(folder: Path, files: Mapping[str, str]) -> Path:
    """Create a folder with these files, all at once.

    Raises:
        ResultError: The folder exists and is not empty, or cannot be created.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ResultError(f"{folder}: cannot be created ({error.strerror}); choose another folder") from error
    try:
        for name, text in files.items():
            (part / name).write_bytes(text.encode("utf-8", "backslashreplace"))
        part.chmod(0o755)
        part.rename(folder)  # replaces nothing but an empty folder
    except OSError as error:
        raise ResultError(
            f"{folder}: exists already or cannot be written ({error.strerror}); nothing was overwritten"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)  # renamed if all went well; an interrupt leaves nothing either
    return folder


def report_text(content: Mapping[str, Any]) -> str:
    """Return a report as strict JSON, one line per query, so that it can be read and compared by eye."""
    head = {"schema_version": SCHEMA_VERSION, **{key: value for key, value in content.items() if key != "queries"}}
    text = json.dumps(head, ensure_ascii=False, allow_nan=False, indent=1)
    rows = ",\n  ".join(json.dumps(query, ensure_ascii=False, allow_nan=False) for query in content["queries"])
    return f'{text[:-2]},\n "queries": [\n  {rows}\n ]\n}}\n'


def read_report(path: Path) -> dict[str, Any]:
    """Return the content of a report file.

    Raises:
        ResultError: The file is missing, is not a JSON object, or has another schema version.
    """
    file = path / REPORT if path.is_dir() else path
    try:
        content: Json = json.loads(file.read_bytes())
    except OSError as error:
        raise ResultError(
            f"{file}: cannot be read ({error.strerror}); expected a run's folder or its {REPORT}"
        ) from error
    except ValueError as error:
        raise ResultError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        found = content.get("schema_version") if isinstance(content, dict) else None
        raise ResultError(f"{file}: schema_version is {found!r}; this version reads {SCHEMA_VERSION}")
    return content
