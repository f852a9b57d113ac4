"""Engines as retrievers: whole systems, asked for their rankings within a scope; and the end of a run with one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import methodcaller
from threading import Lock
from time import perf_counter
from typing import Any, Literal, cast, get_args
from uuid import uuid4

from ...adapt.results import as_retrieval
from ...base import note, progress
from ...base.coroutines import OutOfTime, is_coroutine_function, may_hang, resolved, run_within
from ...base.exits import no_exit, on_failure, outcome
from ...base.interrupts import finish, first_interrupt
from ...base.outside import error_text, first_of, hide_environment, shown
from ...base.records import Faults
from ...contracts import Engine, IndexedRetriever, Retriever
from ...contracts.component import check_choice, check_truth, confide, parameters
from ...contracts.roles import CONSTRAINTS_KEYWORD, can, check_engine, engine_name, takes_constraints
from ...data import Corpus, DocumentId, EvaluationType, Hit, Retrieval
from ...data.queries import Query, Scope
from ...data.values import check_texts
from ...errors import ConfigError, DatasetError

# Engines as retrievers: whole systems, asked for their rankings within a scope.

RUN_ID = "{runId}"
"""What stands for the id of the run in scopes and in the ids of documents."""

PATIENCE = 5.0
"""Seconds that a question which hangs may keep a coroutine from beginning that deletes or closes."""

_OURS = "eval:"
_MOST_LISTED = 5
_IN_BOTH = f"put {RUN_ID} in both, as in eval:my-dataset:{RUN_ID}:, or in neither"
_OUTSIDE = "returned results outside of the scope that was asked for; they count as retrieved"


@dataclass(frozen=True)
class EngineRetriever(IndexedRetriever[dict[str, DocumentId]]):
    """A retrieval system that is evaluated as a whole, with an index of its own.

    `{runId}` in scopes and ids is filled in where the engine is called, and taken out of what it returns: two runs that
    write at the same time never meet, and their questions stay the same questions. It has to be in the scope that is
    written, if it is anywhere.

    Attributes:
        engine: The system, an `Engine`.
        scope: What the ids of the documents begin with that are searched where a question names no scope of its own,
            and that are written; `""` for all documents.
        ingest: Whether the documents are written: `index` deletes what is in the scope, and adds every document.
        custom_scope: Whether a scope may be written that does not begin with `eval:` and end with `:`.
        run_id: What `{runId}` stands for; by default an id of its own, if it is written.

    Raises:
        ConfigError: `engine` is none, or lacks what is asked of it; the documents are to be written in a scope that may
            not be; or `{runId}` stands in the scope, and no run has written there.
    """

    engine: Engine
    scope: str = ""
    ingest: bool = False
    custom_scope: bool = False
    run_id: str = ""
    wrote = False  # no field: whether `index` began to delete and write

    def __post_init__(self) -> None:
        check_engine(self.engine)
        confide(self.engine)
        hide_environment()  # an engine may have read it when it was made
        check_truth("EngineRetriever", "ingest", self.ingest)
        check_truth("EngineRetriever", "custom_scope", self.custom_scope)
        check_texts(self, ConfigError, "scope", "run_id")
        if self.ingest:
            if lacking := [name for name in ("ingest", "delete") if not can(self.engine, name)]:
                raise ConfigError(
                    f"{self.name} has no {' and no '.join(lacking)}, and the documents are to be written; give it both "
                    "methods, or search what is there already (ingest=False, --no-ingest)"
                )
            check_written(self.scope, custom=self.custom_scope)
            if RUN_ID in self.scope and not self.run_id:
                own = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
                object.__setattr__(self, "run_id", own)
        else:
            _check_asked([self.scope])

    @property
    def name(self) -> str:
        """The name of the engine: its `name` if it has one, else its class."""
        return engine_name(self.engine)

    @property
    def needs_documents(self) -> bool:
        """Whether documents are written."""
        return self.ingest

    def honours(self, scope: Scope) -> bool:
        """Return whether the engine takes constraints on metadata, if the scope has any; it takes every prefix."""
        return not scope.constraints or takes_constraints(self.engine)

    def check(
        self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType, k: int
    ) -> Iterable[str]:
        """Check that the documents and questions of a run keep to what may be written; there is nothing to note.

        Raises:
            ConfigError: A question asks for a scope that may not be written, and documents are; or `{runId}` stands in
                one, and none are, or not in their scope.
            DatasetError: A document is outside of the scope that is written, or has `{runId}` in its id alone.
        """
        del evaluation_type, k
        asked = {Scope.of(question).prefix for question in questions}
        prefixes = sorted(prefix for prefix in asked if prefix is not None)
        if not self.ingest:
            _check_asked(prefixes)
            return ()
        faults = Faults()
        for prefix in prefixes:
            with faults.gathered():
                self._check_beside(prefix)
        with faults.gathered():
            self._check_inside(corpus)
        faults.tell()
        return ()

    def _check_beside(self, prefix: str) -> None:
        """Raise ConfigError if a question asks for a scope that does not go with the one that is written."""
        if not prefix:
            raise ConfigError(
                f"a question asks for all documents (scopePrefix ''), and the run writes in {self.scope!r}; expected a "
                "scope that may be written, or none; or search what is there (--no-ingest)"
            )
        check_written(prefix, custom=self.custom_scope)
        if RUN_ID in prefix and RUN_ID not in self.scope:
            raise ConfigError(
                f"a question asks for the scope {prefix!r}, where nothing is written, as the documents are written in "
                f"{self.scope!r}; {_IN_BOTH}"
            )

    def _check_inside(self, corpus: Corpus) -> None:
        """Raise DatasetError if a document is outside of the scope that is written, or would be that of one run."""
        if outside := [document.id for document in corpus if not document.id.startswith(self.scope)]:
            raise DatasetError(
                f"documents outside of the scope {self.scope!r}, which is all that may be written: "
                f"{first_of([*map(repr, outside)], _MOST_LISTED)}; nothing was written. Begin their ids with it, or "
                "name the scope that they are in (--set scope_prefix=SCOPE)"
            )
        named = next((document.id for document in corpus if RUN_ID in document.id), None)
        if named is not None and RUN_ID not in self.scope:
            raise DatasetError(
                f"document {named!r} is to be written, and everything in {self.scope!r} deleted first, which is not of "
                f"this run alone: two at once would delete each other's documents; {_IN_BOTH}"
            )

    def index(self, corpus: Corpus) -> None:
        """Write the documents, if they are to be written: what is in the scope is deleted first.

        Raises:
            DatasetError: As `check`; nothing was deleted then.
        """
        self._keep(None)
        if self.ingest:
            self._check_inside(corpus)
        names = {self.filled(document.id): document.id for document in corpus}
        self._keep({filled: own for filled, own in names.items() if filled != own})
        if not self.ingest:
            return
        engine: Any = self.engine
        if self.run_id and self.filled(self.scope) != self.scope:
            note(f"{RUN_ID} is {self.run_id}")
        object.__setattr__(self, "wrote", True)
        self.clean()
        with progress(corpus, "Ingesting", "document") as documents:
            for document in documents:
                with on_failure(methodcaller("add_note", f"while document {document.id!r} was ingested")):
                    resolved(engine.ingest(replace(document, id=DocumentId(self.filled(document.id)))))

    def clean(self) -> None:
        """Delete what the run wrote: everything in the scope.

        Raises:
            TimeoutError: `delete` is a coroutine, and another one keeps it from beginning.
        """
        engine: Any = self.engine
        resolved(engine.delete(self.filled(self.scope)), PATIENCE)

    @property
    def written(self) -> str:
        """Documents that the run wrote, for messages."""
        return f"what the run wrote in {self.filled(self.scope)!r}"

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return what the engine finds in the scope."""
        return self._answer(query, k, Scope())

    def retrieve_for(self, question: Query, k: int) -> Retrieval:
        """Return what the engine finds in the scope of the question."""
        return self._answer(question.text, k, Scope.of(question))

    def _answer(self, query: str, k: int, scope: Scope) -> Retrieval:
        prefix = self.filled(self.scope if scope.prefix is None else scope.prefix)
        options: dict[str, Any] = {CONSTRAINTS_KEYWORD: dict(scope.constraints)} if scope.constraints else {}
        start = perf_counter()
        found = as_retrieval(resolved(self.engine.retrieve(query, k, prefix, **options)), self.name, k, start)
        if any(hit.doc_id is not None and not hit.doc_id.startswith(prefix) for hit in found.hits):
            note(f"{self.name} {_OUTSIDE}")
        return replace(found, hits=tuple(map(self._named, found.hits)))

    def _named(self, hit: Hit) -> Hit:
        """Return a hit with the name that the dataset has for its document."""
        if hit.doc_id is None or not self.run_id:
            return hit
        scope, names = self.filled(self.scope), self._index or {}
        own = self.scope + hit.doc_id.removeprefix(scope) if hit.doc_id.startswith(scope) else hit.doc_id
        return replace(hit, doc_id=names.get(hit.doc_id, DocumentId(own)))

    def filled(self, text: str) -> str:
        """Return a scope or an id as the engine knows it."""
        return text.replace(RUN_ID, self.run_id) if self.run_id else text


