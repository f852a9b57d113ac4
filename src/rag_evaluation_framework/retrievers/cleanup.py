"""The end of a run with an engine: what was written is deleted, and the engine closed."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Literal, get_args

from rag_evaluation_framework._outside import raised
from rag_evaluation_framework._support.coroutines import is_coroutine_function, resolved
from rag_evaluation_framework._support.exits import no_exit
from rag_evaluation_framework._support.interrupts import finished, first_interrupt, pass_on_interrupt
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework._support.time_limit import OutOfTime, may_hang, within
from rag_evaluation_framework.contracts.component import check_choice
from rag_evaluation_framework.contracts.engine import Engine, engine_name
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.retrievers.engine import PATIENCE, EngineRetriever, engine_in

Cleanup = Literal["none", "on-success", "always"]
"""When what a run wrote is deleted: never, if the exit code is 0, or however it ends."""

_SECONDS = 60.0  # that a step may take where a question was given up, which may hold what the step waits for


def clean_up(retriever: Retriever, cleanup: Cleanup, earlier: BaseException | None) -> str | None:
    """Delete what a run wrote, if that is to be, and close the engine.

    Args:
        retriever: The retriever of the run; nothing is done if there is no engine in it.
        cleanup: When to delete what the run began to write; a run that was refused before wrote nothing.
        earlier: What ended the run, or None if all went well.

    Returns:
        What could not be deleted, and why; None if nothing is left behind that should not be, or there is no engine.

    Raises:
        KeyboardInterrupt: One came meanwhile; all is deleted then, or a note says what is left.
    """
    check_choice("clean_up", "cleanup", cleanup, get_args(Cleanup))
    asked = engine_in(retriever)
    if asked is None:
        return None
    left: str | None = None
    try:
        if asked.wrote and (cleanup == "always" or (cleanup == "on-success" and earlier is None)):
            left = _deleted(asked)
        elif asked.wrote and (cleanup == "on-success" or asked.run_id):
            note(f"{asked.written} stays there, as cleanup is {cleanup}{' and the exit code not 0' if earlier else ''}")
    finally:
        leave(asked.engine)
    return left


def _deleted(asked: EngineRetriever) -> str | None:
    """Delete what an engine has of a run, to the end; return what could not be deleted, and why."""
    before = first_interrupt()
    engine: Any = asked.engine
    deleting = Lock()

    def delete() -> None:
        with deleting:  # what an interrupt did not end is not done twice at once
            asked.clean()

    try:
        with no_exit(asked.name, "delete"):
            _, interrupt = finished(lambda: _in_time(delete, engine.delete))
    except BaseException as error:  # noqa: BLE001  it is anybody's code, and the engine is closed all the same
        left = f"{asked.written} could not be deleted: {raised(error)}"
        if isinstance(error, KeyboardInterrupt):
            note(left)
        pass_on_interrupt(error)
        return left
    if interrupt is not None and before is None:  # an earlier one has been told with all that was saved
        raise interrupt
    return None


def leave(engine: Engine) -> None:
    """Close an engine, if it can be closed; what goes wrong then is noted."""
    close: Any = getattr(engine, "close", None)
    try:
        if callable(close):
            with no_exit(engine_name(engine), "close"):
                _in_time(lambda: resolved(close(), PATIENCE), close)
    except BaseException as error:  # noqa: BLE001  it is anybody's code, and the run is over
        pass_on_interrupt(error)
        note(f"{engine_name(engine)} could not be closed: {raised(error)}")


def _in_time(step: Callable[[], None], method: Any) -> None:
    """Do a step; where a question was given up, and may go on, wait no longer than a minute.

    For that it is done in another thread. What raises there does not hang, and may be bound to this thread, as the
    connections of `sqlite3` are: it is done once more, in this one. A coroutine runs in the thread of the loop anyway.

    Args:
        step: What is done; it can be repeated.
        method: The method of the engine that it calls.

    Raises:
        TimeoutError: It takes longer.
    """
    if not may_hang():
        step()
        return
    try:
        within(_SECONDS, step)
    except OutOfTime as late:
        raise TimeoutError(
            f"it takes longer than {_SECONDS:g} seconds, as a question that was given up may hold it; it may go on"
        ) from late
    except Exception:
        if is_coroutine_function(method):
            raise
        step()
