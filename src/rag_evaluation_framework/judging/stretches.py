"""Spans of many queries as columns: stretches on one line of integers, merged, cut into pieces, and compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.data.spans import CharacterSpan

# Spans of many queries as columns.

_DOC_ID, _START, _END = attrgetter("doc_id"), attrgetter("start"), attrgetter("end")


@dataclass(frozen=True, eq=False)
class SpanColumns:
    """Spans of many queries as columns of equal length.

    Attributes:
        query: Number of the query, 0-based, ascending.
        document: Number of the document; retrieved and relevant spans use the same numbers.
        start: First character.
        end: One past the last character.
        rank: Position in the ranking of the query, 0-based; without meaning in ground truth.
    """

    query: Integers
    document: Integers
    start: Integers
    end: Integers
    rank: Integers

    @classmethod
    def of(cls, spans: Sequence[Sequence[CharacterSpan]], documents: Numbering) -> "SpanColumns":
        """Return lists of spans, one per query, as columns; documents that are new are numbered."""
        counts = np.fromiter(map(len, spans), dtype=np.int64, count=len(spans))
        flat = list(chain.from_iterable(spans))
        total = len(flat)
        return cls(
            query=np.repeat(np.arange(len(spans)), counts),
            document=np.fromiter(map(documents.__getitem__, map(_DOC_ID, flat)), dtype=np.int64, count=total),
            start=np.fromiter(map(_START, flat), dtype=np.int64, count=total),
            end=np.fromiter(map(_END, flat), dtype=np.int64, count=total),
            rank=np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts),
        )

    @classmethod
    def of_hits(cls, hits: RankedHits, documents: Numbering) -> "SpanColumns":
        """Return the places of hits as columns. A hit without a place is in a document of its own, with its text."""
        table = hits.flat
        numbers = table.doc_id.numbers(documents.__getitem__)
        return cls(
            query=hits.query,
            document=np.where(table.placed, numbers, len(documents) + hits.rank),
            start=np.where(table.placed, table.start, 0),
            end=np.where(table.placed, table.end, table.text.numbers(len)),
            rank=hits.rank,
        )

    def covering(self) -> "SpanColumns":
        """Return the spans that are not empty."""
        rows = self.end > self.start
        return self if rows.all() else self.take(rows)

    def take(self, rows: NDArray[np.bool_]) -> "SpanColumns":
        """Return the spans where `rows` is true; their ranks stay as they are."""
        return SpanColumns(self.query[rows], self.document[rows], self.start[rows], self.end[rows], self.rank[rows])

    def between(self, first: int, last: int) -> "SpanColumns":
        """Return the spans of the queries `first` to `last - 1`, those queries renumbered from 0."""
        begin, end = np.searchsorted(self.query, [first, last])
        rows = slice(begin, end)
        return SpanColumns(
            self.query[rows] - first, self.document[rows], self.start[rows], self.end[rows], self.rank[rows]
        )


# Stretches of text on one line of integers: merged, cut into pieces, and compared.
#
# Time O(n log n) in the number of stretches n, and in the number of pieces into which overlapping ones are cut.


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches of text on the line, in any order; they may overlap.

    Attributes:
        starts: The first character of each.
        ends: One past the last.
    """

    starts: Integers
    ends: Integers

    @property
    def lengths(self) -> Integers:
        """The number of characters of each."""
        return self.ends - self.starts

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "Stretches":
        """Return some of them."""
        return Stretches(self.starts[rows], self.ends[rows])


@dataclass(frozen=True, eq=False)
class Pieces(Stretches):
    """Disjoint stretches, ascending; each belongs to a cell of the (query, rank) table.

    Attributes:
        cells: Query · depth + rank.
    """

    cells: Integers


@dataclass(frozen=True, eq=False)
class Merged(Stretches):
    """Disjoint stretches, ascending.

    Attributes:
        rows: For each, the row of the input with which it starts.
    """

    rows: NDArray[np.intp]

    @classmethod
    def of(cls, stretches: Stretches) -> "Merged":
        """Merge stretches that overlap or touch.

        Starts [8, 0, 3] and ends [9, 4, 6] become starts [0, 8] and ends [6, 9], from the rows [1, 0].
        """
        order = np.argsort(stretches.starts, kind="stable")
        starts, ends = stretches.starts[order], np.maximum.accumulate(stretches.ends[order])
        opens = np.ones(len(starts), dtype=bool)
        opens[1:] = starts[1:] > ends[:-1]
        closes = np.ones(len(starts), dtype=bool)
        closes[:-1] = opens[1:]
        return cls(starts[opens], ends[closes], order[opens])


@dataclass(frozen=True, eq=False)
class Shared(Stretches):
    """What stretches share with pieces, one entry per pair.

    Attributes:
        stretch: The row of the stretch.
        piece: The row of the piece.
    """

    stretch: Integers
    piece: Integers

    @classmethod
    def of(cls, pieces: Pieces, stretches: Stretches) -> "Shared":
        """Compare every stretch with the pieces.

        Pieces [0, 5) and [5, 9) share [3, 5) and [5, 6) with the stretch [3, 6): pieces [0, 1] of the stretches [0, 0],
        from [3, 5] to [5, 6].
        """
        first = np.searchsorted(pieces.ends, stretches.starts, side="right")
        counts = np.maximum(np.searchsorted(pieces.starts, stretches.ends, side="left") - first, 0)
        stretch, number = spread(counts)
        piece = first[stretch] + number
        starts = np.maximum(pieces.starts[piece], stretches.starts[stretch])
        return cls(starts, np.minimum(pieces.ends[piece], stretches.ends[stretch]), stretch, piece)


