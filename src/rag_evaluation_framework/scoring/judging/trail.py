"""Trail judgements: how early a reader with a budget comes upon relevant text, counted character by character."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...data.columns import Integers, Numbers
from .ranks import totals
from .spans import TrailJudgements, blocks
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
    placed,
    said_by,
    spread,
)

_ROOM = 1 << 19  # characters times spans: what is judged fits into the processor's cache


@dataclass(frozen=True, eq=False)
class Trail:
    """What a reader with a budget reads: the results in rank order, overlaps again, up to the budget.

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
