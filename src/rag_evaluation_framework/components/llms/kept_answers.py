"""Answers of language models, kept on disk: what was answered once is not asked, and paid for, again."""

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from ...base.store import Cache
from ...data.ids import content_digest

_VERSION = 2  # part of the key: answers of another version are not found
_MOST = 1 << 30  # bytes of all answers below a root


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


class KeptAnswers(Cache):
    """Answers, found by all that an answer depends on, in `<root>/cache/answers`. Threads may use one at once.

    Prompts are not kept.

    Args:
        root: The folder of runs and datasets.

    Attributes:
        used: How many answers were read instead of being asked for.
    """

    def __init__(self, root: str | Path) -> None:
        super().__init__(root, "answers", "answers", _MOST)
        self._lock = Lock()
        self._asking: dict[str, Lock] = {}
        self.used = 0

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
            own = _attempt_key(key, attempt)
            found = self.read([own])
            if not found:
                return
            with self._lock:
                self.used += 1
            yield KeptAnswer(**json.loads(found[own]))

    def keep(self, key: str, attempt: int, answer: KeptAnswer) -> None:
        """Keep what was answered to an attempt, numbered from 1."""
        self.write({_attempt_key(key, attempt): json.dumps(asdict(answer)).encode()})


def answer_key(request: Mapping[str, Any]) -> str:
    """Return what an answer is found by: a hash of all that it depends on.

    Args:
        request: The address, and what is sent.
    """
    return content_digest(json.dumps([_VERSION, [field.name for field in fields(KeptAnswer)], request], sort_keys=True))


def _attempt_key(key: str, attempt: int) -> str:
    return content_digest(f"{key}-{attempt}")
