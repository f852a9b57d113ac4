"""Losses of a run at a cutoff, by cause, and the best possible recall: of documents, chunks and text."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...base.outside import grouped
from ...data import DOCUMENT, AnyChunk, CharacterSpan, Corpus, Cutoff, GroundTruth, Level, PositionAwareChunk
from ...data.columns import Integers, Numbering, Numbers
from ...data.hits import Hit, HitTable, RankedHits, Ranking
from ...data.spans import uncovered
from ...scoring.judging.spans import SpanJudgements, largest_sums, relevant_parts, sharing
from ...scoring.judging.stretches import Line, Merged, Pieces, Shared, SpanColumns, SpanTruth, Stretches
from ...text.markups.characters import key
from ...text.reading import ContextBudget, RankingCutter

# Why relevant text or a relevant unit was lost: the step between the documents and the cutoff that did not have it.

Cause = Literal[
    "not_in_corpus",
    "in_no_chunk",
    "not_retrieved",
    "not_asked_for",
    "not_a_candidate",
    "beyond_cutoff",
    "dropped_by_reranker",
    "not_placed",
]
"""The step that lost something, the first in the way of a document."""

CAUSES: tuple[Cause, ...] = get_args(Cause)
STEPS: tuple[Cause, ...] = tuple(cause for cause in CAUSES if cause != "not_asked_for")
"""What each step loses, in order: what one of them has, the steps before it have, too."""

NEARLY = 1e-9
"""What is less is lost by rounding only."""


def divided(had: Sequence[Numbers], whole: Numbers, asked: NDArray[np.bool_]) -> dict[Cause, Numbers]:
    """Divide what is missing into causes: each step loses what it does not have of what the step before it had.

    What is in no ranking is `not_retrieved` where one was asked for that is deep enough to blame the retriever.

    Args:
        had: What each step had, from all that is in the corpus to what was read at the cutoff; shape (queries,) each.
            No step has more than the one before it.
        whole: All that is relevant; shape (queries,).
        asked: For which questions a deep ranking is known; shape (queries,).

    Returns:
        The share of the whole that each cause lost, shape (queries,), in [0, 1]; together what is missing at the
        cutoff.
    """
    steps = zip(STEPS, [whole, *had[:-1]], had, strict=True)
    lost: dict[Cause, Numbers] = {cause: np.maximum(earlier - later, 0.0) / whole for cause, earlier, later in steps}
    missing = lost["not_retrieved"]
    lost |= {"not_retrieved": np.where(asked, missing, 0.0), "not_asked_for": np.where(asked, 0.0, missing)}
    return {cause: lost[cause] for cause in CAUSES}


# What was retrieved for the questions of a run, at a cutoff and deeper, and what could have been.


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rankings of some questions and the best possible ones; one ranking of each kind per question.

    Attributes:
        truth: What is relevant.
        corpus: The documents.
        cutter: Cuts rankings at the cutoff, its only one.
        final: The ranking of the run.
        first: What the reranker was given, in its first order: the beginning of `deep`; None if there is none.
        deep: The deepest ranking that is known, before the reranker.
        asked: For which questions `deep` was asked for again, and continues the ranking of the run; shape (questions,).
        chunks: All chunks that could be retrieved; None if that is not known.
        unread: The parts of documents that are in chunks, but behind what the embedder reads of each of them; empty if
            it reads all, if another retriever of a hybrid reads the rest, or if it is not known.
    """

    truth: tuple[GroundTruth[Any], ...]
    corpus: Corpus
    cutter: RankingCutter
    final: RankedHits
    first: RankedHits | None
    deep: RankedHits
    asked: NDArray[np.bool_]
    chunks: Sequence[AnyChunk] | None = None
    unread: Sequence[CharacterSpan] = ()

    @property
    def cutoff(self) -> Cutoff:
        """Where rankings are cut."""
        return self.cutter.cutoffs[0]

    @property
    def budget(self) -> ContextBudget | None:
        """What cuts rankings at a budget; None if the cutoff is a number of results."""
        return self.cutter.budgets.get(self.cutoff)

    def cut(self, ranked: RankedHits) -> RankedHits:
        """Return the beginning of rankings that is read at the cutoff."""
        return ranked.first(self.cutoff.size) if self.budget is None else self.budget.buy(ranked).hits

    @property
    def candidates(self) -> RankedHits:
        """Input of the reranker: the candidates of the run or, without a reranker, the deepest ranking."""
        return self.deep if self.first is None else self.first

    def take(self, rows: Integers, truth: Sequence[GroundTruth[Any]]) -> "Evidence":
        """Return the evidence of some of the questions, with other truth: what is relevant to each of the rows."""
        return replace(
            self,
            truth=tuple(truth),
            final=self.final.take(rows),
            first=None if self.first is None else self.first.take(rows),
            deep=self.deep.take(rows),
            asked=self.asked[rows],
        )


