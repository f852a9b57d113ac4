"""Indexing a corpus, and asking for rankings that are deep enough for all cutoffs, as seldom as that can be."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, groupby
from operator import itemgetter
from time import perf_counter
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..adapt.results import as_listed, as_retrieval, one_each
from ..base.coroutines import OutOfTime, run_within, side_by_side, stop_if_cancelled
from ..base.exits import in_step, no_exit, on_failure, outcome
from ..base.interrupts import say_that_it_goes_on, stop_if_interrupted
from ..base.notes import collect_notes, note
from ..base.outside import error_message, error_text, shown
from ..base.progress import progress_bar
from ..base.stages import seconds_reading
from ..components.providers.calls import count_usage, track_usage
from ..contracts.component import component_name
from ..contracts.roles import IndexedRetriever, Retriever, checked_prefix_stable, is_trusted
from ..data import AnyChunk, Corpus, Cutoff, Query, Retrieval, Stage
from ..data.hits import HitCollector, RankedHits, Ranking
from ..data.rankings import NOT_ANSWERED, NOT_ASKED, UNFILLED, Failure, Rankings, StageRow, stage_columns, stage_rows
from ..errors import ComponentExited, ConfigError, UnreadableAnswer
from ..labels.hit_locator import HitLocator
from ..text.reading import RankingCutter
from .config import Asking
from .journal import Journal, Returned
from .shown import run_note

MOST_ABANDONED = 3
"""How many questions may be left behind with the thread that they take up; after that, no other one is asked."""

_TRIED = 2
"""How many of the first answers must be of no use so that no other question is asked: one may be odd."""

_TOGETHER = 256
"""How many questions are asked together: few enough for a progress bar, and for Ctrl-C."""

_FIRST_DEPTH = 10
_MOST_TIMED = 50
_TIMED_SIDE_BY_SIDE = 32  # one in so many
_HITS_AT_ONCE = 1 << 18  # so that the memory does not grow with the number of questions
_SHORTER = 4  # than the mean: how much shorter chunks are provided for in the first request
_AGAIN = "Retrieving again"
_UNASKED = (NOT_ASKED, NOT_ANSWERED)
_Asked: TypeAlias = tuple[Query, int]
"""A question, and how many results are asked for."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Facts of an answer whose hits were located and collected.

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

    How deep, follows from whether it says that the first results do not depend on how many are asked for:

    - It does: each question is asked once. If it lists its chunks, for as many results as fill every budget even if
      they are far shorter than usual; if it has a greatest number of results, for all of them.
    - It says that they do: each question is asked for each k.
    - It says nothing: each question is asked for the largest k.

    Where a budget is not filled then, it is asked for more, until nothing more comes. What it raises, or returns and
    cannot be used, is a failure of the question. Latency is that of one question at a time. Where questions are asked
    together it is measured on up to 50 of them; where they are asked side by side, on one in 32. The others have no
    stages.

    Attributes:
        index: The retriever, which has indexed the corpus.
        cutter: Where rankings are cut.
        asking: How it is asked. With a time limit, no questions are asked together.
        journal: What keeps its answers and knows those of earlier starts, which count as calls too; None if none are
            kept.
        spans: Whether spans are scored, so that it is noted that a result is a whole document.
    """

    index: "Index"
    cutter: RankingCutter
    asking: Asking
    journal: Journal | None
    spans: bool

    def __post_init__(self) -> None:
        self.retriever, self.name, self.chunks = self.index.pipeline, self.index.retriever, self.index.chunks
        self._stable = checked_prefix_stable(self.retriever, self.name)
        self._largest = max((cutoff.size for cutoff in self.cutter.ks), default=_FIRST_DEPTH)
        self._corpus = self.cutter.reader.corpus
        self._locator, self._stage_locator = (HitLocator(self._corpus, self.chunks or ()) for _ in range(2))
        self._hits = HitCollector()
        one_by_one = self.asking.max_concurrency > 1 or self.asking.timeout is not None
        self._together = self.asking.batch_queries and self.retriever.takes_many and not one_by_one
        self._calls = self._deepest_asked = 0
        self._said: dict[str, set[str]] = {}  # what the retriever noted, and of which questions
        self._abandoned: list[Query] = []  # threads append to it
        self._first: list[str] = []  # likewise: the questions that were asked first, by id
        self._useless: set[str] = set()  # those whose answers cannot be read
        self._goes_on = False  # whether an answer could be read, of an earlier start or of those asked first
        self._untold: Sequence[Query] = ()  # what the retriever is told before the first question that is not known
        self._usage: Any = nullcontext if self.journal is None else track_usage  # it is kept with each answer

    def rankings(self, queries: Sequence[Query]) -> Rankings:
        """Return the ranking of every query, or how its retrieval failed; notes go to whoever collects them."""
        start, timed = perf_counter(), len(queries)
        self._untold = queries if self.asking.batch_queries else ()
        if self.asking.max_concurrency > 1:
            timed = min(_MOST_TIMED, -(-len(queries) // _TIMED_SIDE_BY_SIDE))
        elif self._together:
            timed = min(_MOST_TIMED, len(queries))
        alone = [number * len(queries) // timed for number in range(timed)]
        depth, most = self._largest, self.retriever.most_results
        if self._stable and self.cutter.budgets:
            filling = self.cutter.depth_to_fill(self.chunks, _SHORTER) if self.chunks else most or 0
            depth = max(depth, filling if most is None else min(filling, most))
        first = self._ask("Retrieving", queries, [depth] * len(queries), alone)
        self._goes_on = True
        sizes = {cutoff: cutoff.size for cutoff in self.cutter.ks if self._stable is False}
        at = {
            cutoff: first if size == self._largest else self._ask(_AGAIN, queries, [size] * len(queries))
            for cutoff, size in sizes.items()
        }
        deepest = self._deepest(queries, first)
        stop_if_cancelled()
        failures: dict[str, Failure] = {}
        for query, *answers in zip(queries, first, *at.values(), deepest, strict=True):
            if failed := [answer.failure for answer in answers if answer.failure is not None]:
                failures[query.id] = failed[0]
        worked = np.array([query.id not in failures for query in queries], dtype=np.bool_)
        hits = self._ranked(deepest, worked)
        if self._stable is False:
            tops = {cutoff: self._ranked(found, worked) for cutoff, found in at.items()}
        else:
            tops = self._tops(hits, self._ranked(first, worked))
        for text, query_ids in self._said.items():
            note(text if len(query_ids) == 1 else f"{text} (questions: {len(query_ids)})")
        if not_asked := [*failures.values()].count(NOT_ASKED):
            counts = {"count": not_asked, "all": len(queries), "abandoned": len(self._abandoned)}
            note(run_note("stopped", **counts, limit=self.asking.timeout))
        unfilled = {cutoff: ended & worked for cutoff, ended in self.cutter.unfilled(hits).items()}
        for text in (*self._noted_ends(deepest, worked, unfilled), *self._noted_places(hits)):
            note(text)
        return Rankings(
            tuple(queries),
            hits,
            self._corpus,
            self.name,
            self.chunks,
            self.cutter.cutoffs,
            self._deepest_asked,
            tops,
            stage_columns([one.stages if fine else () for one, fine in zip(first, worked, strict=True)], self._hits),
            failures,
            np.array([answer.exhausted for answer in deepest], dtype=np.bool_) | ~worked,
            {**self.index.seconds, "retrieve": perf_counter() - start},
            self._calls,
            timed,
            self.asking.batch_queries and type(self.retriever).prepare is not Retriever.prepare,
            self.cutter.tokenizer,
            unfilled={str(cutoff): int(rows.sum()) for cutoff, rows in unfilled.items() if rows.any()},
        )

    def _ranked(self, answers: Sequence[_Seen], worked: NDArray[np.bool_]) -> RankedHits:
        """Return the hits of answers, none where the retrieval failed."""
        return self._hits.ranked([answer.ranking * fine for answer, fine in zip(answers, worked, strict=True)])

    def _tops(self, hits: RankedHits, first: RankedHits) -> dict[Cutoff, RankedHits]:
        """Return the rankings at each k, if those of some questions are not the beginnings of what was found later."""
        asked_again = np.flatnonzero(hits.begins != first.begins)
        # By what they are: an answer of an earlier start comes back without texts that stand at their places.
        unstable = [
            row
            for row in asked_again.tolist()
            if [hit.identity for hit in hits[row][: first.counts[row]]] != [hit.identity for hit in first[row]]
        ]
        if unstable:
            note(run_note("unstable", count=len(unstable), k=self._largest))
        # Or results were left out, and made up for further down.
        differ = np.flatnonzero(first.counts < np.minimum(self._largest, hits.counts))
        kept = np.union1d(np.array(unstable, dtype=np.int64), differ)
        if not len(kept):
            return {}
        begins, ends = hits.begins.copy(), hits.ends.copy()
        begins[kept], ends[kept] = first.begins[kept], first.ends[kept]
        return dict.fromkeys(self.cutter.ks, RankedHits(hits.table, begins, ends))

    def _deepest(self, queries: Sequence[Query], first: Sequence[_Seen]) -> list[_Seen]:
        """Ask again where a budget is not filled and there may be more, and return the deepest answers.

        If no question at all can be asked for more, the retriever has a limit of its own, and did not fail.
        """
        deepest = [*first]
        asking: list[int] = [*range(len(deepest))]
        while depths := {row: deepest[row].deeper for row in asking if deepest[row].deeper > deepest[row].depth}:
            if self._together:  # powers of two, so that more questions are asked together
                depths = {row: 1 << (depth - 1).bit_length() for row, depth in depths.items()}
            answers = self._ask(_AGAIN, [queries[row] for row in depths], [*depths.values()])
            failed = [one.failure for one in answers if one.failure is not None and one.failure not in _UNASKED]
            if len(failed) == len(answers):
                why = f"{failed[0].kind}: {failed[0].message}"
                note(run_note("refused", name=self.name, most=min(depths.values()), why=why))
                self._deepest_asked = max(one.depth for one in deepest)
                break
            asking = []
            for row, answer in zip(depths, answers, strict=True):
                if answer.failure not in _UNASKED or not deepest[row].exhausted:  # else there was nothing more to get
                    if answer.hits > deepest[row].hits:
                        asking.append(row)
                    deepest[row] = answer
        return deepest

    def _ask(
        self, doing: str, queries: Sequence[Query], depths: Sequence[int], alone: Sequence[int] = ()
    ) -> list[_Seen]:
        """Ask every question: some alone, the others as may be, those of one depth one after the other."""
        if self._untold and not self._knows(zip(queries, depths, strict=True)):
            texts, self._untold = [query.text for query in self._untold], ()
            prepare = no_exit(self.name, "prepare")(partial(self.retriever.prepare, texts))
            outcome(prepare, partial(_note_failure, "not_prepared", self.name, None))
        others = sorted({*range(len(queries))} - {*alone}, key=lambda row: (depths[row], row))
        seen: dict[int, _Seen] = {}
        with (
            progress_bar(len(queries), doing, "question") as bar,
            closing(self._many([(queries[row], depths[row]) for row in others])) as found,
        ):
            one_by_one = (self._one((queries[row], depths[row])) for row in alone)
            untimed = (answer.untimed() for answer in found)
            for row, answer in chain(zip(alone, one_by_one, strict=True), zip(others, untimed, strict=True)):
                stop_if_interrupted()  # a component may have swallowed it, and answered anything
                self._calls += answer.failure not in _UNASKED
                seen[row] = self._seen(answer)
                bar.update()
        listed = [seen[row] for row in range(len(queries))]
        for query, one in zip(queries, listed, strict=True):  # in their order, whichever was asked first
            for text in one.notes:
                self._said.setdefault(text, set()).add(query.id)
        return listed

    def _many(self, asked: Sequence[_Asked]) -> Generator[Returned]:
        """Yield the answers to questions that need not be timed, in their order; neighbours of one depth together."""
        if not self._together:
            yield from side_by_side(self._one, asked, self.asking.max_concurrency)
            return
        for depth, some in groupby(asked, key=itemgetter(1)):
            queries = [query for query, _ in some]
            for begin in range(0, len(queries), _TOGETHER):
                yield from self._block(queries[begin : begin + _TOGETHER], depth)

    def _block(self, queries: Sequence[Query], depth: int) -> Sequence[Returned]:
        """Return the answers to questions asked together; if that fails, each is asked alone and fails alone."""
        stop_if_interrupted()
        stop_if_cancelled()
        # A block is asked as a whole or not at all: the last digits of scores depend on what is computed together.
        if self._knows((query, depth) for query in queries):
            return [*filter(None, (self._known(query, depth) for query in queries))]
        texts = [query.text for query in queries]
        with collect_notes() as notes, self._usage() as usage:
            listed = outcome(
                lambda: one_each(self.retriever.retrieve_many(texts, depth), len(queries), "retrieve_many"),
                partial(Failure.of, "retrieve"),
            )
        for text in notes:
            note(text)
        if isinstance(listed, Failure):
            stop_if_cancelled()
            self._calls += len(queries)
            note(run_note("not_together", name=self.name, why=f"{listed.kind}: {listed.message}"))
            return [self._one((query, depth)) for query in queries]
        stop_if_interrupted()
        self._begin(queries)
        read = self._read if is_trusted(self.retriever) else self._noted
        answers = [read(query, results, depth) for query, results in zip(queries, listed, strict=True)]
        answers[0] = replace(answers[0], beside=notes, usage=usage.models if usage else ())
        if self.journal is not None:
            self.journal.keep((query.id, answer) for query, answer in zip(queries, answers, strict=True))
        return answers

    def _begin(self, queries: Sequence[Query]) -> None:
        """Remember the first questions that are asked, whichever of them is answered first."""
        if len(self._first) < _TRIED:
            self._first += [query.id for query in queries]

    def _knows(self, asked: Iterable[_Asked]) -> bool:
        """Return whether nothing of it has to be asked."""
        return self.journal is not None and all(self.journal.knows(query.id, depth) for query, depth in asked)

    def _known(self, query: Query, depth: int) -> Returned | None:
        """Return an answer of an earlier start; what it took and what was noted counts now."""
        known = None if self.journal is None else self.journal.answer(query.id, depth)
        self._goes_on |= known is not None
        for used in known.usage if known else ():
            count_usage(used)
        for text in known.beside if known else ():
            note(text)
        return known

    def _one(self, asked: _Asked) -> Returned:
        """Return the answer to one question at a depth, known or asked for in its time. Threads call this."""
        query, depth = asked
        stop_if_interrupted()
        stop_if_cancelled()
        if known := self._known(query, depth):
            return known
        if len(self._abandoned) >= MOST_ABANDONED:
            return Returned(Retrieval(()), depth, NOT_ASKED)
        self._begin([query])
        limit = self.asking.timeout
        try:
            answer = run_within(limit, partial(self._answer, query, depth)) if limit else self._answer(query, depth)
        except OutOfTime as late:
            if late.abandoned:
                self._abandoned.append(query)
            told = TimeoutError(
                f"no answer within {limit:g} s; "
                f"{'what it waits for was left behind' if late.abandoned else 'it was cancelled'}"
            )
            answer = self._failed(query, depth, told)
        stop_if_interrupted()  # a component may have swallowed it, and answered anything
        if self.journal is not None:
            self.journal.keep([(query.id, answer)])
        return answer

    def _answer(self, query: Query, depth: int) -> Returned:
        """Ask for one question at a depth, however long it takes."""
        start = perf_counter()
        with collect_notes() as notes, self._usage() as usage:
            results: Any = outcome(
                lambda: self.retriever.retrieve_for(query, depth), partial(self._failed, query, depth)
            )
            answer = results if isinstance(results, Returned) else self._read(query, results, depth, start)
        stop_if_cancelled()
        return replace(answer, notes=notes, usage=usage.models if usage else ())

    def _read(self, query: Query, results: Any, depth: int, start: float | None = None) -> Returned:
        """Read the result of a retriever; with a start, also its seconds, unless the retriever gives them."""
        found: Any = results
        if type(results) is not Retrieval or not is_trusted(self.retriever):
            found = outcome(lambda: as_retrieval(results, self.name, depth, start), partial(self._failed, query, depth))
        if isinstance(found, Returned):
            return found
        if start is not None and not found.stages:
            found = replace(found, stages=(Stage("retrieve", perf_counter() - start),))
        return Returned(found, depth)

    def _noted(self, query: Query, results: Any, depth: int) -> Returned:
        """Read a result as `_read` does, with what is noted of it."""
        with collect_notes() as notes:
            answer = self._read(query, results, depth)
        return replace(answer, notes=notes)

    def _failed(self, query: Query, depth: int, error: BaseException) -> Returned:
        """Return that a question failed, or raise it.

        Raises:
            UnreadableAnswer: The retriever, or a component in it, returned nothing of use for the first questions.
        """
        stop_if_interrupted()
        stop_if_cancelled()  # what was cancelled did not fail
        if isinstance(error, UnreadableAnswer):
            self._useless.add(query.id)
        first = self._first[:_TRIED]
        if len(first) == _TRIED and self._useless.issuperset(first) and not self._goes_on:
            raise UnreadableAnswer(
                f"{error_message(error)}; so it did for the first {_TRIED} questions, and no other was asked"
            ) from error
        failure = Failure.collected(query.id, "retrieve", error, self.asking.on_error, query.text)
        return Returned(Retrieval(()), depth, failure)

    def _seen(self, answer: Returned) -> _Seen:
        """Locate the hits of an answer in the corpus, and collect those that a cutoff reaches."""
        self._deepest_asked = max(self._deepest_asked, answer.depth)
        found = answer.found
        hits = _located(found.hits, self._locator)
        kept = hits[: max(self._largest, self.cutter.reach(hits))]
        stages = (
            stage if stage.hits is None else replace(stage, hits=_located(stage.hits, self._stage_locator))
            for stage in found.stages
        )
        return _Seen(
            self._hits.add(kept),
            len(kept),
            stage_rows(stages, self._hits),
            answer.depth,
            0 if found.complete or answer.failure is not None else self.cutter.next_depth(kept),
            len(kept) == len(hits) and (found.complete or self._are_all(hits, answer)),
            found.limit,
            answer.failure,
            answer.notes,
        )

    def _are_all(self, hits: Ranking, answer: Returned) -> bool:
        """Return whether an answer that does not say so has all there is: fewer than was asked for, or all chunks."""
        ended = len(hits) < answer.depth and answer.found.limit is None
        return ended or 0 < len(hits) == len(self.chunks or ()) == len({hit.identity for hit in hits})

    def _noted_ends(
        self, answers: Sequence[_Seen], worked: NDArray[np.bool_], unfilled: Mapping[Cutoff, NDArray[np.bool_]]
    ) -> Iterator[str]:
        """Yield notes on rankings that end early."""
        few = np.array([answer.hits < self._largest for answer in answers], dtype=np.bool_)
        ended = np.any([few, *unfilled.values()], axis=0) & worked
        limits = dict.fromkeys(answer.limit for answer, early in zip(answers, ended, strict=True) if early)
        yield from (run_note("limit", limit=limit) for limit in limits if limit)
        counts = [f"{rows.sum()} of {worked.sum()} at {cutoff}" for cutoff, rows in unfilled.items() if rows.any()]
        if counts:
            yield run_note("unfilled", mark=UNFILLED, listed=", ".join(counts))
        most = max((answer.hits for answer in answers), default=0)
        alike = sum(answer.hits == most for answer in answers)
        everything = (len(self._corpus), len(self.chunks or ()))
        if self._stable is None and 0 < most < self._largest and alike > 1 and most not in everything:
            results = f"{most} result{'s' * (most > 1)}"
            yield run_note("own_number", name=self.name, most=results, alike=alike, k=self._largest)

    def _noted_places(self, found: RankedHits) -> Iterator[str]:
        """Yield notes on results whose places are odd."""
        hits = found.flat
        told = hits.take(np.flatnonzero(hits.text.known & hits.placed))
        rows, numbers = told.distinct()
        by_words, contradicts = self._locator.by_words, self.cutter.reader.contradicts
        differ = [hit.text not in by_words and contradicts(hit) for hit in told.take(rows)]
        if contradicting := int(np.array(differ, dtype=np.int64)[numbers].sum()):
            yield run_note("other_text", count=contradicting)
        elsewhere = hits.take(np.flatnonzero(hits.doc_id.numbers(self._locator.unknown.__contains__)))
        if len(elsewhere):
            yield run_note("unknown_document", count=len(elsewhere), first=shown(elsewhere[0].doc_id))
        if misplaced := self._locator.misplaced:
            first = min(misplaced, key=lambda span: (span.doc_id, span.start, span.end))
            place = f"[{first.start}:{first.end}] of {shown(first.doc_id)}"
            yield run_note("other_place", count=len(misplaced), first=place)
        if self.spans and (whole := self._locator.whole):
            yield run_note("whole_documents", count=len(whole), first=shown(min(whole)))
        # A document alone may be any part of it; a place that its document does not have leaves an empty text.
        same = np.flatnonzero(hits.placed | hits.chunk_id.known | (hits.text.numbers(len) > 0))
        repeated = 0
        blocks = np.flatnonzero(np.diff(np.cumsum(found.counts)[found.query[same]] // _HITS_AT_ONCE)) + 1
        for rows in np.split(same, blocks):
            _, alike = hits.take(rows).distinct()
            repeated += len(rows) - len(np.unique(found.query[rows] * (len(rows) + 1) + alike))
        if repeated:
            yield run_note("repeated", count=repeated)
        named = hits.take(np.flatnonzero(~hits.doc_id.known & (hits.text.numbers(self._corpus.__contains__) > 0)))
        if len(named):
            yield run_note("ids_as_texts", count=len(named), first=shown(named[0].text))
        if ambiguous := int(hits.text.numbers(self._locator.ambiguous.__contains__).sum()):
            yield run_note("several_places", count=ambiguous)


def _located(hits: Ranking, locator: HitLocator) -> Ranking:
    """Return hits with their places, which most retrievers tell."""
    return hits if all(hit.is_in(locator.corpus) for hit in hits) else locator.place(hits)


# `Index`: a retriever that has indexed a corpus, and is closed in the end.

_in_use: dict[int, object] = {}
"""Which run uses a retriever, by its `id`."""


@contextmanager
def indexed(pipeline: Retriever, corpus: Corpus) -> Generator["Index"]:
    """Index a corpus, and close the retriever on leaving the context.

    An error while closing is noted, and never hides an earlier error. Only `sys.exit` is an error then: a pipeline that
    ends the program must not look as if all went well.
    """
    name = component_name(pipeline)
    run, key = object(), id(pipeline)
    if isinstance(cast("object", pipeline), IndexedRetriever) and _in_use.setdefault(key, run) is not run:
        raise ConfigError(
            f"{name} is in use by another run, and holds one index; give each thread a retriever of its own"
        )
    try:
        with on_failure(partial(_close, pipeline, name)):
            start, reading = perf_counter(), seconds_reading()
            with in_step(name, "index"):
                pipeline.index(corpus)
            seconds = {"index": perf_counter() - start}
            if reading := seconds_reading() - reading:
                seconds = {"index": seconds["index"] - reading, "index_from_cache": reading}
            with in_step(name, "chunks"):
                listed = pipeline.chunks()
                chunks = listed if is_trusted(pipeline) else as_listed(listed, name)
            yield Index(pipeline, name, corpus, chunks, seconds)
        _close(pipeline, name)
    finally:
        _in_use.pop(key, None)


def _close(pipeline: Retriever, name: str, earlier: BaseException | None = None) -> None:
    """Close a retriever; an error of that is noted, in an earlier error if there is one."""
    if isinstance(earlier, KeyboardInterrupt):
        say_that_it_goes_on()
    outcome(no_exit(name, "close")(pipeline.close), partial(_note_failure, "not_closed", name, earlier))


def _note_failure(kind: str, name: str, earlier: BaseException | None, error: BaseException) -> None:
    """Note that a retriever failed in a step without which the run goes on; that it called `sys.exit` is raised."""
    message = run_note(kind, name=name, why=error_text(error))
    if earlier is not None:
        earlier.add_note(message)
    elif isinstance(error, ComponentExited):
        raise error
    else:
        note(message)


@dataclass(frozen=True)
class Index:
    """A retriever that has indexed a corpus.

    Attributes:
        pipeline: The retriever.
        retriever: What it is called.
        corpus: The documents.
        chunks: All chunks that could be retrieved, or None if the retriever cannot list them.
        seconds: How long indexing took, and beside that how long reading took what an earlier run kept of it.
    """

    pipeline: Retriever
    retriever: str
    corpus: Corpus
    chunks: Sequence[AnyChunk] | None
    seconds: Mapping[str, float]

    @cached_property
    def size(self) -> dict[str, int] | None:
        """Number of chunks, of their characters, and of numbers per chunk; None if chunks cannot be listed."""
        if self.chunks is None:
            return None
        characters = sum(len(chunk.content) for chunk in self.chunks)
        return {"chunks": len(self.chunks), "characters": characters, "dimension": _dimension(self.pipeline)}

    def rank(
        self,
        queries: Sequence[Query],
        cutter: RankingCutter,
        asking: Asking,
        *,
        spans: bool = False,
        journal: Journal | None = None,
    ) -> Rankings:
        """Return the ranking of every query, as `retrieve` does.

        Notes go to whoever collects them; where spans are scored, also that results are whole documents.

        Raises:
            QueryFailed: A query failed, and `on_error` is `"raise"`.
        """
        return Ranker(self, cutter, asking, journal, spans).rankings(queries)


def _dimension(pipeline: Any) -> int:
    """Return how many numbers an index keeps per chunk: the lengths of the vectors of all its retrievers."""
    if not isinstance(pipeline, IndexedRetriever):
        return 0
    own: Mapping[str, Any] = vars(pipeline)
    vectors: Any = getattr(own.get("_index"), "vectors", None)
    width = np.shape(vectors)[1] if getattr(vectors, "ndim", 0) == 2 else 0
    merged: object = own.get("retrievers")  # of a hybrid one
    parts = (*own.values(), *(cast("tuple[object, ...]", merged) if isinstance(merged, tuple) else ()))
    return sum(map(_dimension, parts)) + width