def _check_asked(scopes: Iterable[str]) -> None:
    """Raise ConfigError if a scope that is only asked has the id of the run in it."""
    if named := sorted(scope for scope in scopes if RUN_ID in scope):
        raise ConfigError(
            f"the scope {named[0]!r} has the id of the run in it, and the run writes no documents, so that it would "
            "find none; ingest the documents, or name the scope that they are in (--set scope_prefix=SCOPE)"
        )


def check_written(scope: str, *, custom: bool) -> None:
    """Check that documents may be written, and deleted, in a scope.

    Raises:
        ConfigError: It is empty; or it is not longer than `eval:`, does not begin with that or does not end with `:`,
            and custom scopes are not allowed.
    """
    if not scope:
        raise ConfigError(
            "the documents are to be written, and no scope was given, so that everything would be deleted first; give "
            "defaults.scopePrefix in the dataset, or --set scope_prefix=SCOPE, such as eval:my-dataset:{runId}:"
        )
    if not custom and not (scope.startswith(_OURS) and scope.endswith(":") and len(scope) > len(_OURS)):
        raise ConfigError(
            f"the scope {shown(scope)} may not be written: what is in it is deleted first. Expected one that begins "
            "with 'eval:' and ends with ':', such as 'eval:my-dataset:'; or allow it (--allow-custom-prefix --yes), or "
            "search what is there (--no-ingest)"
        )