# What a run lost at a cutoff, by cause, whatever is relevant: text or units.

FLAGS = {"split": "split_by_chunker", "truncated": "truncated_by_embedder", "cut_off": "cut_off_by_budget"}
"""Remarks on what was lost, by their names in `Losses`: what JSON calls them."""


@dataclass(frozen=True, eq=False)
class Bound:
    """The best recall that is possible.

    Attributes:
        recall: No ranking has more; shape (questions,), in [0, 1].
        exact: Of which questions a ranking has as much; of the others it is an upper bound; shape (questions,).
    """

    recall: Numbers
    exact: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses per question, as shares of its relevant text; arrays of shape (questions,), in [0, 1].

    Attributes:
        recall: What was found: the recall of the run.
        lost: What each cause lost. Together with `recall` it is 1.
        asked: Of which questions a deep ranking is known, which goes on as that of the run; of the others nothing is
            `not_retrieved`, as what is in no ranking is `not_asked_for`.
        best_rank: The first rank of the ranking, from 1, with which more would be had than was read; 0 where none is
            known.
        without_reranker: The recall of the ranking before the reranker, however few of it were given to the reranker;
            NaN where no deep ranking is known, None if there is no reranker.
        split: What of `lost` belongs to answers that are in chunks, none of which holds them whole. 0 for units.
        truncated: What of `lost` is in chunks, but behind what the embedder reads of them. 0 for units.
        cut_off: What of `lost` is in chunks, but behind what the budget reads of them, were they the first result, so
            that no order brings it. 0 for units, and for a number of results.
        unexplained: What each cause lost of what is neither split, truncated nor cut off.
        chunking: The best recall for these chunks at this cutoff; None if the chunks are not known.
        candidates: The best recall for the candidates of the run's reranker or, without one, for the deepest ranking.
    """

    recall: Numbers
    lost: Mapping[Cause, Numbers]
    asked: NDArray[np.bool_]
    best_rank: Integers
    without_reranker: Numbers | None
    split: Numbers
    truncated: Numbers
    cut_off: Numbers
    unexplained: Mapping[Cause, Numbers]
    chunking: Bound | None
    candidates: Bound


# Where relevant documents or chunks were lost, by cause.
#
# Every step between the corpus and the cutoff is a set of units, and has all that the steps after it have. A step is
# worth the relevant units that it accounts for: those that it has, and those for which it has another place of every
# answer that needs them.


def unit_losses(evidence: Evidence, level: Level[Any]) -> Losses:
    """Divide the units that were missing at the cutoff, at document and chunk level; every question has an answer.

    Every relevant chunk counts as in the corpus, as it may be of any document; so does every document, if the run knew
    none: its pipeline has an index of its own.
    """
    known = evidence
    documents = {document.id for document in known.corpus} if level is DOCUMENT else None
    in_chunks: set[str] | None = None
    if known.chunks is not None:
        in_chunks = {unit for chunk in known.chunks if (unit := level.read(Hit.of(chunk))) is not None}
    final = known.cut(known.final)
    given = final if known.first is None else known.cut(known.first)
    every = (final, given, known.cut(known.deep), known.deep, known.candidates, known.final)
    count = len(known.truth)
    had = np.zeros((len(STEPS), count))
    unreranked, reachable = np.zeros(count), np.zeros((2, count))
    ranks = np.zeros(count, dtype=np.int64)
    for row, entry in enumerate(known.truth):
        inside = _there(entry.labels, documents, level) if documents else {*entry.labels}
        listed = inside if in_chunks is None else _there(entry.labels, in_chunks, level)
        read, some, bare, deep, first, ranked = (units_of(entry, level, hits[row]) for hits in every)
        steps = [inside, listed, deep, first | ranked, some, read, read]
        had[:, row] = [accounted(entry, set[str]().union(*steps[number:])) for number in range(len(STEPS))]
        unreranked[row] = accounted(entry, bare)
        ranks[row] = best_rank(entry, level, known.deep[row] if known.first is None else known.final[row], read)
        reachable[:, row] = [accounted(entry, listed), accounted(entry, first | read)]
    whole = np.array([len(entry.relevant) for entry in known.truth], dtype=np.float64)
    lost, nothing = divided([*had], whole, known.asked), np.zeros(count)
    return Losses(
        recall=had[-1] / whole,
        lost=lost,
        asked=known.asked,
        best_rank=ranks,
        without_reranker=None if known.first is None else np.where(known.asked, unreranked / whole, np.nan),
        split=nothing,
        truncated=nothing,
        cut_off=nothing,
        unexplained=lost,
        chunking=None if in_chunks is None else _bound(known, reachable[0], whole),
        candidates=_bound(known, reachable[1], whole),
    )


def _there(units: Iterable[Any], known: Set[str], level: Level[Any]) -> set[str]:
    """Return which units are known; a document that ends in `*` is if it is the beginning of one that is."""
    prefixes = {unit for unit in units if level is DOCUMENT and unit.endswith("*")}
    begun = {prefix for prefix in prefixes if any(name.startswith(prefix[:-1]) for name in known)}
    return {unit for unit in units if unit in known} | begun


def units_of(entry: GroundTruth[Any], level: Level[Any], ranking: Ranking) -> set[str]:
    """Return the units of a ranking, under the names by which they are relevant."""
    return {*entry.as_labelled(level.units(ranking))}


def best_rank(entry: GroundTruth[Any], level: Level[Any], ranking: Ranking, read: Set[str]) -> int:
    """Return the first rank, from 1, with which a ranking accounts for more units than those read; 0 if none does."""
    had, units, labels = accounted(entry, read), {*read}, {*entry.labels}
    for rank, hit in enumerate(ranking, start=1):
        unit = level.read(hit)
        new: set[Any] = {*entry.as_labelled([] if unit is None else [unit])} - units
        units |= new
        if new & labels and accounted(entry, units) > had:
            return rank
    return 0


def accounted(entry: GroundTruth[Any], units: Set[str]) -> int:
    """Return how many relevant units a set has, or has another place for of every answer that needs them."""
    if not entry.has_alternatives:
        return sum(unit in units for unit in entry.relevant)
    replaced = [({*one.reference}, any({*place} <= units for place in one.places[1:])) for one in entry.answers]
    return sum(unit in units or all(found for needed, found in replaced if unit in needed) for unit in entry.relevant)


def _bound(evidence: Evidence, reachable: Numbers, whole: Numbers) -> Bound:
    """Return the best recall: as many units as can be reached and, of k results, no more than k.

    At a budget it is an upper bound, as it is where an answer has several places, which may be of several units.
    """
    cutoff = evidence.cutoff
    if cutoff.is_budget:
        return Bound(reachable / whole, reachable == 0)
    single = np.array([not entry.has_alternatives for entry in evidence.truth], dtype=np.bool_)
    best = np.where(single, np.minimum(reachable, cutoff.size), reachable)
    return Bound(best / whole, np.asarray(single | (reachable == 0), dtype=np.bool_))


# Where relevant text was lost, by cause, and the best recall that was possible at each step.

# The steps between the documents and the cutoff, as the relevant characters that each of them has, in columns.

_COLUMNS = ("query", "document", "start", "end", "rank")


@dataclass(frozen=True, eq=False)
class SpanSteps:
    """Relevant text that is left after each step of the pipeline.

    Rows of `SpanColumns` are what a step has, in no order: every rank is 0.

    Attributes:
        evidence: What was retrieved, and what could have been.
        documents: The numbers of the documents.
    """

    evidence: Evidence
    documents: Numbering = field(default_factory=Numbering)

    @cached_property
    def truth(self) -> SpanTruth:
        """Relevant spans."""
        return SpanTruth.of_entries(self.evidence.truth, self.documents)

    @cached_property
    def places(self) -> SpanColumns:
        """The spans of all places of all answers, in order."""
        return SpanColumns.of([entry.labels for entry in self.evidence.truth], self.documents)

    @cached_property
    def whole(self) -> Numbers:
        """Relevant characters per question; shape (questions,)."""
        return self._judged(self.of_spans([])).truth.astype(np.float64)

    @cached_property
    def read(self) -> SpanColumns:
        """Text that was read at the cutoff."""
        return self.placed(self.evidence.cut(self.evidence.final))

    @cached_property
    def all(self) -> list[SpanColumns]:
        """Relevant text after each step, from the corpus to what was read; each step includes the later ones."""
        known = self.evidence
        final = known.cut(known.final)
        given = final if known.first is None else known.cut(known.first)
        inside = self._inside_documents()
        own = [
            [inside],
            [inside] if known.chunks is None else [self.held(self.chunk_spans), self._in_unplaced_chunks()],
            [self.placed(known.deep), self._as_text(known.deep)],
            [rows(hits) for hits in (known.candidates, known.final) for rows in (self.placed, self._as_text)],
            [self.placed(given), self._as_text(given)],
            [self._as_text(final)],
            [self.read],
        ]
        return [joined(rows for some in own[number:] for rows in some) for number in range(len(own))]

    @cached_property
    def chunk_spans(self) -> list[CharacterSpan]:
        """The chunks that have a place."""
        placed = (chunk for chunk in self.evidence.chunks or () if isinstance(chunk, PositionAwareChunk))
        return [CharacterSpan(chunk.doc_id, chunk.start, chunk.end) for chunk in placed]

    def credit(self, *rows: SpanColumns) -> Numbers:
        """Return how many characters of the first places these rows account for together; shape (questions,)."""
        return self._judged(joined(rows)).credit_chars.astype(np.float64)

    def held(self, spans: Sequence[CharacterSpan]) -> SpanColumns:
        """Return what spans of the corpus hold of the places of answers, whichever of the spans it is."""
        row, shared, base = self._shared(spans)
        query, document = self.places.query[row], self.places.document[row]
        return SpanColumns(query, document, shared.starts - base, shared.ends - base, np.zeros_like(row))

    def whole_in_chunks(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which spans of places chunks hold together, and which one chunk holds; shape (spans,) each."""
        row, shared, _ = self._shared(self.chunk_spans)
        places, chunks = self.places, SpanColumns.of([self.chunk_spans], self.documents)
        lengths = places.end - places.start
        covered = np.bincount(row, weights=shared.lengths, minlength=len(lengths)) == lengths
        width = 1 + max(int(chunks.end.max(initial=0)), int(places.end.max(initial=0)))
        starts = chunks.document * width + chunks.start
        order = np.argsort(starts, kind="stable")
        # Of the chunks that start before a span, or with it, the one that reaches farthest.
        farthest = np.maximum.accumulate((chunks.document * width + chunks.end)[order]) if len(order) else starts
        before = np.searchsorted(starts[order], places.document * width + places.start, side="right") - 1
        reached = farthest[before] if len(order) else np.zeros_like(before)
        return covered, (before >= 0) & (reached >= places.document * width + places.end)

    def best_ranks(self) -> Integers:
        """Return the first rank, from 1, with which more is had than was read; 0 where there is none.

        It is that of the ranking of the run, which the deep one continues if there is no reranker.
        """
        known = self.evidence
        ranking = known.deep if known.first is None else known.final
        hits = SpanColumns.of_hits(ranking, self.documents).take(ranking.flat.placed)
        useful = hits.take(self.sharing(hits))
        rows = joined([self.read, replace(useful, rank=useful.rank + 1)])  # what was read comes before all ranks
        depth = int(rows.rank.max(initial=0)) + 1
        credit = SpanJudgements.from_columns(rows, self.truth, len(known.truth), depth).credit
        more = credit > credit[:, :1] + NEARLY
        ranks: Integers = np.where(more.any(axis=1), more.argmax(axis=1), 0)
        return ranks

    def _judged(self, rows: SpanColumns) -> SpanJudgements:
        return SpanJudgements.from_columns(rows, self.truth, len(self.evidence.truth), depth=1)

    def _shared(self, spans: Sequence[CharacterSpan]) -> tuple[Integers, Stretches, Integers]:
        """Return what spans of the corpus share with places, each character once: the row of the place, and where.

        The third is where the document of the place begins on the line on which that is.
        """
        places, named = self.places, self.documents.keys()
        columns = SpanColumns.of([[span for span in spans if span.doc_id in named]], self.documents)
        line = Line.of(columns, replace(places, query=np.zeros_like(places.query)), depth=1)
        shared = Shared.of(line.pieces, line.relevant)
        return shared.stretch, shared, (line.relevant.starts - places.start)[shared.stretch]

    def placed(self, hits: RankedHits) -> SpanColumns:
        """Return the places of hits that share text with a place of an answer to their question."""
        rows = SpanColumns.of_hits(hits, self.documents).take(hits.flat.placed)
        useful = rows.take(self.sharing(rows))
        return replace(useful, rank=np.zeros_like(useful.rank))

    def sharing(self, rows: SpanColumns) -> NDArray[np.bool_]:
        """Return which spans share text with a place of an answer to their question; shape (rows,)."""
        solid = np.flatnonzero(rows.end > rows.start)
        line = Line.of(rows, self.places, depth=1)
        merged = Merged.of(line.relevant)
        pieces = Pieces(merged.starts, merged.ends, np.zeros_like(merged.starts))
        shared = Shared.of(pieces, line.hits)
        found: NDArray[np.bool_] = np.zeros(len(rows.query), dtype=np.bool_)
        found[solid[shared.stretch[shared.lengths > 0]]] = True
        return found

    def _inside_documents(self) -> SpanColumns:
        """Return the places as far as the corpus has them."""
        places, corpus = self.places, self.evidence.corpus
        lengths = [len(corpus[name].content) if name in corpus else 0 for name in self.documents]
        last = np.array([*lengths, 0], dtype=np.int64)[places.document]
        start = np.minimum(places.start, last)
        return replace(places, start=start, end=np.minimum(places.end, last), rank=np.zeros_like(places.rank))

    def _in_unplaced_chunks(self) -> SpanColumns:
        """Return the spans whose normal form is in that of a chunk of their document that has no place."""
        bare = (chunk for chunk in self.evidence.chunks or () if not isinstance(chunk, PositionAwareChunk))
        texts = grouped((chunk.doc_id, normal_form(chunk.content)) for chunk in bare)
        return self._in_texts(lambda _, span: texts.get(span.doc_id, ())) if texts else self.of_spans([])

    def _as_text(self, hits: RankedHits) -> SpanColumns:
        """Return the spans whose normal form is in that of a hit that has no place."""
        flat = hits.flat
        bare = np.flatnonzero(~flat.placed & flat.text.known)
        found = zip(hits.query[bare].tolist(), flat.take(bare).text.read(slice(None)), strict=True)
        texts = grouped((query, normal_form(text or "")) for query, text in found)
        return self._in_texts(lambda row, _: texts.get(row, ())) if texts else self.of_spans([])

    def _in_texts(self, texts: Callable[[int, CharacterSpan], Sequence[str]]) -> SpanColumns:
        """Return the spans of places that are in one of the normal forms that belong to the question and the span."""
        found = [
            (row, span)
            for row, entry in enumerate(self.evidence.truth)
            for span in entry.labels
            if (within := texts(row, span)) and (quote := self._quoted(span)) and any(quote in text for text in within)
        ]
        return self.of_spans(found)

    def _quoted(self, span: CharacterSpan) -> str:
        """Return the normal form of a span."""
        corpus = self.evidence.corpus
        known = span.text or span.doc_id not in corpus
        return normal_form(span.text if known else corpus[span.doc_id].content[span.start : span.end])

    def of_spans(self, found: Sequence[tuple[int, CharacterSpan]]) -> SpanColumns:
        """Return spans, each with the number of its question, ascending."""
        columns = SpanColumns.of([[span for _, span in found]], self.documents)
        query = np.array([row for row, _ in found], dtype=np.int64)
        return replace(columns, query=query, rank=np.zeros_like(query))


