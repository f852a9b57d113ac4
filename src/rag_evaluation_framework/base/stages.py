"""Stages: what runs make of a corpus, kept below a root, and what the runs of a sweep share."""

import hashlib
import json
from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .exits import bound
from .optional import versions
from .store import Cache

T = TypeVar("T")

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
"""What a stage makes. Texts are arrays of their UTF-8 bytes."""

_MOST = 4 << 30  # bytes of all stages below a root
_QUICK = 0.1  # seconds: what is made in less is not worth a file


class Stages(Cache):
    """Results of stages, found by everything that they depend on, in `<root>/cache/stages/`; `kept_stages` opens it.

    Args:
        root: The folder of runs and datasets.
        most: How many bytes it may hold.

    Attributes:
        root: The folder of runs and datasets.
        shared: What the runs inside share in memory: `shared`.
        seconds: How long reading took what was kept, instead of making it.
        measures_anew: Whether the times of this run are judged: then it takes nothing with the time of an earlier one.
    """

    def __init__(self, root: str | Path, most: int = _MOST) -> None:
        super().__init__(root, "stages", "chunks and indexes", most)
        self.root = root
        self.shared: dict[Hashable, Any] = {}
        self.seconds = 0.0
        self.measures_anew = False

    def arrays(self, key: str) -> Arrays | None:
        """Return what is kept by a key; None if there is nothing that can be read."""
        content = self.read([key]).get(key)
        if content is None:
            return None
        with np.load(BytesIO(content), allow_pickle=False) as kept:
            return dict(kept)

    def keep(self, key: str, arrays: Arrays) -> None:
        """Keep what a stage made."""
        file = BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        self.write({key: file.getbuffer()})


_stages: ContextVar[Stages | None] = ContextVar("rag_evaluation_framework_stages", default=None)


@contextmanager
def kept_stages(root: str | Path | Stages | None) -> Generator[Stages | None]:
    """Keep and find the stages of all runs of the body below a root, and let these runs share what `shared` makes.

    Inside of another such context that one stays: a sweep opens it around all its runs. Without a root nothing changes.
    With stages in place of a root, runs of several contexts share.
    """
    stages = _stages.get()
    if stages is not None or root is None:
        yield stages
        return
    stages = root if isinstance(root, Stages) else Stages(root)
    with bound(_stages, stages, stages):
        yield stages


def current_stages() -> Stages | None:
    """Return the stages that are kept here; None if none are."""
    return _stages.get()


def seconds_reading(more: float = 0.0) -> float:
    """Return how long reading what was kept took so far, and `more`; 0 where no stages are kept."""
    stages = _stages.get()
    if stages is None:
        return 0.0
    stages.seconds += more
    return stages.seconds


def stage(name: str, facts: Any, make: Callable[[], Arrays]) -> Arrays:
    """Return the kept result of a stage, or compute it and keep it where stages are kept.

    What takes less than a tenth of a second is kept in memory only, for the other runs of a sweep.

    Args:
        name: What the stage is called, such as `"chunks"`.
        facts: All that the result depends on beside the versions of Python and of packages, as JSON, with a number that
            changes with the code of the stage. None if that is not known: then nothing is kept.
        make: Makes it.
    """
    stages = _stages.get()
    if stages is None or facts is None:
        return make()
    key = hashlib.sha256(json.dumps([name, facts, versions()], sort_keys=True).encode()).hexdigest()
    start = perf_counter()
    kept: Arrays | None = stages.shared.get(key)
    if kept is not None:
        return kept
    kept = stages.arrays(key)
    if kept is not None:
        seconds_reading(perf_counter() - start)
        return kept
    made = make()
    if perf_counter() - start < _QUICK:
        stages.shared[key] = made
    else:
        stages.keep(key, made)
    return made


def shared(key: Hashable, make: Callable[[], T]) -> T:
    """Return what was made for a key before, where runs share it (`kept_stages`); else make it."""
    stages = _stages.get()
    if stages is None or key is None:
        return make()
    if key not in stages.shared:
        stages.shared[key] = make()
    made: T = stages.shared[key]
    return made


def shared_of(what: str, objects: tuple[object, ...], make: Callable[[], T]) -> T:
    """Return what is found out of objects, which runs that share these find out once, as `shared` does."""
    made: T = shared((what, *map(id, objects)), lambda: (make(), objects))[0]  # which keeps the ids theirs
    return made
