"""`Ranker`: asks a retriever for rankings that are deep enough for all cutoffs, as seldom as that can be."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework._support.coroutines import stop_if_cancelled
from rag_evaluation_framework._support.interrupts import stop_if_interrupted
from rag_evaluation_framework._support.notes import collected, note
from rag_evaluation_framework._support.side_by_side import side_by_side
from rag_evaluation_framework.contracts.retrieved import as_hits, as_stages
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.hit_table import HitCollector, RankedHits
from rag_evaluation_framework.data.hits import Retrieval, Stage
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.rankings import Rankings, StageRow, stage_columns, stage_rows
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.text.hit_locator import HitLocator
from rag_evaluation_framework.text.reading import RankingCutter

_FIRST_DEPTH = 10
_MOST_TIMED = 50
_TIMED_SIDE_BY_SIDE = 32  # one in so many
_SHORTER = 4  # than the mean: how much shorter chunks are provided for in the first request
_TOGETHER = 256
"""How many questions are asked together: few enough for a progress bar, and for Ctrl-C."""


@dataclass(frozen=True, slots=True)
class _Returned:
    """What a retriever returned for a question, or how that failed.

    Attributes:
        found: What it found.
        depth: How many results were asked for.
        failure: How it failed, or None.
        notes: What the retriever noted.
    """

    found: Retrieval
    depth: int
    failure: Failure | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of an answer whose hits were located and collected.

    Attributes:
        ranking: The number under which those hits that a cutoff reaches were collected.
        hits: How many these are.
        stages: How long each step took, and the numbers of the rankings after it.
        depth: How many results were asked for.
        deeper: How many to ask for so that the budgets are filled; 0 if there is nothing to gain.
        exhausted: Whether these are all hits.
        unfilled: Whether a budget that the corpus could fill is not filled.
        limit: The parameter of the retriever that ends the ranking.
        failure: How it failed, or None.
        notes: What the retriever noted.
    """

    ranking: int
    hits: int
    stages: Sequence[StageRow]
    depth: int
    deeper: int
    exhausted: bool
    unfilled: bool
    limit: str | None
    failure: Failure | None
    notes: Sequence[str]


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
        self._stage_locator = HitLocator(self.cutter.reader.corpus, self.chunks or ())
        self._together = self.together and self.retriever.takes_many and self.concurrency == 1
        self._hits = HitCollector()

    def rankings(self, queries: Sequence[Query]) -> Rankings:
        """Return the ranking of every query, or how its retrieval failed; notes go to whoever collects them."""
        first = self._first(queries, self._first_depth())
        at: dict[Cutoff, list[_Seen]] = {}
        if self.retriever.prefix_stable is False:
            others = [cutoff for cutoff in self.cutter.ks if cutoff != self._largest]
            at = {cutoff: self._ask(queries, [cutoff.size] * len(queries)) for cutoff in others}
            at[self._largest] = first
        deepest = self._deepest(queries, first)
        stop_if_interrupted()
        stop_if_cancelled()
        failures = _failures(queries, (first, *at.values(), deepest))
        worked = np.array([query.id not in failures for query in queries], dtype=np.bool_)
        stages = stage_columns(
            [answer.stages if fine else () for answer, fine in zip(first, worked, strict=True)], self._hits
        )
        hits = self._ranked(deepest, worked)
        tops = {cutoff: self._ranked(found, worked) for cutoff, found in at.items()}
        if not tops:
            tops = self._tops(hits, self._ranked(first, worked))
        for text in self._notes(hits, [answer for answer, fine in zip(deepest, worked, strict=True) if fine]):
            note(text)
        return Rankings(
            tuple(queries),
            hits,
            self.cutter.reader.corpus,
            self.retriever.name,
            self.chunks,
            self.cutter.cutoffs,
            self.depth,
            tops,
            stages,
            failures,
            np.array([answer.exhausted for answer in deepest], dtype=np.bool_) | ~worked,
            calls=self.calls,
            timed=self.timed,
            tokenizer=self.cutter.tokenizer,
        )

    def _ranked(self, answers: Sequence[_Seen], worked: NDArray[np.bool_]) -> RankedHits:
        """Return the hits of answers, none where the retrieval failed."""
        return self._hits.ranked([answer.ranking * fine for answer, fine in zip(answers, worked, strict=True)])

    def _tops(self, hits: RankedHits, first: RankedHits) -> dict[Cutoff, RankedHits]:
        """Return the rankings at each k, if those of some questions are not the beginnings of what was found later."""
        largest = self._largest.size
        asked_again = np.flatnonzero(hits.begins != first.begins)
        unstable = [row for row in asked_again.tolist() if hits[row][: first.counts[row]] != first[row]]
        if unstable:
            note(
                f"rankings changed at the top when more results were asked for: {len(unstable)}; their scores at k are "
                f"those of asking for {largest}. If the retriever works so, let its prefix_stable be False"
            )
        # Or results were left out, and made up for further down.
        differ = np.flatnonzero(first.counts < np.minimum(largest, hits.counts))
        kept = np.union1d(np.array(unstable, dtype=np.int64), differ)
        if not len(kept):
            return {}
        begins, ends = hits.begins.copy(), hits.ends.copy()
        begins[kept], ends[kept] = first.begins[kept], first.ends[kept]
        return dict.fromkeys(self.cutter.ks, RankedHits(hits.table, begins, ends))

    def _first_depth(self) -> int:
        """Return how deep every question is asked first."""
        if not self.retriever.prefix_stable:
            return self._largest.size
        most = self.retriever.most_results
        if self.chunks:
            wanted = self.cutter.depth_to_fill(self.chunks, _SHORTER)
            return max(self._largest.size, wanted if most is None else min(wanted, most))
        return max(self._largest.size, most if most is not None and self.cutter.budgets else 0)

    def _first(self, queries: Sequence[Query], depth: int) -> list[_Seen]:
        """Ask every question for the first time: some alone, for their latency, and the others as may be."""
        self.timed = len(queries)
        if self.concurrency > 1:
            self.timed = min(_MOST_TIMED, -(-len(queries) // _TIMED_SIDE_BY_SIDE))
        elif self._together:
            self.timed = min(_MOST_TIMED, len(queries))
        alone = [number * len(queries) // self.timed for number in range(self.timed)]
        others = sorted({*range(len(queries))} - {*alone})
        answers: dict[int, _Seen] = {}
        with (
            _progress("Retrieving", len(queries)) as bar,
            closing(self._answers([queries[row] for row in others], [depth] * len(others))) as found,
        ):
            for row in alone:
                answers[row] = self._seen(self._retrieve((queries[row], depth)), bar)
            for row, answer in zip(others, found, strict=True):
                answers[row] = self._seen(_untimed(answer), bar)
        return self._noted([answers[row] for row in range(len(queries))])

    def _deepest(self, queries: Sequence[Query], first: Sequence[_Seen]) -> list[_Seen]:
        """Ask again where a budget is not filled and there may be more, and return the deepest answers."""
        deepest = [*first]
        asking = [*range(len(deepest))]
        while wanted := {
            row: self._rounded(deepest[row].deeper) for row in asking if deepest[row].deeper > deepest[row].depth
        }:
            answers = self._ask([queries[row] for row in wanted], [*wanted.values()])
            before = {row: deepest[row].hits for row in wanted}
            for row, answer in zip(wanted, answers, strict=True):
                deepest[row] = answer
            asking = [row for row in wanted if deepest[row].hits > before[row]]
        return deepest

    def _rounded(self, depth: int) -> int:
        """Return a depth, rounded up to a power of two where that lets more questions be asked together."""
        return 1 << (depth - 1).bit_length() if self._together else depth

    def _ask(self, queries: Sequence[Query], depths: Sequence[int]) -> list[_Seen]:
        """Ask questions again, each at a depth of its own; those of one depth one after the other."""
        order = sorted(range(len(queries)), key=depths.__getitem__)
        with (
            _progress("Retrieving again", len(queries)) as bar,
            closing(self._answers([queries[row] for row in order], [depths[row] for row in order])) as answers,
        ):
            seen = dict(zip(order, (self._seen(answer, bar) for answer in answers), strict=True))
        return self._noted([seen[row] for row in range(len(queries))])

    def _answers(self, queries: Sequence[Query], depths: Sequence[int]) -> Generator[_Returned]:
        """Yield the answers to questions that need not be timed, in their order."""
        if not self._together:
            yield from side_by_side(self._retrieve, [*zip(queries, depths, strict=True)], self.concurrency)
            return
        for depth, rows in groupby(range(len(queries)), depths.__getitem__):
            asked = [queries[row] for row in rows]
            for begin in range(0, len(asked), _TOGETHER):
                yield from self._answers_together(asked[begin : begin + _TOGETHER], depth)

    def _answers_together(self, queries: Sequence[Query], depth: int) -> Iterator[_Returned]:
        """Yield the answers to questions asked together; if that fails, each is asked alone and fails alone."""
        stop_if_interrupted()
        stop_if_cancelled()
        try:
            given: Any = self.retriever.retrieve_many([query.text for query in queries], depth)
            if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
                raise InputError(f"retrieve_many returned {given!r:.60}; expected one ranking per question")
            listed: list[Any] = [*given]
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

    def _retrieve(self, asked: tuple[Query, int]) -> _Returned:
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
                answer = _Returned(Retrieval(()), depth, Failure.of("retrieve", error))
        stop_if_cancelled()
        return replace(answer, notes=notes)

    def _read(self, results: Any, depth: int, start: float | None = None) -> _Returned:
        """Return what a retriever returned; with a start, how long it took, unless the retriever says that."""
        try:
            hits = as_hits(results, self.retriever.name)[:depth]
            known = results if isinstance(results, Retrieval) else Retrieval(hits)
            stages = as_stages(known.stages, self.retriever.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001  a generator may raise anything
            return _Returned(Retrieval(()), depth, Failure.of("retrieve", error))
        measured = () if start is None else (Stage("retrieve", perf_counter() - start),)
        return _Returned(replace(known, hits=hits, stages=stages or measured), depth)

    def _seen(self, answer: _Returned, bar: "tqdm[Any]") -> _Seen:
        """Count an answer, locate its hits in the corpus, and collect those that a cutoff reaches."""
        self.calls += 1
        self.depth = max(self.depth, answer.depth)
        bar.update()
        found = answer.found
        hits = self._locator.place(found.hits)
        reached, unfilled = self.cutter.reach(hits)
        kept = hits[: max(self._largest.size, reached)]
        return _Seen(
            self._hits.add(kept),
            len(kept),
            stage_rows(map(self._placed, found.stages), self._hits),
            answer.depth,
            0 if found.complete or answer.failure is not None else self.cutter.next_depth(kept),
            (found.complete or len(hits) < answer.depth) and len(kept) == len(hits),
            unfilled,
            found.limit,
            answer.failure,
            answer.notes,
        )

    def _placed(self, stage: Stage) -> Stage:
        """Return a stage whose hits have their places."""
        return stage if stage.hits is None else replace(stage, hits=self._stage_locator.place(stage.hits))

    def _noted(self, answers: list[_Seen]) -> list[_Seen]:
        """Say what the retriever noted, in the order of the questions, whichever was asked first."""
        for answer in answers:
            for text in answer.notes:
                note(text)
        return answers

    def _notes(self, found: RankedHits, answers: Sequence[_Seen]) -> Iterator[str]:
        """Yield notes on the rankings that were made."""
        unfilled = sum(answer.unfilled for answer in answers)
        short = [answer for answer in answers if answer.unfilled or answer.hits < self._largest.size]
        for limit in dict.fromkeys(answer.limit for answer in short if answer.limit is not None):
            yield f"rankings end early, as {limit} is less than was asked for"
        if unfilled:
            rankings = "ranking" if unfilled == 1 else "rankings"
            yield f"{unfilled} {rankings} ran out of results before the budget was filled"
        hits = found.flat
        told = hits.take(np.flatnonzero(hits.text.known & hits.placed))
        rows, numbers = told.distinct()
        differ = [*map(self.cutter.reader.contradicts, told.take(rows))]
        contradicting = int(np.array(differ, dtype=np.int64)[numbers].sum())
        if contradicting:
            yield (
                f"results whose text differs from the text at the place that they name: {contradicting}; the place was "
                "taken. If the retriever does not change texts, its offsets are wrong (they count code points)"
            )
        ambiguous = int(hits.text.numbers(self._locator.ambiguous.__contains__).sum())
        if ambiguous:
            yield (
                f"results whose text occurs more than once: {ambiguous}; the first free place was taken. Let the "
                "retriever return doc_id, or doc_id, start and end, to be sure"
            )


def _failures(queries: Sequence[Query], answers: Sequence[Sequence[_Seen]]) -> dict[str, Failure]:
    """Return the first failure of each query for which something failed."""
    failures: dict[str, Failure] = {}
    for query, *known in zip(queries, *answers, strict=True):
        for answer in known:
            if answer.failure is not None:
                failures.setdefault(query.id, answer.failure)
    return failures


def _progress(what: str, questions: int) -> "tqdm[Any]":
    return tqdm(total=questions, desc=what, unit="question", delay=2, disable=None, leave=False)


def _untimed(answer: _Returned) -> _Returned:
    """Return an answer without the times of its stages, which are not those of one question at a time."""
    stages = tuple(replace(stage, seconds=None) for stage in answer.found.stages if stage.hits is not None)
    return replace(answer, found=replace(answer.found, stages=stages))