@lru_cache(maxsize=4096)
def normal_form(text: str) -> str:
    """Return the letters, numbers and combining marks of a text, as quotes are compared with documents."""
    return "".join(map(key, text))


def joined(rows: Iterable[SpanColumns]) -> SpanColumns:
    """Return the rows of all, by query."""
    listed = [*rows]
    columns = {name: np.concatenate([getattr(some, name) for some in listed]) for name in _COLUMNS}
    order = np.argsort(columns["query"], kind="stable")
    return SpanColumns(**{name: column[order] for name, column in columns.items()})


# The results that hold relevant text: of all chunks, or of a ranking; and what a budget can read of each.


def useful_chunks(steps: SpanSteps) -> RankedHits | None:
    """Return the chunks that hold text of a place of each question, in no order; None if chunks are not known."""
    known = steps.evidence
    if known.chunks is None:
        return None
    query, row = sharing(SpanColumns.of([steps.chunk_spans], steps.documents), steps.places.covering())
    used, number = np.unique(row, return_inverse=True)
    placed = [hit for hit in map(Hit.of, known.chunks) if hit.placed]
    rows: list[int] = used.tolist()
    table = RankedHits.of([tuple(placed[row] for row in rows)]).flat
    return by_query(table.take(number), query, len(known.truth))


