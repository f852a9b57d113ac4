"""Span judgements: the characters that are found up to each rank, and what the best results would hold."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import CharacterSpan, Cutoff, GroundTruth
from ...data.columns import Integers, Numbering, Numbers
from ...data.hits import RankedHits
from .ranks import totals
from .stretches import (
    Line,
    Merged,
    Pieces,
    Shared,
    SpanColumns,
    SpanPlaces,
    SpanTruth,
    Stretches,
    credit,
    credited,
    leads,
    per_cell,
    placed,
    said_by,
    spread,
)

# Span judgements: the characters that are found up to each rank, from which all span metrics are computed.
#
# The spans of all queries are compared in one pass over flat arrays. Text that several results of one query cover
# belongs to the first of them, so that each character counts once. Time O(n log n) in the number of spans n, and in the
# number of pieces into which overlapping results are cut.

_BLOCK = 8192  # cells that are judged at a time
_ROOM = 1 << 19  # characters times spans: what is judged fits into the processor's cache


@dataclass(frozen=True, eq=False)
class TrailJudgements:
    """The relevant characters within each budget of 1, 2, 3, … up to the one at which rankings are cut, summed.

    A character that is read where 10 are left of the budget is within 10 of these budgets.

    Attributes:
        earned: The sum of the ranking; shape (queries,).
        ideal: The same of reading the truth first; shape (queries,).
    """

    earned: Integers | Numbers
    ideal: Integers | Numbers


@dataclass(frozen=True, eq=False)
class SpanJudgements:
    """The characters that are found up to each rank; arrays of shape (queries, depth), depth >= 1, except `truth`.

    Where every answer has one place, `credit`, `relevant` and `once` are the same: |T ∩ R|, the relevant characters
    that were retrieved.

    Attributes:
        credit: Characters of the truth that are accounted for: retrieved, in a copy, or as a share of another wording.
        relevant: Retrieved characters that are in any place of an answer, each once.
        once: Those of them that say something new: of copies, one.
        retrieved: Retrieved characters, each once, relevant or not.
        length: Retrieved characters, repeated ones counted again.
        truth: Relevant characters of the query, each once, of the first place of every answer; shape (queries,).
        oracle: The judgements of a perfect retriever, which returns for each query the chunks of the corpus that share
            text with its truth and no others; only metrics that need all chunks read them. The same at every depth.
        trail: What was read within each smaller budget; at budgets, if a metric needs it.
    """

    credit: Integers | Numbers
    relevant: Integers
    once: Integers
    retrieved: Integers
    length: Integers
    truth: Integers
    oracle: "SpanJudgements | None" = None
    trail: TrailJudgements | None = None

    @classmethod
    def from_columns(cls, retrieved: SpanColumns, truth: SpanTruth, queries: int, depth: int) -> "SpanJudgements":
        """Judge rankings that are given as columns.

        Args:
            retrieved: The retrieved spans; ranks below `depth`.
            truth: The relevant spans.
            queries: The number of queries; rankings and truth of some may be empty.
            depth: The number of ranks.

        Returns:
            The judgements; where a ranking is shorter than `depth`, those of its last rank.
        """
        judged = _judge_in_blocks(
            queries, depth, lambda first, last: (retrieved.between(first, last), truth.reference.between(first, last))
        )
        return judged if truth.alternatives is None else _with_alternatives(judged, retrieved, truth.alternatives)

    @classmethod
    def from_lists(
        cls, retrieved: Sequence[Sequence[CharacterSpan]], truth: Sequence[Sequence[CharacterSpan]]
    ) -> "SpanJudgements":
        """Judge rankings of span objects: one list of retrieved and one of relevant spans per query."""
        documents = Numbering()

        def columns(first: int, last: int) -> tuple[SpanColumns, SpanColumns]:
            return SpanColumns.of(retrieved[first:last], documents), SpanColumns.of(truth[first:last], documents)

        return _judge_in_blocks(len(retrieved), max(map(len, retrieved), default=0), columns)

    @classmethod
    def from_hits(
        cls, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[CharacterSpan]]
    ) -> "list[SpanJudgements]":
        """Judge the rankings of hits at several cutoffs, at each of them one per query, by the ground truth of each."""
        documents = Numbering()
        relevant = SpanTruth.of_entries(truth, documents)
        return [
            cls.from_columns(SpanColumns.of_hits(hits, documents), relevant, len(hits), int(hits.counts.max(initial=0)))
            for hits in cuts
        ]

    @cached_property
    def credit_chars(self) -> Integers | Numbers:
        """Characters of the truth that are accounted for, a; |T ∩ R| without alternatives; shape (queries,)."""
        return self.credit[:, -1]

    @cached_property
    def relevant_chars(self) -> Integers:
        """Retrieved characters that are in any place of an answer, each once; shape (queries,)."""
        return self.relevant[:, -1]

    @cached_property
    def once_chars(self) -> Integers:
        """Characters without those of copies that were already read; shape (queries,)."""
        return self.once[:, -1]

    @cached_property
    def retrieved_chars(self) -> Integers:
        """Retrieved characters, each once: |R|; shape (queries,)."""
        return self.retrieved[:, -1]

    @cached_property
    def retrieved_chars_raw(self) -> Integers:
        """Summed lengths of the results: Σ |r|; shape (queries,)."""
        return self.length[:, -1]

    @property
    def first_relevant(self) -> Numbers:
        """The rank of the first result that shares text with an answer, from 1; NaN if none does; shape (queries,)."""
        found = self.relevant > 0
        return np.where(found.any(axis=1), 1.0 + found.argmax(axis=1), np.nan)

    @property
    def surplus(self) -> Integers | Numbers:
        """Retrieved text that is in no place, in units of the truth: (|R| - relevant) · a / relevant; shape (queries,).

        Where a place is longer than the reference, what is retrieved beside it weighs as much less. All of |R| where
        nothing is relevant.
        """
        return self._beside(self.relevant_chars, self.retrieved_chars)

    @property
    def surplus_raw(self) -> Integers | Numbers:
        """The same of Σ |r|, repeated text and further copies included; shape (queries,)."""
        return self._beside(self.once_chars, self.retrieved_chars_raw)

    def _beside(self, useful: Integers, retrieved: Integers) -> Integers | Numbers:
        weight = np.divide(self.credit_chars, useful, out=np.ones(len(useful)), where=useful > 0)
        return (retrieved - useful) * weight

    def at(self, depth: int) -> "SpanJudgements":
        """Return the judgements of the first `depth` ranks only, at least 1."""
        tables = ("credit", "relevant", "once", "retrieved", "length")
        cut: dict[str, Any] = {name: getattr(self, name)[:, :depth] for name in tables}
        return replace(self, **cut, trail=None)


def _with_alternatives(judged: SpanJudgements, retrieved: SpanColumns, places: SpanPlaces) -> SpanJudgements:
    """Return judgements with those of the queries with alternatives in their place."""
    queries, depth = judged.relevant.shape
    whole = judged.relevant.astype(np.float64), judged.relevant.copy(), judged.relevant.copy()
    for first, last in blocks(queries, depth):
        some = places.between(first, last)
        if len(some.answer):
            query, *found = credited(retrieved.between(first, last), some, depth)
            for table, rows in zip(whole, found, strict=True):
                table[first + query] = rows
    return replace(judged, credit=whole[0], relevant=whole[1], once=whole[2])


def _judge_in_blocks(
    queries: int, depth: int, columns: Callable[[int, int], tuple[SpanColumns, SpanColumns]]
) -> SpanJudgements:
    """Judge as many queries at a time as fit into the processor's cache; every answer has one place."""
    depth = max(depth, 1)  # of rankings without results, the last rank has nothing
    found, unique, length = (np.zeros((queries, depth), dtype=np.int64) for _ in range(3))
    relevant = np.zeros(queries, dtype=np.int64)
    for first, last in blocks(queries, depth):
        rows = slice(first, last)
        found[rows], unique[rows], length[rows], relevant[rows] = _judge_block(
            *columns(first, last), last - first, depth
        )
    return SpanJudgements(found, found, found, unique, length, relevant)


