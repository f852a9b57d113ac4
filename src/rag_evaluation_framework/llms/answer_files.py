"""The folder of kept answers: what in it is ours, and what is not."""

import re
from pathlib import Path

from rag_evaluation_framework._support.unfinished import is_unfinished, remove_abandoned

_PART = re.compile("[0-9a-f]{2}")
_ANSWER = re.compile(r"[0-9a-f]{64}-\d+\.json")


def answer_file(folder: Path, key: str, attempt: int) -> Path:
    """Return the file of the answer to an attempt, numbered from 1."""
    return folder / key[:2] / f"{key}-{attempt}.json"


def answer_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of the answers in a folder, and what is not ours."""
    ours: list[Path] = []
    others: list[Path] = []
    for place in sorted(folder.glob("*")):
        if is_unfinished(place):
            continue
        if not _is_part(place):
            others.append(place)
            continue
        for path in sorted(place.iterdir()):
            is_answer = _ANSWER.fullmatch(path.name) and path.is_file() and not path.is_symlink()
            (ours if is_answer else others).append(path)
    return ours, others


def remove_answers(folder: Path) -> None:
    """Remove the answers in a folder, and then the folders in which nothing is left.

    Raises:
        OSError: Something cannot be removed.
    """
    remove_abandoned(folder)
    for path in answer_files(folder)[0]:
        path.unlink(missing_ok=True)
    for place in (*filter(_is_part, folder.glob("*")), folder):
        if place.is_dir() and not (place.is_symlink() or any(place.iterdir())):
            place.rmdir()


def _is_part(place: Path) -> bool:
    return _PART.fullmatch(place.name) is not None and place.is_dir() and not place.is_symlink()