def useful_hits(steps: SpanSteps, ranked: RankedHits) -> RankedHits:
    """Return the results of each ranking that hold text of a place of its question, in their order."""
    table = ranked.flat
    items = SpanColumns.of_hits(ranked, steps.documents).take(table.placed)
    useful = steps.sharing(items)
    return by_query(table.take(np.flatnonzero(table.placed)[useful]), items.query[useful], len(ranked))


def by_query(table: HitTable, query: Integers, count: int) -> RankedHits:
    """Return hits, whose numbers of queries ascend, as one ranking per query."""
    counts = np.bincount(query, minlength=count)
    ends = np.cumsum(counts)
    return RankedHits(table, ends - counts, ends)


def readable(budget: ContextBudget, table: HitTable) -> RankedHits:
    """Return each hit as a ranking of its own, cut where the budget ends: no order of results has it read further."""
    rows = np.arange(len(table))
    return budget.buy(RankedHits(table, rows, rows + 1)).hits


def cut_off(steps: SpanSteps) -> list[CharacterSpan]:
    """Return what is in chunks, but behind what the budget reads of each of them, were it the first result.

    Where chunks are not known, it is told of what was retrieved. For a number of results it is empty.
    """
    known = steps.evidence
    if known.budget is None:
        return []
    chunks = useful_chunks(steps)
    results = [useful_hits(steps, known.deep), useful_hits(steps, known.final)] if chunks is None else [chunks]
    tables = [hits.flat for hits in results]
    whole = [hit.span for table in tables for hit in table if hit.span is not None]
    read = [hit.span for table in tables for hit in readable(known.budget, table).flat if hit.span is not None]
    return uncovered(whole, read)


