"""`Ranker`: asks a retriever for rankings that are deep enough for all cutoffs, as seldom as that can be."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from tqdm import tqdm

from rag_evaluation_framework._support.coroutines import stop_if_cancelled
from rag_evaluation_framework._support.interrupts import stop_if_interrupted
from rag_evaluation_framework._support.notes import collected, note
from rag_evaluation_framework._support.side_by_side import side_by_side
from rag_evaluation_framework.contracts.retrieved import as_hits
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.hits import Retrieval, Stage
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.rankings import QueryRanking
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.text.hit_locator import HitLocator
from rag_evaluation_framework.text.reading import RankingCutter

_FIRST_DEPTH = 10
_MOST_TIMED = 50
_TIMED_SIDE_BY_SIDE = 32  # one in so many
_SHORTER = 4  # than the mean: how much shorter chunks are provided for in the first request
_TOGETHER = 256
"""How many questions are asked together: few enough for a progress bar, and for Ctrl-C."""


@dataclass(frozen=True)
class _Answer:
    """What a retriever found for a question, or how that failed.

    Attributes:
        found: The hits that a cutoff reaches; once they were seen, in their places.
        failure: How it failed, or None.
        notes: What the retriever noted.
        depth: How many results were asked for.
        more: Whether asking for more may find more.
        exhausted: Whether these are all hits.
    """

    found: Retrieval = field(default_factory=lambda: Retrieval(()))
    failure: Failure | None = None
    notes: Sequence[str] = ()
    depth: int = 0
    more: bool = True
    exhausted: bool = False


@dataclass
class Ranker:
    """Asks a retriever for rankings that are deep enough for all cutoffs.

    A retriever that is prefix-stable is asked once per question if it lists its chunks, for as many results as fill
    every budget even if they are far shorter than usual, or if it has a greatest number of results, for all of them.
    Another one is asked for the largest k and, where that leaves a budget unfilled, once more, or until it is filled if
    what follows is shorter than could be foreseen. One that is not prefix-stable is asked for each k.

    Latency is that of one question at a time. Where questions are asked together it is measured on up to 50 of them;
    where they are asked side by side, on one in 32. The others have no stages.

    Attributes:
        retriever: Has indexed the corpus.
        chunks: Everything that could be retrieved, or None if that is not known.
        cutter: Where rankings are cut.
        together: Whether a retriever that can be asked for many questions together is asked so.
        concurrency: How many questions are asked side by side; at least 1.
        calls: How many rankings the retriever was asked for.
        timed: How many questions were asked one at a time.
        depth: The most results that were asked for.
    """

    retriever: Retriever
    chunks: Sequence[PositionAwareChunk] | None
    cutter: RankingCutter
    together: bool = True
    concurrency: int = 1
    calls: int = 0
    timed: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self._largest = max(self.cutter.ks, key=lambda cutoff: cutoff.size, default=Cutoff(_FIRST_DEPTH))
        self._locator = HitLocator(self.cutter.reader.corpus, self.chunks or ())
        self._together = self.together and self.retriever.takes_many and self.concurrency == 1
        self._unstable = 0
        self._unfilled = 0
        self._limits: dict[str, None] = {}

    def rankings(self, queries: Sequence[Query]) -> tuple[QueryRanking, ...]:
        """Return the ranking of every query, or how its retrieval failed; notes go to whoever collects them."""
        first = self._first(queries, self._first_depth())
        at: dict[Cutoff, list[_Answer]] = {}
        if self.retriever.prefix_stable is False:
            others = [cutoff for cutoff in self.cutter.ks if cutoff != self._largest]
            at = {cutoff: self._ask(queries, [cutoff.size] * len(queries)) for cutoff in others}
        deepest = self._deepest(queries, first)
        entries = tuple(
            self._ranking(query, first[row], {cutoff: answers[row] for cutoff, answers in at.items()}, deepest[row])
            for row, query in enumerate(queries)
        )
        stop_if_interrupted()
        stop_if_cancelled()
        for text in self._notes(entries):
            note(text)
        return entries

    def _first_depth(self) -> int:
        """Return how deep every question is asked first."""
        if not self.retriever.prefix_stable:
            return self._largest.size
        most = self.retriever.most_results
        if self.chunks:
            wanted = self.cutter.depth_to_fill(self.chunks, _SHORTER)
            return max(self._largest.size, wanted if most is None else min(wanted, most))
        return max(self._largest.size, most if most is not None and self.cutter.budgets else 0)

    def _first(self, queries: Sequence[Query], depth: int) -> list[_Answer]:
        """Ask every question for the first time: some alone, for their latency, and the others as may be."""
        self.timed = len(queries)
        if self.concurrency > 1:
            self.timed = min(_MOST_TIMED, -(-len(queries) // _TIMED_SIDE_BY_SIDE))
        elif self._together:
            self.timed = min(_MOST_TIMED, len(queries))
        alone = [number * len(queries) // self.timed for number in range(self.timed)]
        others = sorted({*range(len(queries))} - {*alone})
        answers: dict[int, _Answer] = {}
        with (
            _progress("Retrieving", len(queries)) as bar,
            closing(self._answers([queries[row] for row in others], [depth] * len(others))) as found,
        ):
            for row in alone:
                answers[row] = self._seen(self._retrieve((queries[row], depth)), bar)
            for row, answer in zip(others, found, strict=True):
                answers[row] = self._seen(_untimed(answer), bar)
        return self._noted([answers[row] for row in range(len(queries))])

    def _deepest(self, queries: Sequence[Query], first: Sequence[_Answer]) -> list[_Answer]:
        """Ask again where a budget is not filled and there may be more, and return the deepest answers."""
        deepest = [*first]
        asking = [*range(len(deepest))]
        while wanted := {row: depth for row in asking if (depth := self._deeper(deepest[row])) > deepest[row].depth}:
            answers = self._ask([queries[row] for row in wanted], [*wanted.values()])
            before = {row: len(deepest[row].found.hits) for row in wanted}
            for row, answer in zip(wanted, answers, strict=True):
                deepest[row] = answer
            asking = [row for row in wanted if len(deepest[row].found.hits) > before[row]]
        return deepest

    def _deeper(self, answer: _Answer) -> int:
        return self.cutter.next_depth(answer.found.hits) if answer.more and answer.failure is None else 0

    def _ask(self, queries: Sequence[Query], depths: Sequence[int]) -> list[_Answer]:
        """Ask questions again, each at a depth of its own."""
        with _progress("Retrieving again", len(queries)) as bar, closing(self._answers(queries, depths)) as answers:
            return self._noted([self._seen(answer, bar) for answer in answers])

    def _answers(self, queries: Sequence[Query], depths: Sequence[int]) -> Generator[_Answer]:
        """Yield the answers to questions that need not be timed, in their order."""
        if not self._together or len(set(depths)) > 1:
            yield from side_by_side(self._retrieve, [*zip(queries, depths, strict=True)], self.concurrency)
            return
        for begin in range(0, len(queries), _TOGETHER):
            yield from self._answers_together(queries[begin : begin + _TOGETHER], depths[begin])

    def _answers_together(self, queries: Sequence[Query], depth: int) -> Iterator[_Answer]:
        """Yield the answers to questions asked together; if that fails, each is asked alone and fails alone."""
        stop_if_interrupted()
        stop_if_cancelled()
        try:
            given: Any = self.retriever.retrieve_many([query.text for query in queries], depth)
            listed: list[Any] = [given] if isinstance(given, str | Mapping) else [*given]
            if len(listed) != len(queries):
                raise InputError(f"retrieve_many returned {len(listed)} rankings for {len(queries)} questions")
        except (Exception, SystemExit) as error:  # noqa: BLE001  a retriever may raise anything; it becomes data
            stop_if_cancelled()
            failure = Failure.of("retrieve", error)
            self.calls += len(queries)
            note(
                f"{self.retriever.name} could not be asked for many questions together: {failure.kind}: "
                f"{failure.message}; each was asked alone"
            )
            yield from (self._retrieve((query, depth)) for query in queries)
        else:
            yield from (self._read(results, depth) for results in listed)

    def _retrieve(self, asked: tuple[Query, int]) -> _Answer:
        """Ask for one question at a depth. Threads call this."""
        query, depth = asked
        stop_if_interrupted()
        stop_if_cancelled()
        start = perf_counter()
        with collected() as notes:
            try:
                results: Any = self.retriever.retrieve(query.text, depth)
                answer = self._read(results, depth, start)
            except (Exception, SystemExit) as error:  # noqa: BLE001  a retriever may raise anything; it becomes data
                answer = _Answer(failure=Failure.of("retrieve", error), depth=depth)
        stop_if_cancelled()
        return replace(answer, notes=notes)

    def _read(self, results: Any, depth: int, start: float | None = None) -> _Answer:
        """Return what a retriever returned; with a start, how long it took, unless the retriever says that."""
        try:
            hits = as_hits(results, self.retriever.name)[:depth]
        except (Exception, SystemExit) as error:  # noqa: BLE001  a generator may raise anything
            return _Answer(failure=Failure.of("retrieve", error), depth=depth)
        known = results if isinstance(results, Retrieval) else Retrieval(hits)
        measured = () if start is None else (Stage("retrieve", perf_counter() - start),)
        found = replace(known, hits=hits, stages=known.stages or measured)
        return _Answer(found, depth=depth, more=not found.complete)

    def _seen(self, answer: _Answer, bar: "tqdm[Any]") -> _Answer:
        """Count an answer, locate its hits in the corpus, and keep those that a cutoff reaches."""
        self.calls += 1
        self.depth = max(self.depth, answer.depth)
        bar.update()
        hits = self._locator.place(answer.found.hits)
        reached, _ = self.cutter.reach(hits)
        kept = hits[: max(self._largest.size, reached)]
        ended = not answer.more or len(hits) < answer.depth
        found = replace(answer.found, hits=kept)
        return replace(answer, found=found, exhausted=ended and len(kept) == len(hits))

    def _noted(self, answers: list[_Answer]) -> list[_Answer]:
        """Say what the retriever noted, in the order of the questions, whichever was asked first."""
        for answer in answers:
            for text in answer.notes:
                note(text)
        return answers

    def _ranking(
        self, query: Query, first: _Answer, others: Mapping[Cutoff, _Answer], deepest: _Answer
    ) -> QueryRanking:
        """Return the ranking of a query from all that was found for it."""
        for answer in (first, *others.values(), deepest):
            if answer.failure is not None:
                return QueryRanking(query, failure=answer.failure)
        top, hits = first.found.hits, deepest.found.hits
        at = {cutoff: answer.found.hits for cutoff, answer in others.items()}
        if self.retriever.prefix_stable is False:
            at[self._largest] = top
        elif hits[: len(top)] != top:
            self._unstable += 1
            at = dict.fromkeys(self.cutter.ks, top)
        elif len(top) < min(self._largest.size, len(hits)):  # results were left out, and made up for further down
            at = dict.fromkeys(self.cutter.ks, top)
        _, unfilled = self.cutter.reach(hits)
        self._unfilled += unfilled
        if deepest.found.limit is not None and (unfilled or len(hits) < self._largest.size):
            self._limits[deepest.found.limit] = None
        return QueryRanking(query, hits, at, first.found.stages, exhausted=deepest.exhausted)

    def _notes(self, entries: Sequence[QueryRanking]) -> Iterator[str]:
        """Yield notes on the rankings that were made."""
        if self._unstable:
            yield (
                f"rankings changed at the top when more results were asked for: {self._unstable}; their scores at k "
                f"are those of asking for {self._largest.size}. If the retriever works so, let its prefix_stable be "
                "False"
            )
        for limit in self._limits:
            yield f"rankings end early, as {limit} is less than was asked for"
        if self._unfilled:
            rankings = "ranking" if self._unfilled == 1 else "rankings"
            yield f"{self._unfilled} {rankings} ran out of results before the budget was filled"
        hits = [hit for entry in entries for hit in entry.hits]
        contradicting = sum(map(self.cutter.reader.contradicts, hits))
        if contradicting:
            yield (
                f"results whose text differs from the text at the place that they name: {contradicting}; the place was "
                "taken. If the retriever does not change texts, its offsets are wrong (they count code points)"
            )
        ambiguous = sum(hit.text in self._locator.ambiguous for hit in hits)
        if ambiguous:
            yield (
                f"results whose text occurs more than once: {ambiguous}; the first free place was taken. Let the "
                "retriever return doc_id, or doc_id, start and end, to be sure"
            )


def _progress(what: str, questions: int) -> "tqdm[Any]":
    return tqdm(total=questions, desc=what, unit="question", delay=2, disable=None, leave=False)


def _untimed(answer: _Answer) -> _Answer:
    """Return an answer without the times of its stages, which are not those of one question at a time."""
    stages = tuple(replace(stage, seconds=None) for stage in answer.found.stages if stage.hits is not None)
    return replace(answer, found=replace(answer.found, stages=stages))
