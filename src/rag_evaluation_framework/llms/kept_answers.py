"""Answers of language models, kept on disk: what was answered once is not asked, and paid for, again."""

import json
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from rag_evaluation_framework.base.files import (
    folder_size,
    from_home,
    is_object,
    is_unfinished,
    published,
    remove_abandoned,
    unfinished,
)
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.data.ids import content_digest

# The folder of kept answers: what in it is ours, and what is not.

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


_VERSION = 1  # part of the key: answers of another version are not found
_CHECKSUM = "checksum"


@dataclass(frozen=True)
class KeptAnswer:
    """What a model answered, whether it can be used or not.

    Attributes:
        text: The text; None if there was none.
        ended: Why it ended: `stop`, `length`, `content_filter`; None if that is not told.
        refusal: Why the model refused to answer; "" if it did not.
        input_tokens: What the provider counted as read.
        output_tokens: What it counted as written.
    """

    text: str | None
    ended: str | None = "stop"
    refusal: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


class KeptAnswers:
    """Answers in a folder, one small file each, found by all that an answer depends on. Threads may use one at once.

    A file is written beside its place and moved there, so that a process that is killed leaves a whole one or none, and
    has a checksum: what is damaged is removed, noted, and asked for again. Prompts are not in it.

    Args:
        root: The folder of runs and datasets; the answers are in `<root>/cache/answers`.

    Attributes:
        folder: The folder of the answers.
        used: How many answers were read instead of being asked for.
        problem: Why an answer could not be kept; None as long as all are.
    """

    def __init__(self, root: str | Path) -> None:
        self.folder = Path(from_home(root)) / "cache" / "answers"
        self._lock = Lock()
        self._asking: dict[str, Lock] = {}
        self.used = 0
        self.problem: str | None = None

    @property
    def size(self) -> int:
        """How many bytes the answers take."""
        return folder_size(self.folder)

    @contextmanager
    def asking(self, key: str) -> Generator[None]:
        """Let only one thread at a time ask what has a key: the others then find its answer."""
        with self._lock:
            lock = self._asking.setdefault(key, Lock())
        with lock:
            yield

    def answers(self, key: str) -> Iterator[KeptAnswer]:
        """Yield what was answered to each attempt, in order, until there is none."""
        for attempt in count(1):
            answer = self._read(answer_file(self.folder, key, attempt))
            if answer is None:
                return
            with self._lock:
                self.used += 1
            yield answer

    def keep(self, key: str, attempt: int, answer: KeptAnswer) -> None:
        """Keep what was answered to an attempt, numbered from 1; what cannot be written is noted."""
        record = asdict(answer)
        text = json.dumps({**record, _CHECKSUM: _checksum(record)})
        path = answer_file(self.folder, key, attempt)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with unfinished(self.folder) as made:
                part = made / "part"
                part.write_text(text, encoding="ascii")
                published(part, path)  # if it is there already, another process asked the same
        except OSError as error:
            self.problem = f"{self.folder}: answers cannot be kept ({error.strerror})"
            note(f"{self.problem}: the next run asks for them again")

    def _read(self, path: Path) -> KeptAnswer | None:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            note(f"{path}: a kept answer cannot be read ({error.strerror}): it is asked for again")
            return None
        with suppress(ValueError, RecursionError):
            record: Any = json.loads(data)
            if is_object(record) and record.pop(_CHECKSUM, None) == _checksum(record):
                return KeptAnswer(**record)
        note(f"{path}: a kept answer is damaged: it is removed, and asked for again")
        with suppress(OSError):
            path.unlink()
        return None


def answer_key(request: Mapping[str, Any]) -> str:
    """Return what an answer is found by: a hash of all that it depends on.

    Args:
        request: The address, and what is sent.
    """
    return content_digest(json.dumps([_VERSION, [field.name for field in fields(KeptAnswer)], request], sort_keys=True))


def _checksum(record: Mapping[str, Any]) -> str:
    return content_digest(json.dumps(record, sort_keys=True))