def engine_in(retriever: Any) -> EngineRetriever | None:
    """Return the engine of a retriever, or of one inside it; None if there is none."""
    return next(parts_of(retriever, EngineRetriever), None)


def parts_of(component: Any, kind: type[Any]) -> Iterator[Any]:
    """Yield the components of a class that a retriever is made of: itself, or those inside of it."""
    if isinstance(component, kind):
        yield component
    elif isinstance(component, Retriever):
        held = {"retriever": getattr(component, "retriever", None), **parameters(component)}
        for value in held.values():
            for item in cast("Sequence[Any]", value if isinstance(value, tuple | list) else (value,)):
                yield from parts_of(item, kind)


# The end of a run with an engine: what was written is deleted, and the engine closed.

Cleanup = Literal["none", "on-success", "always"]
"""When what a run wrote is deleted: never, if the run and its gates succeed, or however it ends."""

_SECONDS = 60.0  # that a step may take where a question was given up, which may hold what the step waits for


def clean_up(retriever: Retriever, cleanup: Cleanup, *, failed: bool) -> str | None:
    """Delete what a run wrote, if that is to be, and close the engine.

    Args:
        retriever: The retriever of the run; nothing is done if there is no engine in it.
        cleanup: When to delete what the run began to write; a run that was refused before wrote nothing.
        failed: Whether the run failed: it ended early, cannot be relied on, or a gate did not pass.

    Returns:
        What could not be deleted, and why; None if nothing is left behind that should not be, or there is no engine.

    Raises:
        KeyboardInterrupt: One came meanwhile; all is deleted then, or a note says what is left.
    """
    check_choice("clean_up", "cleanup", cleanup, get_args(Cleanup))
    asked = engine_in(retriever)
    if asked is None:
        return None
    try:
        if asked.wrote and (cleanup == "always" or (cleanup == "on-success" and not failed)):
            return _deleted(asked)
        if asked.wrote and (cleanup == "on-success" or asked.run_id):
            note(f"{asked.written} stays there, as cleanup is {cleanup}{' and the run failed' if failed else ''}")
    finally:
        leave(asked.engine)
    return None


def _deleted(asked: EngineRetriever) -> str | None:
    """Delete what an engine has of a run, to the end; return what could not be deleted, and why."""
    before = first_interrupt()
    engine: Any = asked.engine
    deleting = Lock()

    def delete() -> None:
        with deleting:  # what an interrupt did not end is not done twice at once
            asked.clean()

    def told(error: BaseException) -> str:
        return f"{asked.written} could not be deleted: {error_text(error)}"

    with on_failure(lambda interrupt: note(told(interrupt))):  # and the engine is closed all the same
        done = outcome(lambda: no_exit(asked.name, "delete")(finish)(lambda: _in_time(delete, engine.delete)), told)
    if isinstance(done, str):
        return done
    _, interrupt = done
    if interrupt is not None and before is None:  # an earlier one has been told with all that was saved
        raise interrupt
    return None


def leave(engine: Engine | None) -> None:
    """Close an engine, if there is one that can be closed; what goes wrong then is noted."""
    close: Any = getattr(engine, "close", None)
    if engine is not None and callable(close):
        name = engine_name(engine)
        outcome(
            no_exit(name, "close")(lambda: _in_time(lambda: resolved(close(), PATIENCE), close)),
            lambda error: note(f"{name} could not be closed: {error_text(error)}"),
        )


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

    def once_more(error: BaseException) -> None:
        if isinstance(error, OutOfTime):
            raise TimeoutError(
                f"it takes longer than {_SECONDS:g} seconds, as a question that was given up may hold it; it may go on"
            ) from error
        if is_coroutine_function(method):
            raise error
        step()

    outcome(lambda: run_within(_SECONDS, step), once_more)