# The best recall of text that is possible: for these chunks, or for these candidates, at a cutoff.


def _best(steps: SpanSteps, useful: RankedHits) -> Bound:
    """Return the best recall that a choice of results reaches.

    Of a result that is longer than the budget, only its beginning counts: it is never read further. Where all results
    that hold text of an answer fit, it is what they hold together. Else it is bounded by the sum of the best parts: of
    k results by the k largest, which is exact if they share no text; of a budget by the linear relaxation of the
    knapsack (Dantzig 1957) and, as the last result is cut, the largest part once more. Where answers have several
    places, parts do not add up, and the bound is what all of them hold.

    Args:
        steps: The truth.
        useful: The results of each question that hold text of one of its places.
    """
    known, questions = steps.evidence, len(steps.evidence.truth)
    cutoff, budget = known.cutoff, known.budget
    costs = np.ones(len(useful.query), dtype=np.int64)
    if budget is not None:
        alone = readable(budget, useful.flat)
        costs = np.minimum(budget.costs(useful.flat), cutoff.size)[alone.query]
        useful = by_query(alone.flat, useful.query[alone.query], questions)
    items = SpanColumns.of_hits(useful, steps.documents)
    holds = steps.sharing(items)
    items, costs = replace(items, rank=np.zeros_like(items.rank)).take(holds), costs[holds]
    together = steps.credit(items)
    fits = np.bincount(items.query, weights=costs, minlength=questions) <= cutoff.size
    single = np.array([not entry.has_alternatives for entry in known.truth], dtype=np.bool_)
    parts = relevant_parts(items, steps.truth.reference)
    bound = largest_sums(items.query, parts, costs, cutoff, questions)
    apart = np.isclose(np.bincount(items.query, weights=parts, minlength=questions), together)
    best = np.where(fits | ~single, together, np.minimum(bound, together))
    exact = fits | (single & apart & (not cutoff.is_budget))
    return Bound(np.minimum(best / steps.whole, 1.0), np.asarray(exact, dtype=np.bool_))