@dataclass(frozen=True, eq=False)
class Line:
    """The spans of some queries on one line of integers; those of different queries and documents never meet there.

    Attributes:
        hits: The retrieved spans that are not empty.
        cells: Theirs: query · depth + rank.
        relevant: The relevant spans, in their order.
    """

    hits: Stretches
    cells: Integers
    relevant: Stretches

    @classmethod
    def of(cls, retrieved: SpanColumns, relevant: SpanColumns, depth: int) -> "Line":
        """Return spans on a line.

        Args:
            retrieved: The retrieved spans; ranks below `depth`.
            relevant: The relevant spans.
            depth: The number of ranks.
        """
        retrieved = retrieved.covering()
        groups, relevant_groups, width = _groups(retrieved, relevant)
        groups *= width
        relevant_groups *= width
        return cls(
            Stretches(groups + retrieved.start, groups + retrieved.end),
            retrieved.query * depth + retrieved.rank,
            Stretches(relevant_groups + relevant.start, relevant_groups + relevant.end),
        )

    @cached_property
    def pieces(self) -> Pieces:
        """The retrieved text, each character where it is retrieved first."""
        return first_covered(self.hits, self.cells)


def _groups(retrieved: SpanColumns, relevant: SpanColumns) -> tuple[Integers, Integers, int]:
    """Number the (query, document) pairs, and return the width of the range of integers that each pair gets.

    An offset in a pair is then the integer `number * width + offset`, so that all queries and documents lie on one
    line, and spans of different pairs never meet.
    """
    documents = 1 + max(_largest(retrieved.document), _largest(relevant.document))
    width = 1 + max(_largest(retrieved.end), _largest(relevant.end))
    queries = 1 + max(_largest(retrieved.query), _largest(relevant.query))
    groups = retrieved.query * documents
    groups += retrieved.document
    relevant_groups = relevant.query * documents
    relevant_groups += relevant.document
    if queries * documents * width >= 2**63:
        numbers = np.unique(np.concatenate([groups, relevant_groups]), return_inverse=True)[1]
        groups, relevant_groups = numbers[: len(groups)], numbers[len(groups) :]
    return groups, relevant_groups, width


def _largest(column: Integers) -> int:
    return int(column.max()) if len(column) else 0


def per_cell(pieces: Pieces, stretches: Stretches, cells: int) -> Integers:
    """Return how many characters stretches share with the pieces of each cell; shape (cells,)."""
    shared = Shared.of(pieces, stretches)
    # Sums of integers below 2^53 are exact in double precision.
    return np.bincount(pieces.cells[shared.piece], weights=shared.lengths, minlength=cells).astype(np.int64)


def spread(counts: Integers) -> tuple[Integers, Integers]:
    """Return, for counts (2, 0, 3), the owners (0, 0, 2, 2, 2) and their running numbers (0, 1, 0, 1, 2)."""
    owners = np.repeat(np.arange(len(counts)), counts)
    return owners, np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]


def leads(column: Integers) -> NDArray[np.bool_]:
    """Return which entries of a sorted column differ from the one before."""
    differ = np.ones(len(column), dtype=bool)
    differ[1:] = column[1:] != column[:-1]
    return differ


def cut_at_bounds(stretches: Stretches) -> tuple[Stretches, Integers, Integers]:
    """Cut stretches wherever one of them starts or ends.

    Returns:
        The parts, disjoint and ascending, between all of these bounds; and the pairs of a part and the row of a stretch
        that holds it, by rows. A part that no stretch holds is in no pair.
    """
    bounds = np.sort(np.concatenate([stretches.starts, stretches.ends]))
    bounds = bounds[leads(bounds)]
    first = np.searchsorted(bounds, stretches.starts)
    row, number = spread(np.searchsorted(bounds, stretches.ends) - first)
    return Stretches(bounds[:-1], bounds[1:]), first[row] + number, row


def first_covered(stretches: Stretches, cells: Integers) -> Pieces:
    """Cut overlapping stretches into pieces, and give each piece to the best rank that covers it.

    Of one query, rank 0 (cell 0) retrieved [5, 9), rank 1 (cell 1) [0, 7) and rank 2 (cell 2) [20, 25). They fall into
    starts [0, 5, 7, 20], ends [5, 7, 9, 25] and cells [1, 0, 0, 2]: both cover [5, 7), which counts for rank 0.
    """
    order = np.argsort(stretches.starts, kind="stable")
    starts, ends, cells = stretches.starts[order], stretches.ends[order], cells[order]
    overlapping = np.zeros(len(starts), dtype=bool)
    overlapping[1:] = starts[1:] < np.maximum.accumulate(ends)[:-1]
    if not overlapping.any():
        return Pieces(starts, ends, cells)
    # Only stretches that overlap another one are cut into pieces.
    overlapping[:-1] |= overlapping[1:]
    parts, part, row = cut_at_bounds(Stretches(starts[overlapping], ends[overlapping]))
    # Cells ascend with the rank, so the smallest (part, cell) of a part names the best rank that covers it.
    cell_count = int(cells.max()) + 1
    keys = np.sort(part * cell_count + cells[overlapping][row])
    part, cell = np.divmod(keys, cell_count)
    is_first = leads(part)
    part, cell = part[is_first], cell[is_first]
    alone = ~overlapping
    begins = np.concatenate([starts[alone], parts.starts[part]])
    order = np.argsort(begins, kind="stable")
    return Pieces(
        begins[order],
        np.concatenate([ends[alone], parts.ends[part]])[order],
        np.concatenate([cells[alone], cell])[order],
    )
