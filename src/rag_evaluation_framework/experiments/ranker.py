"""`Ranker`: asks a retriever for rankings that are deep enough for all cutoffs, as seldom as that can be."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import stop_if_cancelled
from rag_evaluation_framework.base.interrupts import say_that_it_goes_on, stop_if_interrupted
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.progress import progress_bar
from rag_evaluation_framework.contracts.retriever import Retriever, checked_prefix_stable
from rag_evaluation_framework.data import AnyChunk, Cutoff, Query
from rag_evaluation_framework.data.hits import HitCollector, RankedHits, Ranking, Retrieval, Stage
from rag_evaluation_framework.data.rankings import (
    NOT_ANSWERED,
    NOT_ASKED,
    UNFILLED,
    Failure,
    Rankings,
    StageRow,
    stage_columns,
    stage_rows,
)
from rag_evaluation_framework.experiments.asker import Asker
from rag_evaluation_framework.experiments.journal import Journal, Returned
from rag_evaluation_framework.experiments.settings import Asking
from rag_evaluation_framework.quotes.hit_locator import HitLocator
from rag_evaluation_framework.text.reading import RankingCutter

_FIRST_DEPTH = 10
_MOST_TIMED = 50
_TIMED_SIDE_BY_SIDE = 32  # one in so many
_INTERRUPTED = Returned(Retrieval(()), 0, NOT_ANSWERED)
_HITS_AT_ONCE = 1 << 18  # so that the memory does not grow with the number of questions
_SHORTER = 4  # than the mean: how much shorter chunks are provided for in the first request


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
        name: What it is called.
        chunks: Everything that could be retrieved, or None if that is not known.
        cutter: Where rankings are cut.
        asking: How it is asked. With a time limit, no questions are asked together.
        spans: Whether spans are scored, so that it is noted that a result is a whole document.
        journal: What keeps its answers; None if they are not kept.
        timed: How many questions were asked one at a time.
        depth: The most results that were asked for.
        interrupt: What ended the asking before all questions were answered at every cutoff, or None.
    """

    retriever: Retriever
    name: str
    chunks: Sequence[AnyChunk] | None
    cutter: RankingCutter
    asking: Asking
    spans: bool = False
    journal: Journal | None = None
    timed: int = 0
    depth: int = 0
    interrupt: KeyboardInterrupt | None = None

    def __post_init__(self) -> None:
        self._stable = checked_prefix_stable(self.retriever, self.name)
        self._largest = max(self.cutter.ks, key=lambda cutoff: cutoff.size, default=Cutoff(_FIRST_DEPTH))
        self._locator = HitLocator(self.cutter.reader.corpus, self.chunks or ())
        self._stage_locator = HitLocator(self.cutter.reader.corpus, self.chunks or ())
        self._asker = Asker(self.retriever, self.name, self.asking, self.journal)
        self._hits = HitCollector()
        self._said: dict[str, set[str]] = {}  # what the retriever noted, and of which questions

    def rankings(self, queries: Sequence[Query]) -> Rankings:
        """Return the ranking of every query, or how its retrieval failed; notes go to whoever collects them.

        An interrupt while questions are asked makes failures of those that were not answered.
        """
        first = self._first(queries, self._first_depth())
        at: dict[Cutoff, list[_Seen]] = {}
        if self._stable is False:
            others = [cutoff for cutoff in self.cutter.ks if cutoff != self._largest]
            at = {cutoff: self._ask(queries, [cutoff.size] * len(queries)) for cutoff in others}
            at[self._largest] = first
        deepest = self._deepest(queries, first)
        stop_if_cancelled()
        return self._joined(queries, first, at, deepest)

    def _joined(
        self,
        queries: Sequence[Query],
        first: Sequence[_Seen],
        at: Mapping[Cutoff, Sequence[_Seen]],
        deepest: Sequence[_Seen],
    ) -> Rankings:
        """Return the rankings of which these are the answers: those of the first asking, per k, and the deepest."""
        failures = _failures(queries, (first, *at.values(), deepest))
        worked = np.array([query.id not in failures for query in queries], dtype=np.bool_)
        stages = stage_columns(
            [answer.stages if fine else () for answer, fine in zip(first, worked, strict=True)], self._hits
        )
        hits = self._ranked(deepest, worked)
        tops = {cutoff: self._ranked(found, worked) for cutoff, found in at.items()}
        if not tops:
            tops = self._tops(hits, self._ranked(first, worked))
        for text, said in self._said.items():
            note(text if len(said) == 1 else f"{text} (questions: {len(said)})")
        self._asker.note_stop([*failures.values()].count(NOT_ASKED), len(queries))
        unfilled = {cutoff: ended & worked for cutoff, ended in self.cutter.unfilled(hits).items()}
        for text in self._notes(hits, deepest, worked, unfilled):
            note(text)
        return Rankings(
            tuple(queries),
            hits,
            self.cutter.reader.corpus,
            self.name,
            self.chunks,
            self.cutter.cutoffs,
            self.depth,
            tops,
            stages,
            failures,
            np.array([answer.exhausted for answer in deepest], dtype=np.bool_) | ~worked,
            calls=self._asker.calls,
            timed=self.timed,
            tokenizer=self.cutter.tokenizer,
            unfilled={str(cutoff): int(rows.sum()) for cutoff, rows in unfilled.items() if rows.any()},
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
        if not self._stable:
            return self._largest.size
        most = self.retriever.most_results
        if self.chunks:
            filling = self.cutter.depth_to_fill(self.chunks, _SHORTER)
            return max(self._largest.size, filling if most is None else min(filling, most))
        return max(self._largest.size, most if most is not None and self.cutter.budgets else 0)

    def _first(self, queries: Sequence[Query], depth: int) -> list[_Seen]:
        """Ask every question for the first time: some alone, for their latency, and the others as may be."""
        self.timed = len(queries)
        if self.asking.max_concurrency > 1:
            self.timed = min(_MOST_TIMED, -(-len(queries) // _TIMED_SIDE_BY_SIDE))
        elif self._asker.together:
            self.timed = min(_MOST_TIMED, len(queries))
        alone = [number * len(queries) // self.timed for number in range(self.timed)]
        return self._all("Retrieving", queries, [depth] * len(queries), alone)

    def _deepest(self, queries: Sequence[Query], first: Sequence[_Seen]) -> list[_Seen]:
        """Ask again where a budget is not filled and there may be more, and return the deepest answers."""
        deepest = [*first]
        asking = [*range(len(deepest))]
        while depths := {row: deepest[row].deeper for row in asking if deepest[row].deeper > deepest[row].depth}:
            if self._asker.together:  # powers of two, so that more questions are asked together
                depths = {row: 1 << (depth - 1).bit_length() for row, depth in depths.items()}
            answers = self._ask([queries[row] for row in depths], [*depths.values()])
            before = {row: deepest[row].hits for row in depths}
            for row, answer in zip(depths, answers, strict=True):
                asked = answer.failure not in (NOT_ANSWERED, NOT_ASKED)
                if asked or not deepest[row].exhausted:  # else there was nothing more to get
                    deepest[row] = answer
            asking = [row for row in depths if deepest[row].hits > before[row]]
        return deepest

    def _ask(self, queries: Sequence[Query], depths: Sequence[int]) -> list[_Seen]:
        """Ask questions again, each at a depth of its own."""
        return self._all("Retrieving again", queries, depths, [])

    def _all(self, doing: str, queries: Sequence[Query], depths: Sequence[int], alone: Sequence[int]) -> list[_Seen]:
        """Ask every question: some alone, the others as may be, those of one depth one after the other.

        An interrupt ends that, now and for what would be asked later. The answers that are there by then are kept.
        """
        others = sorted({*range(len(queries))} - {*alone}, key=lambda row: (depths[row], row))
        answers: dict[int, _Seen] = {}
        if self.interrupt is None:
            try:
                with (
                    progress_bar(len(queries), doing, "question") as bar,
                    closing(
                        self._asker.many([queries[row] for row in others], [depths[row] for row in others])
                    ) as found,
                ):
                    one_by_one = (self._asker.alone(queries[row], depths[row]) for row in alone)
                    for row, answer in chain(
                        zip(alone, one_by_one, strict=True),
                        zip(others, (answer.untimed() for answer in found), strict=True),
                    ):
                        stop_if_interrupted()  # a component may have swallowed it, and answered anything
                        answers[row] = self._seen(answer)
                        self._asker.answered.pop(queries[row].id, None)
                        bar.update()
            except KeyboardInterrupt as interrupt:
                self.interrupt = interrupt
                say_that_it_goes_on()
        for row, query in enumerate(queries):
            if row not in answers:
                answers[row] = self._seen(self._asker.answered.pop(query.id, _INTERRUPTED).untimed())
        listed = [answers[row] for row in range(len(queries))]
        for query, seen in zip(queries, listed, strict=True):  # in their order, whichever was asked first
            for text in seen.notes:
                self._said.setdefault(text, set()).add(query.id)
        return listed

    def _seen(self, answer: Returned) -> _Seen:
        """Locate the hits of an answer in the corpus, and collect those that a cutoff reaches."""
        self.depth = max(self.depth, answer.depth)
        found = answer.found
        hits = self._located(found.hits, self._locator)
        kept = hits[: max(self._largest.size, self.cutter.reach(hits))]
        return _Seen(
            self._hits.add(kept),
            len(kept),
            stage_rows(map(self._placed, found.stages), self._hits),
            answer.depth,
            0 if found.complete or answer.failure is not None else self.cutter.next_depth(kept),
            (found.complete or len(hits) < answer.depth) and len(kept) == len(hits),
            found.limit,
            answer.failure,
            answer.notes,
        )

    def _placed(self, stage: Stage) -> Stage:
        """Return a stage whose hits have their places."""
        return stage if stage.hits is None else replace(stage, hits=self._located(stage.hits, self._stage_locator))

    def _located(self, hits: Ranking, locator: HitLocator) -> Ranking:
        """Return hits with their places, which most retrievers tell."""
        return hits if all(hit.is_in(locator.corpus) for hit in hits) else locator.place(hits)

    def _notes(
        self,
        found: RankedHits,
        answers: Sequence[_Seen],
        worked: NDArray[np.bool_],
        unfilled: Mapping[Cutoff, NDArray[np.bool_]],
    ) -> Iterator[str]:
        """Yield notes on the rankings that were made."""
        few = np.array([answer.hits < self._largest.size for answer in answers], dtype=np.bool_)
        ended = np.any([few, *unfilled.values()], axis=0) & worked
        short = [answer for answer, early in zip(answers, ended, strict=True) if early]
        for limit in dict.fromkeys(answer.limit for answer in short if answer.limit is not None):
            yield f"rankings end early, as {limit} is less than was asked for"
        counts = [f"{rows.sum()} of {worked.sum()} at {cutoff}" for cutoff, rows in unfilled.items() if rows.any()]
        if counts:
            yield f"{UNFILLED} rankings that ran out of results before the budget was filled: {', '.join(counts)}"
        most = max((answer.hits for answer in answers), default=0)
        alike = sum(answer.hits == most for answer in answers)
        everything = (len(self.cutter.reader.corpus), len(self.chunks or ()))
        if self._stable is None and 0 < most < self._largest.size and alike > 1 and most not in everything:
            yield (
                f"{self.name} returned {most} {'results' if most > 1 else 'result'} for {alike} questions and never "
                f"more, where {self._largest.size} were asked for; if it has a number of its own (k, top_k), let it "
                "return more"
            )
        hits = found.flat
        told = hits.take(np.flatnonzero(hits.text.known & hits.placed))
        rows, numbers = told.distinct()
        by_words, contradicts = self._locator.by_words, self.cutter.reader.contradicts
        differ = [hit.text not in by_words and contradicts(hit) for hit in told.take(rows)]
        contradicting = int(np.array(differ, dtype=np.int64)[numbers].sum())
        if contradicting:
            yield (
                f"results whose text differs from the text at the place that they name: {contradicting}; the place was "
                "taken. If the retriever does not change texts, its offsets are wrong (they count code points)"
            )
        elsewhere = hits.take(np.flatnonzero(hits.doc_id.numbers(self._locator.unknown.__contains__)))
        if len(elsewhere):
            yield (
                f"results that name a document which the corpus does not have: {len(elsewhere)}, such as "
                f"{shown(elsewhere[0].doc_id)}; they are not located. Let the retriever name documents as the corpus "
                "does, or leave doc_id out to have their texts looked for everywhere"
            )
        if self._locator.misplaced:
            first = min(self._locator.misplaced, key=lambda span: (span.doc_id, span.start, span.end))
            yield (
                f"places that do not hold the result that names them: {len(self._locator.misplaced)}, such as "
                f"[{first.start}:{first.end}] of {shown(first.doc_id)}; it was located by its text, or not at all. Are "
                "the documents those that were indexed? Offsets count code points"
            )
        if self.spans and (whole := self._locator.whole):
            yield (
                f"results that name a document and no place in it: of {len(whole)} documents, such as "
                f"{shown(min(whole))}; each such result counts as the whole document. If it is a part, let the "
                "retriever return its text, or start and end"
            )
        if repeated := _repeated(found):
            yield f"results that are another one of their ranking once more: {repeated}; a reader reads them twice"
        named = hits.take(
            np.flatnonzero(~hits.doc_id.known & (hits.text.numbers(self.cutter.reader.corpus.__contains__) > 0))
        )
        if len(named):
            yield (
                f"results that are the id of a document, and were read as a text: {len(named)}, such as "
                f"{shown(named[0].text)}; let the retriever return {{'doc_id': ...}} for each"
            )
        ambiguous = int(hits.text.numbers(self._locator.ambiguous.__contains__).sum())
        if ambiguous:
            yield (
                f"results whose text occurs more than once: {ambiguous}; the first free place was taken. Let the "
                "retriever return doc_id, or doc_id, start and end, to be sure"
            )


def _repeated(found: RankedHits) -> int:
    """Return how many results are equal to one before them in their ranking; a document alone may be any part of it."""
    hits = found.flat
    has_text = hits.text.numbers(len) > 0  # a place that its document does not have leaves an empty one
    told = np.flatnonzero(hits.placed | hits.chunk_id.known | has_text)
    repeated = 0
    blocks = np.flatnonzero(np.diff(np.cumsum(found.counts)[found.query[told]] // _HITS_AT_ONCE)) + 1
    for rows in np.split(told, blocks):
        _, numbers = hits.take(rows).distinct()
        repeated += len(rows) - len(np.unique(found.query[rows] * (len(rows) + 1) + numbers))
    return repeated


def _failures(queries: Sequence[Query], answers: Sequence[Sequence[_Seen]]) -> dict[str, Failure]:
    """Return the first failure of each query for which something failed."""
    failures: dict[str, Failure] = {}
    for query, *known in zip(queries, *answers, strict=True):
        for answer in known:
            if answer.failure is not None:
                failures.setdefault(query.id, answer.failure)
    return failures
