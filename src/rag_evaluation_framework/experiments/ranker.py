"""`Ranker`: asks a retriever for rankings that are deep enough for all cutoffs, as seldom as that can be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from tqdm import tqdm

from rag_evaluation_framework._support.coroutines import stop_if_cancelled
from rag_evaluation_framework._support.interrupts import stop_if_interrupted
from rag_evaluation_framework._support.notes import note
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
_TIMED_SIDE_BY_SIDE = 16  # one in so many
_TOGETHER = 256
"""How many questions are asked together: few enough for a progress bar, and for Ctrl-C."""


@dataclass(frozen=True)
class _Answer:
    """What a retriever found for a question, or how that failed."""

    found: Retrieval = field(default_factory=lambda: Retrieval(()))
    failure: Failure | None = None


@dataclass
class Ranker:
    """Asks a retriever for rankings that are deep enough for all cutoffs.

    A retriever that is prefix-stable and lists its chunks is asked once per question, for as many results as fill every
    budget even if they are the shortest. Another one is asked for the largest k and, where that leaves a budget
    unfilled, once more. One that is not prefix-stable is asked for each k.

    Latency is that of one question at a time. Where questions are asked together it is measured on up to 50 of them;
    where they are asked side by side, on one in 16. The others have no stages.

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
        own = type(self.retriever).retrieve_many is not Retriever.retrieve_many
        self._together = self.together and own and self.concurrency == 1
        self._unstable = 0
        self._unfilled = 0
        self._limits: dict[str, None] = {}

    def rankings(self, queries: Sequence[Query]) -> tuple[QueryRanking, ...]:
        """Return the ranking of every query, or how its retrieval failed; notes go to whoever collects them."""
        depth = self._first_depth()
        first = self._first(queries, depth)
        at: dict[Cutoff, list[_Answer]] = {}
        if self.retriever.prefix_stable is False:
            others = [cutoff for cutoff in self.cutter.ks if cutoff != self._largest]
            at = {cutoff: self._ask(queries, [cutoff.size] * len(queries)) for cutoff in others}
        deepest = self._deepest(queries, first, depth)
        entries = tuple(
            self._ranking(query, first[row], {cutoff: answers[row] for cutoff, answers in at.items()}, *deepest[row])
            for row, query in enumerate(queries)
        )
        for text in self._notes(entries):
            note(text)
        return entries

    def _first_depth(self) -> int:
        if not self.retriever.prefix_stable or self.chunks is None:
            return self._largest.size
        return max(self._largest.size, self.cutter.depth_to_fill(self.chunks))

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
        with _progress("Retrieving", len(queries)) as bar:
            for row in alone:
                answers[row] = self._seen(self._retrieve((queries[row], depth)), depth, bar)
            found = self._answers([queries[row] for row in others], [depth] * len(others))
            for row, answer in zip(others, found, strict=True):
                answers[row] = self._seen(_untimed(answer), depth, bar)
        return [answers[row] for row in range(len(queries))]

    def _deepest(self, queries: Sequence[Query], first: Sequence[_Answer], depth: int) -> list[tuple[_Answer, int]]:
        """Ask once more where a budget is not filled, and return the deepest answers with their depths."""
        stable = (
            self.retriever.prefix_stable is True
        )  # then fewer results than asked for are all; else some are left out
        ended = [stable and len(answer.found.hits) < depth for answer in first]
        more = {row: self.cutter.next_depth(a.found.hits) for row, a in enumerate(first) if not ended[row]}
        wanted = {row: deeper for row, deeper in more.items() if deeper > depth}
        answers = self._ask([queries[row] for row in wanted], [*wanted.values()])
        deepest = [(answer, depth) for answer in first]
        for (row, deeper), answer in zip(wanted.items(), answers, strict=True):
            deepest[row] = (answer, deeper)
        return deepest

    def _ask(self, queries: Sequence[Query], depths: Sequence[int]) -> list[_Answer]:
        """Ask questions again, each at a depth of its own."""
        with _progress("Retrieving again", len(queries)) as bar:
            answers = zip(self._answers(queries, depths), depths, strict=True)
            return [self._seen(answer, depth, bar) for answer, depth in answers]

    def _answers(self, queries: Sequence[Query], depths: Sequence[int]) -> Iterator[_Answer]:
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
            listed: list[Any] = [*self.retriever.retrieve_many([query.text for query in queries], depth)]
            if len(listed) != len(queries):
                raise InputError(f"retrieve_many returned {len(listed)} rankings for {len(queries)} questions")
        except (Exception, SystemExit) as error:  # noqa: BLE001  a retriever may raise anything; it becomes data
            failure = Failure.of("retrieve", error)
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
        try:
            results: Any = self.retriever.retrieve(query.text, depth)
        except (Exception, SystemExit) as error:  # noqa: BLE001  a retriever may raise anything; it becomes data
            return _Answer(failure=Failure.of("retrieve", error))
        return self._read(results, depth, start)

    def _read(self, results: Any, depth: int, start: float | None = None) -> _Answer:
        """Return what a retriever returned; with a start, how long it took, unless the retriever says that."""
        try:
            hits = as_hits(results, self.retriever.name)[:depth]
        except (Exception, SystemExit) as error:  # noqa: BLE001  a generator may raise anything
            return _Answer(failure=Failure.of("retrieve", error))
        known = results if isinstance(results, Retrieval) else Retrieval(hits)
        measured = () if start is None else (Stage("retrieve", perf_counter() - start),)
        return _Answer(replace(known, hits=hits, stages=known.stages or measured))

    def _seen(self, answer: _Answer, depth: int, bar: "tqdm[Any]") -> _Answer:
        """Count an answer, and locate its hits in the corpus."""
        self.calls += 1
        self.depth = max(self.depth, depth)
        bar.update()
        return replace(answer, found=replace(answer.found, hits=self._locator.place(answer.found.hits)))

    def _ranking(
        self, query: Query, first: _Answer, others: Mapping[Cutoff, _Answer], deepest: _Answer, depth: int
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
        reached, unfilled = self.cutter.reach(hits)
        self._unfilled += unfilled
        if deepest.found.limit is not None and (unfilled or len(hits) < self._largest.size):
            self._limits[deepest.found.limit] = None
        kept = hits[: max(self._largest.size, reached)]
        exhausted = len(kept) == len(hits) < depth
        return QueryRanking(query, kept, at, first.found.stages, exhausted=exhausted)

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
