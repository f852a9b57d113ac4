"""`Asker`: asks a retriever for rankings: of one question alone, of many together, of several side by side."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from threading import Lock
from time import perf_counter
from typing import Any

from rag_evaluation_framework.base.coroutines import OutOfTime, stop_if_cancelled, within
from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.interrupts import stop_if_interrupted
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.outside import said
from rag_evaluation_framework.base.side_by_side import side_by_side
from rag_evaluation_framework.components.results import as_retrieval, one_each
from rag_evaluation_framework.contracts.retriever import Retriever, is_trusted
from rag_evaluation_framework.data import Query, Retrieval, Stage
from rag_evaluation_framework.data.rankings import NOT_ASKED, Failure
from rag_evaluation_framework.errors import UnreadableAnswer
from rag_evaluation_framework.experiments.journal import Journal, Returned
from rag_evaluation_framework.experiments.settings import Asking

MOST_ABANDONED = 3
"""How many questions may be left behind with the thread that they take up; after that, no other one is asked."""

_TRIED = 2
"""How many of the first answers must be of no use so that no other question is asked: one may be odd."""

_TOGETHER = 256
"""How many questions are asked together: few enough for a progress bar, and for Ctrl-C."""


@dataclass
class Asker:
    """Asks a retriever; what it raises, or returns and cannot be used, is a failure of the question.

    Attributes:
        retriever: Has indexed the corpus.
        name: What it is called.
        asking: How it is asked.
        journal: What keeps its answers and knows those of earlier starts, which count as calls too; None if none are
            kept.
        calls: How many rankings it was asked for.
        answered: By query id, what was returned before it was fetched: by threads, or for many questions together.
            Whoever fetches it takes it out; what is left after an interrupt is answered as well.
        abandoned: How many of these it did not return in time, and goes on with.
    """

    retriever: Retriever
    name: str
    asking: Asking
    journal: Journal | None = None
    calls: int = 0
    answered: dict[str, Returned] = field(default_factory=dict[str, Returned])
    abandoned: int = 0
    _counting: Lock = field(default_factory=Lock, repr=False)
    _first: set[str] = field(default_factory=set[str], repr=False)  # the questions that were asked first, by id
    _unreadable: set[str] = field(default_factory=set[str], repr=False)  # those to which the answer was of no use
    _was_read: bool = False  # whether an answer of an earlier start was of use

    @property
    def together(self) -> bool:
        """Whether it is asked for many questions together: not where each is asked in its own thread."""
        one_by_one = self.asking.max_concurrency > 1 or self.asking.timeout is not None
        return self.asking.batch_queries and self.retriever.takes_many and not one_by_one

    def alone(self, query: Query, depth: int) -> Returned:
        """Ask for one question, and tell how long it took."""
        answer = self._retrieve((query, depth))
        self.calls += answer.failure is not NOT_ASKED
        return answer

    def many(self, queries: Sequence[Query], depths: Sequence[int]) -> Generator[Returned]:
        """Yield the answers to questions that need not be timed, in their order.

        Args:
            queries: The questions; neighbours of one depth are asked together.
            depths: How many results to ask for, of each.
        """
        if not self.together:
            at_once = self.asking.max_concurrency
            ask = self._retrieve if at_once == 1 else self._kept
            for answer in side_by_side(ask, [*zip(queries, depths, strict=True)], at_once):
                self.calls += answer.failure is not NOT_ASKED
                yield answer
            return
        for depth, rows in groupby(range(len(queries)), depths.__getitem__):
            asked = [queries[row] for row in rows]
            for begin in range(0, len(asked), _TOGETHER):
                yield from self._together(asked[begin : begin + _TOGETHER], depth)

    def note_stop(self, not_asked: int, queries: int) -> None:
        """Note how many of the questions were not asked, if there are any, and why."""
        if not_asked:
            note(
                f"stopped: {not_asked} of {queries} questions were not asked, as {self.abandoned} before them had no "
                f"answer within {self.asking.timeout:g} s and could not be stopped"
            )

    def _together(self, queries: Sequence[Query], depth: int) -> Iterator[Returned]:
        """Yield the answers to questions asked together; if that fails, each is asked alone and fails alone."""
        stop_if_interrupted()
        stop_if_cancelled()
        self.calls += len(queries)
        # A block is asked as a whole or not at all: the last digits of scores depend on what is computed together.
        known = [self._known(query, depth) for query in queries]
        if all(known):
            self._was_read = True
            yield from (answer for answer in known if answer)
            return
        texts = [query.text for query in queries]
        listed = outcome(
            lambda: one_each(self.retriever.retrieve_many(texts, depth), len(queries), "retrieve_many"),
            partial(Failure.of, "retrieve"),
        )
        if isinstance(listed, Failure):
            stop_if_cancelled()
            note(
                f"{self.name} could not be asked for many questions together: {listed.kind}: "
                f"{listed.message}; each was asked alone"
            )
            yield from (self.alone(query, depth) for query in queries)
        else:
            stop_if_interrupted()
            for query, results in zip(queries, listed, strict=True):
                self._begin(query)
                self.answered[query.id] = self._read(query, results, depth)
            self._keep([(query, self.answered[query.id]) for query in queries])
            yield from (self.answered[query.id] for query in queries)

    def _known(self, query: Query, depth: int) -> Returned | None:
        return None if self.journal is None else self.journal.answer(query.id, depth)

    def _keep(self, answers: Sequence[tuple[Query, Returned]]) -> None:
        if self.journal is not None:
            self.journal.keep((query.id, answer) for query, answer in answers)

    def _kept(self, asked: tuple[Query, int]) -> Returned:
        """Ask for one question in a thread, and keep the answer until it is fetched."""
        answer = self.answered[asked[0].id] = self._retrieve(asked)
        return answer

    def _retrieve(self, asked: tuple[Query, int]) -> Returned:
        """Return the answer to one question at a depth, known or asked for in its time. Threads call this."""
        query, depth = asked
        stop_if_interrupted()
        stop_if_cancelled()
        if known := self._known(query, depth):
            self._was_read = True
            return known
        if self.abandoned >= MOST_ABANDONED:
            return Returned(Retrieval(()), depth, NOT_ASKED)
        self._begin(query)
        limit = self.asking.timeout
        try:
            answer = within(limit, partial(self._answer, query, depth)) if limit else self._answer(query, depth)
        except OutOfTime as late:
            with self._counting:
                self.abandoned += late.abandoned
            what = "what it waits for was left behind" if late.abandoned else "it was cancelled"
            return self._failed(query, TimeoutError(f"no answer within {limit:g} s; {what}"), depth)
        stop_if_interrupted()  # a component may have swallowed it, and answered anything
        self._keep([(query, answer)])
        return answer

    def _begin(self, query: Query) -> None:
        """Remember the first questions that are asked, whichever of them is answered first."""
        with self._counting:
            if len(self._first) < _TRIED:
                self._first.add(query.id)

    def _answer(self, query: Query, depth: int) -> Returned:
        """Ask for one question at a depth, however long it takes."""
        start = perf_counter()
        with collected() as notes:
            results: Any = outcome(
                lambda: self.retriever.retrieve_for(query, depth), lambda error: self._failed(query, error, depth)
            )
            answer = results if isinstance(results, Returned) else self._read(query, results, depth, start)
        stop_if_cancelled()
        return replace(answer, notes=notes)

    def _failed(self, query: Query, error: BaseException, depth: int) -> Returned:
        """Return that a question failed, or raise it.

        Raises:
            UnreadableAnswer: The retriever, or a component in it, returned nothing of use for the first questions.
        """
        stop_if_interrupted()
        stop_if_cancelled()  # what was cancelled did not fail
        if isinstance(error, UnreadableAnswer):
            self._unreadable.add(query.id)
        if len(self._first) == _TRIED and self._first <= self._unreadable and not self._was_read:
            tried = f"so it did for the first {_TRIED} questions, and no other was asked"
            raise UnreadableAnswer(f"{said(error)}; {tried}") from error
        failure = Failure.collected(query.id, "retrieve", error, self.asking.on_error, query.text)
        return Returned(Retrieval(()), depth, failure)

    def _read(self, query: Query, results: Any, depth: int, start: float | None = None) -> Returned:
        """Return what a retriever returned; with a start, how long it took, unless the retriever says that."""
        trusted = type(results) is Retrieval and is_trusted(self.retriever)
        found = (
            results
            if trusted
            else outcome(
                lambda: as_retrieval(results, self.name, depth, start), lambda error: self._failed(query, error, depth)
            )
        )
        if isinstance(found, Returned):
            return found
        if start is not None and not found.stages:
            found = replace(found, stages=(Stage("retrieve", perf_counter() - start),))
        return Returned(found, depth)
