"""Notes of components on their work, kept with the result of the run."""

import inspect
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from .exits import on_failure
from .outside import fit_to_keep, fit_to_show, shown

_PACKAGE = __name__.partition(".")[0]


class _Collector(NamedTuple):
    notes: list[str]
    seen: set[str]


_collector: ContextVar[_Collector | None] = ContextVar("rag_evaluation_framework_notes", default=None)


def note(text: str) -> None:
    """Say something that the reader of the result should know, such as how many texts were truncated.

    During an evaluation it becomes a note of the result, once however often it is said; elsewhere it is a
    `UserWarning`. Evaluations side by side in threads keep their notes apart. A thread that a component starts itself
    belongs to no evaluation: note what it found when it is done. Secrets and addresses of objects in it are left out;
    what is not a text is noted as it looks in Python.
    """
    said: Any = text
    text = fit_to_keep(said if isinstance(said, str) else shown(said))
    collector = _collector.get()
    if collector is None:
        warnings.warn(fit_to_show(text), UserWarning, stacklevel=_level_of_the_caller())
    elif text not in collector.seen:
        collector.seen.add(text)
        collector.notes.append(text)


@contextmanager
def collect_notes() -> Generator[list[str]]:
    """Collect the notes of the body, each once, in order of their first occurrence.

    Of nested collectors the innermost collects; its owner decides what to pass on. If the body raises, nobody will read
    the list: its notes then go to the collector around it or, without one, are warnings.
    """
    collector = _Collector([], set())
    token = _collector.set(collector)

    def pass_on(error: BaseException) -> None:
        _collector.reset(token)
        for text in collector.notes:
            try:
                note(text)
            except Warning:  # under `-W error`; it must not take the place of the error
                error.add_note(text)

    with on_failure(pass_on):
        yield collector.notes
    _collector.reset(token)


def _level_of_the_caller() -> int:
    """Return the `stacklevel`, seen from `note`, of the first frame outside this package, if there is one."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
