"""The folder of exported models: what in it is ours, and what is not."""

import json
import re
from pathlib import Path

from rag_evaluation_framework.base.files import is_object

MODEL, TOKENIZER, RECORD = "model.onnx", "tokenizer.json", "export.json"
_EXPORT = re.compile("[0-9a-f]{64}")
_UNFINISHED = re.compile(r"\.[0-9a-f]{12}-\w+")


def exported(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of the exports in a folder, those that were never finished among them, and what is not ours."""
    ours: list[Path] = []
    others: list[Path] = []
    for place in sorted(folder.glob("*")):
        if not _is_export(place):
            others.append(place)
            continue
        known = _recorded(place)
        for path in sorted(place.iterdir()):
            (ours if path.name in known or _UNFINISHED.fullmatch(place.name) else others).append(path)
    return ours, others


def remove_exports(folder: Path) -> None:
    """Remove what is ours in the folder of exports, and then the folders in which nothing is left.

    Raises:
        OSError: Something cannot be removed.
    """
    places = [place for place in folder.glob("*") if _is_export(place)]
    for path in exported(folder)[0]:
        path.unlink(missing_ok=True)
    for place in (*places, folder):
        if place.is_dir() and not (place.is_symlink() or any(place.iterdir())):
            place.rmdir()


def _is_export(place: Path) -> bool:
    if place.is_symlink() or not place.is_dir():
        return False
    called = _EXPORT.fullmatch(place.name) or _UNFINISHED.fullmatch(place.name)
    return called is not None or (place / RECORD).is_file()


def _recorded(export: Path) -> set[str]:
    """Return how the files of an export may be called: a large model has more of them."""
    try:
        record = json.loads((export / RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        record = None
    listed = record.get("files") if is_object(record) else None
    return {MODEL, TOKENIZER, RECORD, *(listed if is_object(listed) else ())}