# Where relevant text was lost, by cause, in columns.
#
# Every step between the documents and the cutoff is a set of characters, and has all that the steps after it have: the
# corpus, its chunks, what was retrieved, the candidates of the reranker (without one: all that was retrieved), what
# would have been read of them in their first order, what was read as text, and what was read. What a step is worth is
# what recall counts of it: the credit of its characters. So the other places of an answer count as far as they do in
# the score, and the differences between steps add up to what is missing of the first places.


def span_losses(evidence: Evidence) -> Losses:
    """Divide the characters that were missing at the cutoff, at token level; every question has an answer."""
    steps = SpanSteps(evidence)
    whole, had = steps.whole, [steps.credit(rows) for rows in steps.all]
    split, unread, behind = split_answers(steps), steps.held(evidence.unread), steps.held(cut_off(steps))
    repaired = [steps.credit(rows, split, unread, behind) for rows in steps.all]
    bare, chunks = steps.credit(steps.placed(evidence.cut(evidence.deep))), useful_chunks(steps)

    def gained(rows: SpanColumns) -> Numbers:
        return np.maximum(steps.credit(steps.read, rows) - had[-1], 0.0) / whole

    return Losses(
        recall=had[-1] / whole,
        lost=divided(had, whole, evidence.asked),
        asked=evidence.asked,
        best_rank=steps.best_ranks(),
        without_reranker=None if evidence.first is None else np.where(evidence.asked, bare / whole, np.nan),
        split=gained(split),
        truncated=gained(unread),
        cut_off=gained(behind),
        unexplained=divided(repaired, whole, evidence.asked),
        chunking=None if chunks is None else _best(steps, chunks),
        candidates=_best(steps, useful_hits(steps, evidence.candidates)),
    )


def split_answers(steps: SpanSteps) -> SpanColumns:
    """Return the first places of answers that chunks hold, but none of them whole.

    An answer of which one place is whole in chunks, each of its spans in one of them, is not split.
    """
    if steps.evidence.chunks is None:
        return steps.of_spans([])
    covered, whole = steps.whole_in_chunks()
    split: list[tuple[int, CharacterSpan]] = []
    begin = 0
    for row, entry in enumerate(steps.evidence.truth):
        for answer in entry.answers:
            bounds = np.cumsum([begin, *map(len, answer.places)]).tolist()
            places = [slice(first, last) for first, last in pairwise(bounds)]
            begin = bounds[-1]
            if covered[places[0]].all() and not any(whole[place].all() for place in places):
                split += [(row, span) for span in answer.reference]
    return steps.of_spans(split)