def blocks(queries: int, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the first query of each block that is judged at once, and the first of the next one."""
    step = max(1, _BLOCK // max(depth, 1))
    return ((first, min(first + step, queries)) for first in range(0, queries, step))


def _judge_block(
    retrieved: SpanColumns, truth: SpanColumns, queries: int, depth: int
) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the relevant characters retrieved up to each rank, all retrieved, their summed lengths, and the truth."""
    truth = truth.covering()
    line = Line.of(retrieved, truth, depth)
    merged = Merged.of(line.relevant)

    def table(cells: Integers, stretches: Stretches) -> Integers:
        # Sums of integers below 2^53 are exact in double precision.
        sums = np.bincount(cells, weights=stretches.lengths, minlength=queries * depth)
        return sums.astype(np.int64).reshape(queries, depth).cumsum(axis=1)

    found = per_cell(line.pieces, merged, queries * depth).reshape(queries, depth).cumsum(axis=1)
    lengths = np.bincount(truth.query[merged.rows], weights=merged.lengths, minlength=queries).astype(np.int64)
    return found, table(line.pieces.cells, line.pieces), table(line.cells, line.hits), lengths


# Ceilings: how much relevant text the best results of a ranking hold, whatever their order.


def relevant_parts(items: SpanColumns, reference: SpanColumns) -> Numbers:
    """Return how many relevant characters each result holds, each once; shape (results,).

    Args:
        items: The results, by query.
        reference: What is relevant: the first places of all answers.
    """
    solid = items.end > items.start
    line = Line.of(items, reference, depth=1)
    merged = Merged.of(line.relevant)
    shared = Shared.of(Pieces(merged.starts, merged.ends, np.zeros_like(merged.starts)), line.hits)
    parts = np.zeros(len(items.query))
    parts[solid] = np.bincount(shared.stretch, weights=shared.lengths, minlength=int(solid.sum()))
    return parts


def largest_sums(query: Integers, parts: Numbers, costs: Integers, cutoff: Cutoff, questions: int) -> Numbers:
    """Return the most that parts of each question add up to within the cutoff; shape (questions,).

    Of k results these are the k largest parts, of a budget the linear relaxation of the knapsack (Dantzig, Operations
    Research 5 (1957), 266) and, as the last result may be cut, the largest part once more. Text that two results share
    counts twice, so that it is an upper bound.

    Args:
        query: The number of the question of each part; shape (parts,).
        parts: What each result holds.
        costs: What it costs, in the unit of the cutoff: 1 of a number of results.
        cutoff: The cutoff.
        questions: How many questions there are.
    """
    worth = parts / np.maximum(costs, 1)
    order = np.lexsort((-worth, query))
    query, parts, costs = query[order], parts[order], costs[order]
    spent = np.cumsum(costs) - costs
    first = np.searchsorted(query, query)
    left = cutoff.size - (spent - spent[first])
    taken = np.clip(left / np.maximum(costs, 1), 0, 1)
    largest = np.zeros(questions)
    if cutoff.is_budget and not cutoff.whole:
        np.maximum.at(largest, query, parts)
    most = largest + np.bincount(query, weights=parts * taken, minlength=questions)
    return np.minimum(most, cutoff.size) if cutoff.unit == "ch" else most  # a relevant character is one of the budget


# Oracle judgements: a perfect retriever, which returns the chunks that share text with the truth and no others.


def oracle_from_lists(chunks: Sequence[CharacterSpan], truth: Sequence[Sequence[CharacterSpan]]) -> SpanJudgements:
    """Judge, for each query, the chunks that share at least one character with its truth.

    Args:
        chunks: All chunks of the corpus; they may overlap.
        truth: The relevant spans of each query.

    Returns:
        The judgements of retrieving these chunks, all at one rank, as they have no order; depth 1.
    """
    documents = Numbering()
    relevant = SpanTruth(SpanColumns.of(truth, documents))
    return oracle_from_columns(SpanColumns.of([chunks], documents), relevant, queries=len(truth))


def oracle_from_columns(chunks: SpanColumns, truth: SpanTruth, queries: int) -> SpanJudgements:
    """Judge as `oracle_from_lists` does; the query and rank columns of the chunks are ignored.

    Of an answer with several places, the one is chosen of which chunks hold the largest part, then that whose chunks
    have the largest part in any place of the question, then the first. Each answer is chosen by itself.
    """
    sought = judged = truth.reference
    if truth.alternatives is not None:
        places = truth.alternatives
        single = ~np.isin(sought.query, places.spans.query)
        sought = _joined(sought.take(single), places.spans.take(_chosen(chunks, places)))
        judged = _joined(judged.take(single), places.spans)
    oracle = _touching(chunks, sought)
    return SpanJudgements.from_columns(oracle, SpanTruth(judged), queries, depth=1)


def _touching(chunks: SpanColumns, truth: SpanColumns) -> SpanColumns:
    """Return, for each query, the chunks that share characters with its truth, all at one rank."""
    owners, rows = sharing(chunks, truth.covering())
    return SpanColumns(owners, chunks.document[rows], chunks.start[rows], chunks.end[rows], np.zeros_like(owners))


def _joined(first: SpanColumns, second: SpanColumns) -> SpanColumns:
    """Return the rows of both, by query."""
    pairs = ((getattr(first, name), getattr(second, name)) for name in ("query", "document", "start", "end", "rank"))
    query, *others = map(np.concatenate, pairs)
    order = np.argsort(query, kind="stable")
    return SpanColumns(query[order], *(column[order] for column in others))


def _chosen(chunks: SpanColumns, places: SpanPlaces) -> NDArray[np.bool_]:
    """Return which spans belong to the place that is chosen of their answer."""
    is_new = leads(places.answer) | leads(places.place)
    number = np.cumsum(is_new) - 1
    count, first = int(number[-1]) + 1, np.flatnonzero(is_new)
    alone = replace(places.spans, query=number)
    touching = _touching(chunks, alone)
    held = SpanJudgements.from_columns(touching, SpanTruth(alone), count, depth=1)
    begins, ends = (np.searchsorted(places.spans.query, places.spans.query[first], side) for side in ("left", "right"))
    owner, row = spread(ends - begins)  # all spans of its question, for each place
    row += begins[owner]
    beside = replace(places.spans.take(row), query=owner)
    useful = SpanJudgements.from_columns(touching, SpanTruth(beside), count, depth=1)
    part = held.relevant_chars / held.truth
    precision = useful.relevant_chars / np.maximum(useful.retrieved_chars, 1)
    order = np.lexsort((places.place[first], -precision, -part, places.answer[first]))
    best = np.zeros(count, dtype=np.bool_)
    best[order[leads(places.answer[first][order])]] = True
    return np.asarray(best[number], dtype=np.bool_)


def sharing(chunks: SpanColumns, truth: SpanColumns) -> tuple[Integers, Integers]:
    """Return the pairs (query, row of a chunk that shares characters with its truth), each once, as two columns.

    Of two spans that share characters, one starts within the other. Looking up both kinds of pairs takes time in
    proportion to their number, even where chunks are nested. Empty chunks may be among them; they cover nothing.

    In one document, chunks [0:10], [10:20] and [5:12]; query 0 has the truth [8:11], query 1 [12:15]. The pairs are
    ([0, 0, 0, 1], [0, 1, 2, 1]): all three chunks share text with query 0, only the second shares some with query 1,
    as [5:12] merely touches [12:15].
    """
    # Offsets are replaced by their order, so that document and offset fit into one integer.
    offsets = np.unique(np.concatenate([chunks.start, chunks.end, truth.start, truth.end]), return_inverse=True)[1]
    numbers = np.split(offsets, np.cumsum([len(chunks.start), len(chunks.end), len(truth.start)]))
    chunk_documents, truth_documents = chunks.document * len(offsets), truth.document * len(offsets)
    chunk_start, chunk_end = numbers[0] + chunk_documents, numbers[1] + chunk_documents
    truth_start, truth_end = numbers[2] + truth_documents, numbers[3] + truth_documents
    right, chunk = _starting_within(chunk_start, truth_start, truth_end)
    outer, inner = _starting_within(truth_start, chunk_start, chunk_end)
    pairs = np.concatenate([truth.query[right], truth.query[inner]]) * len(chunks.query)
    pairs += np.concatenate([chunk, outer])
    owners, rows = np.divmod(np.unique(pairs), max(len(chunks.query), 1))
    return owners, rows


def _starting_within(starts: Integers, firsts: Integers, lasts: Integers) -> tuple[Integers, Integers]:
    """Return the pairs (stretch, start) with `first <= start < last`, by their rows.

    Of the starts [7, 2, 9], the stretches [0, 5) and [6, 9) hold 2 and 7: ([0, 1], [1, 0]).
    """
    order = np.argsort(starts, kind="stable")
    begin, end = np.searchsorted(starts[order], firsts), np.searchsorted(starts[order], lasts)
    stretch, number = spread(np.maximum(end - begin, 0))
    return stretch, order[begin[stretch] + number]


# Trail judgements: how early a reader with a budget comes upon relevant text, counted character by character.


@dataclass(frozen=True, eq=False)
class Trail:
    """Text that a reader with a budget reads: results in rank order, overlaps again, up to the budget.

    Whole numbers where characters are counted; fractions of tokens, as tokens are spread evenly over the characters of
    a result.

    Attributes:
        budget: The budget, in characters or tokens.
        before: How much is read before the first character of each span; shape (queries, depth).
        rate: What each character of the span costs; shape (queries, depth).
        truth_rate: What each relevant character costs by itself; shape (queries,).
    """

    budget: int
    before: Integers | Numbers
    rate: Integers | Numbers
    truth_rate: Integers | Numbers

    @classmethod
    def in_characters(cls, budget: int, before: Integers) -> "Trail":
        """Return a trail that is counted in characters."""
        ones = np.ones((), dtype=np.int64)
        return cls(budget, before, np.broadcast_to(ones, before.shape), np.broadcast_to(ones, before.shape[:1]))


def judge_trail(retrieved: SpanColumns, truth: SpanTruth, queries: int, trail: Trail) -> TrailJudgements:
    """Judge the trails of many queries.

    Args:
        retrieved: The retrieved spans, already cut at the budget; one per query and rank.
        truth: The relevant spans.
        queries: The number of queries.
        trail: Where each retrieved span is read.
    """
    kind = np.result_type(trail.before, trail.rate, trail.truth_rate, *([] if truth.alternatives is None else [0.0]))
    earned, ideal = np.zeros(queries, dtype=kind), np.zeros(queries, dtype=kind)
    depth = trail.before.shape[1]
    for first, last in blocks(queries, depth):
        rows = slice(first, last)
        found, some = retrieved.between(first, last), truth.between(first, last)
        before, rate = trail.before[rows].ravel(), trail.rate[rows].ravel()
        line = Line.of(found, some.reference.covering(), depth)
        merged = Merged.of(line.relevant)
        read = _Read.of(line, merged, last - first, depth)
        left = trail.budget - before[read.cells] - read.offsets * rate[read.cells]
        np.add.at(earned[rows], read.cells // depth, _earned(left, rate[read.cells], read.lengths))
        lengths = np.bincount(
            some.reference.covering().query[merged.rows], weights=merged.lengths, minlength=last - first
        )
        ideal[rows] = _earned(trail.budget, trail.truth_rate[rows], lengths.astype(np.int64))
        if some.alternatives is not None and depth:
            for begin, end in _small_blocks(some.alternatives, last - first):
                cells = slice(begin * depth, end * depth)
                query, sums = _earned_of_answers(
                    found.between(begin, end),
                    some.alternatives.between(begin, end),
                    trail.budget,
                    before[cells],
                    rate[cells],
                    depth,
                )
                earned[first + begin + query] = sums
    return TrailJudgements(earned, ideal)


@dataclass(frozen=True, eq=False)
class _Read:
    """Stretches of relevant text, each where it is retrieved first, in the order in which they are read.

    Sums of fractions are then the same whatever else is judged.

    Attributes:
        starts: On the line.
        cells: Query · depth + rank.
        offsets: Characters of the retrieved span before the stretch.
        lengths: Characters of the stretch.
    """

    starts: Integers
    cells: Integers
    offsets: Integers
    lengths: Integers

    @classmethod
    def of(cls, line: Line, relevant: Stretches, queries: int, depth: int) -> "_Read":
        shared = Shared.of(line.pieces, relevant)
        cells = line.pieces.cells[shared.piece]
        order = np.lexsort((shared.starts, cells))
        cells, starts = cells[order], shared.starts[order]
        first = np.zeros(queries * depth, dtype=np.int64)
        first[line.cells] = line.hits.starts
        return cls(starts, cells, starts - first[cells], shared.lengths[order])


def _small_blocks(places: SpanPlaces, queries: int) -> Iterator[tuple[int, int]]:
    """Yield the first query of each block whose characters are judged at once, and the first of the next one.

    Each of its queries takes as much room as that with the longest places, times that with the most spans.
    """
    characters = np.bincount(places.spans.query, weights=places.spans.end - places.spans.start, minlength=queries)
    spans = np.bincount(places.spans.query, minlength=queries)
    begin = 0
    while begin < queries:
        longest = np.maximum.accumulate(characters[begin:]) * np.maximum.accumulate(spans[begin:])
        room = longest * np.arange(1, len(longest) + 1)
        end = begin + max(1, int(np.searchsorted(room, _ROOM, side="right")))
        if spans[begin:end].any():
            yield begin, end
        begin = end


def _earned_of_answers(
    retrieved: SpanColumns,
    places: SpanPlaces,
    budget: int,
    before: Integers | Numbers,
    rate: Integers | Numbers,
    depth: int,
) -> tuple[Integers, Numbers]:
    """Return the queries with alternatives and what they earn: what each character that is read adds to the credit.

    Each character is judged as if it were retrieved by itself.
    """
    query, line = placed(retrieved, places, depth)
    read = _Read.of(line, Merged.of(line.relevant), len(query), depth)
    owner, number = spread(read.lengths)
    local, rank = np.divmod(read.cells[owner], depth)
    cells = query[local] * depth + rank
    left = budget - before[cells] - (read.offsets[owner] + number) * rate[cells]
    is_read = left > 0
    owner, number, local, left = owner[is_read], number[is_read], local[is_read], left[is_read]
    if not len(owner):
        return query, np.zeros(len(query))
    position = np.arange(len(local)) - np.searchsorted(local, local)
    steps = int(position.max()) + 1
    starts = read.starts[owner] + number
    order = np.argsort(starts)
    pieces = Pieces(starts[order], starts[order] + 1, (local * steps + position)[order])
    counted = credit(said_by(pieces, line.relevant, places.original), line.relevant, places, steps)
    gains = np.diff(counted, axis=1, prepend=0.0)[local, position]
    return query, totals(local, gains * left, len(query))


def _earned(left: Integers | Numbers | int, rate: Integers | Numbers, lengths: Integers) -> Integers | Numbers:
    """Return what stretches of characters earn: each as much as is left of the budget when it is read, if anything.

    With 10 left, 3 characters at a rate of 1 earn 10 + 9 + 8; with 2 left, 2 + 1.
    """
    left = np.maximum(left, 0)
    within = np.where(rate > 0, -(-left // np.where(rate > 0, rate, 1)), lengths)  # what costs nothing is always read
    read = np.clip(within, 0, lengths)
    earned: Integers | Numbers = read * left - rate * (read * (read - 1) // 2)
    return earned
