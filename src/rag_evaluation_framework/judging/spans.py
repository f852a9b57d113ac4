"""Span judgements: the characters that each rank adds, from which every span metric is computed at every cutoff.

The spans of all queries are compared in one pass over flat arrays. Text that several results of one query cover belongs
to the first of them, so that each character counts once. Time O(n log n) in the number of spans n, and in the number of
pieces into which overlapping results are cut.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.columns import Integers, Numbering, Numbers
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.spans import CharacterSpan

_BLOCK = 8192  # cells that are judged at a time


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
    """The characters that each rank of each query adds; arrays of shape (queries, depth) except `truth`.

    Attributes:
        covered: Relevant characters that this rank is the first to cover.
        retrieved: Characters that this rank is the first to cover, relevant or not.
        length: Characters at this rank, overlaps with earlier ranks counted again.
        truth: Relevant characters of the query, each once; shape (queries,).
        oracle: The judgements of a perfect retriever, which returns for each query the chunks of the corpus that share
            text with its truth and no others; only metrics that need all chunks read them. The same at every depth.
        trail: What was read within each smaller budget; at budgets, if a metric needs it.
    """

    covered: Integers
    retrieved: Integers
    length: Integers
    truth: Integers
    oracle: "SpanJudgements | None" = None
    trail: TrailJudgements | None = None

    @classmethod
    def from_columns(cls, retrieved: SpanColumns, truth: SpanColumns, queries: int, depth: int) -> "SpanJudgements":
        """Judge rankings that are given as columns.

        Args:
            retrieved: The retrieved spans; ranks below `depth`.
            truth: The relevant spans; where they overlap, text counts once.
            queries: The number of queries; rankings and truth of some may be empty.
            depth: The number of ranks.

        Returns:
            The judgements; zeros where a ranking is shorter than `depth`.
        """
        return _judge_in_blocks(
            queries,
            depth,
            lambda first, last: (retrieved.between(first, last), truth.between(first, last)),
        )

    @classmethod
    def from_lists(
        cls, retrieved: Sequence[Sequence[CharacterSpan]], truth: Sequence[Sequence[CharacterSpan]]
    ) -> "SpanJudgements":
        """Judge rankings of span objects: one list of retrieved and one of relevant spans per query."""

        def columns(first: int, last: int) -> tuple[SpanColumns, SpanColumns]:
            documents = Numbering()
            return SpanColumns.of(retrieved[first:last], documents), SpanColumns.of(truth[first:last], documents)

        return _judge_in_blocks(len(retrieved), max(map(len, retrieved), default=0), columns)

    @classmethod
    def from_hits(cls, retrieved: RankedHits, truth: Sequence[Sequence[CharacterSpan]]) -> "SpanJudgements":
        """Judge rankings of hits, one per query, and one list of relevant spans per query."""
        documents = Numbering()
        relevant = SpanColumns.of(truth, documents)
        depth = int(retrieved.counts.max(initial=0))
        return cls.from_columns(SpanColumns.of_hits(retrieved, documents), relevant, len(retrieved), depth)

    @classmethod
    def zeros(cls, queries: int, depth: int) -> "SpanJudgements":
        """Return the judgements of queries for which nothing was retrieved and nothing is relevant."""
        covered, retrieved, length = (np.zeros((queries, depth), dtype=np.int64) for _ in range(3))
        return cls(covered, retrieved, length, np.zeros(queries, dtype=np.int64))

    @cached_property
    def overlap_chars(self) -> Integers:
        """Relevant characters that were retrieved, each once: |T ∩ R|; shape (queries,)."""
        return np.asarray(self.covered.sum(axis=1))

    @cached_property
    def retrieved_chars(self) -> Integers:
        """Retrieved characters, each once: |R|; shape (queries,)."""
        return np.asarray(self.retrieved.sum(axis=1))

    @cached_property
    def retrieved_chars_raw(self) -> Integers:
        """Summed lengths of the results: Σ |r|; shape (queries,)."""
        return np.asarray(self.length.sum(axis=1))

    def at(self, depth: int) -> "SpanJudgements":
        """Return the judgements of the first `depth` ranks only."""
        return SpanJudgements(
            self.covered[:, :depth], self.retrieved[:, :depth], self.length[:, :depth], self.truth, self.oracle
        )


def _judge_in_blocks(
    queries: int, depth: int, columns: Callable[[int, int], tuple[SpanColumns, SpanColumns]]
) -> SpanJudgements:
    """Judge as many queries at a time as fit into the processor's cache."""
    whole = SpanJudgements.zeros(queries, depth)
    for first, last in blocks(queries, depth):
        block = _judge_block(*columns(first, last), last - first, depth)
        whole.covered[first:last], whole.retrieved[first:last] = block.covered, block.retrieved
        whole.length[first:last], whole.truth[first:last] = block.length, block.truth
    return whole


def blocks(queries: int, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the first query of each block that is judged at once, and the first of the next one."""
    step = max(1, _BLOCK // max(depth, 1))
    return ((first, min(first + step, queries)) for first in range(0, queries, step))


@dataclass(frozen=True, eq=False)
class RelevantPieces:
    """Stretches of relevant text, each where it is retrieved first; one entry per stretch, but for `truth`.

    Attributes:
        cells: Query · depth + rank; the stretches of a cell ascend.
        offsets: Characters of the retrieved span before the stretch.
        lengths: Characters of the stretch.
        truth: Relevant characters of each query, each once; shape (queries,).
    """

    cells: Integers
    offsets: Integers
    lengths: Integers
    truth: Integers


def relevant_pieces(retrieved: SpanColumns, truth: SpanColumns, queries: int, depth: int) -> RelevantPieces:
    """Return where relevant text is retrieved first, of rankings with one span per query and rank."""
    line = _Line.of(retrieved, truth, depth)
    shared, starts, ends = _overlaps(line.pieces, line.merged)
    cells = line.pieces.cells[shared]
    first = np.zeros(queries * depth, dtype=np.int64)
    first[line.cells] = line.starts
    return RelevantPieces(cells, starts - first[cells], ends - starts, line.relevant(queries))


def _judge_block(retrieved: SpanColumns, truth: SpanColumns, queries: int, depth: int) -> SpanJudgements:
    line = _Line.of(retrieved, truth, depth)
    shared, starts, ends = _overlaps(line.pieces, line.merged)

    def per_cell(cells: Integers, characters: Integers) -> Integers:
        # Sums of integers below 2^53 are exact in double precision.
        sums = np.bincount(cells, weights=characters, minlength=queries * depth)
        return sums.astype(np.int64).reshape(queries, depth)

    return SpanJudgements(
        covered=per_cell(line.pieces.cells[shared], ends - starts),
        retrieved=per_cell(line.pieces.cells, line.pieces.ends - line.pieces.starts),
        length=per_cell(line.cells, line.ends - line.starts),
        truth=line.relevant(queries),
    )


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Disjoint stretches of text, ascending; each belongs to a cell of the (query, rank) table."""

    starts: Integers
    ends: Integers
    cells: Integers


@dataclass(frozen=True, eq=False)
class _Merged:
    """Disjoint stretches of text, ascending, and for each the row of the input span with which it starts."""

    starts: Integers
    ends: Integers
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Line:
    """The spans of some queries on one line of integers.

    Attributes:
        starts: Of the retrieved spans that are not empty.
        ends: Theirs.
        cells: Theirs.
        pieces: The same spans without what an earlier rank covers.
        merged: The relevant spans.
        owners: The query of each merged relevant span.
    """

    starts: Integers
    ends: Integers
    cells: Integers
    pieces: _Pieces
    merged: _Merged
    owners: Integers

    @classmethod
    def of(cls, retrieved: SpanColumns, truth: SpanColumns, depth: int) -> "_Line":
        retrieved, truth = retrieved.covering(), truth.covering()
        groups, truth_groups, width = _groups(retrieved, truth)
        starts = groups * width + retrieved.start
        ends = groups * width + retrieved.end
        cells = retrieved.query * depth + retrieved.rank
        merged = _merged(truth_groups * width + truth.start, truth_groups * width + truth.end)
        return cls(starts, ends, cells, _first_covered(starts, ends, cells), merged, truth.query[merged.rows])

    def relevant(self, queries: int) -> Integers:
        """Return the relevant characters of each query, each once."""
        lengths = self.merged.ends - self.merged.starts
        return np.bincount(self.owners, weights=lengths, minlength=queries).astype(np.int64)


def _groups(retrieved: SpanColumns, truth: SpanColumns) -> tuple[Integers, Integers, int]:
    """Number the (query, document) pairs, and return the width of the range of integers that each pair gets.

    An offset in a pair is then the integer `number * width + offset`, so that all queries and documents lie on one
    line, and spans of different pairs never meet.
    """
    documents = 1 + max(_largest(retrieved.document), _largest(truth.document))
    width = 1 + max(_largest(retrieved.end), _largest(truth.end))
    queries = 1 + max(_largest(retrieved.query), _largest(truth.query))
    groups = retrieved.query * documents
    groups += retrieved.document
    truth_groups = truth.query * documents
    truth_groups += truth.document
    if queries * documents * width >= 2**63:
        numbers = np.unique(np.concatenate([groups, truth_groups]), return_inverse=True)[1]
        groups, truth_groups = numbers[: len(groups)], numbers[len(groups) :]
    return groups, truth_groups, width


def _largest(column: Integers) -> int:
    return int(column.max()) if len(column) else 0


def _merged(starts: Integers, ends: Integers) -> _Merged:
    """Merge stretches that overlap or touch.

    Starts [8, 0, 3] and ends [9, 4, 6] become starts [0, 8] and ends [6, 9], from the rows [1, 0].
    """
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    opens = np.ones(len(starts), dtype=bool)
    opens[1:] = starts[1:] > ends[:-1]
    closes = np.ones(len(starts), dtype=bool)
    closes[:-1] = opens[1:]
    return _Merged(starts[opens], ends[closes], order[opens])


def spread(counts: Integers) -> tuple[Integers, Integers]:
    """Return, for counts (2, 0, 3), the owners (0, 0, 2, 2, 2) and their running numbers (0, 1, 0, 1, 2)."""
    owners = np.repeat(np.arange(len(counts)), counts)
    return owners, np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]


def _leads(column: Integers) -> NDArray[np.bool_]:
    """Return which entries of a sorted column differ from the one before."""
    leads = np.ones(len(column), dtype=bool)
    leads[1:] = column[1:] != column[:-1]
    return leads


def _overlaps(pieces: _Pieces, merged: _Merged) -> tuple[Integers, Integers, Integers]:
    """Return the pieces that share characters with the merged truth, one entry per pair, and start and end of these.

    Pieces [0, 5) and [5, 9) share [3, 5) and [5, 6) with the truth [3, 6): ([0, 1], [3, 5], [5, 6]).
    """
    first = np.searchsorted(pieces.ends, merged.starts, side="right")
    counts = np.maximum(np.searchsorted(pieces.starts, merged.ends, side="left") - first, 0)
    stretch, number = spread(counts)
    piece = first[stretch] + number
    starts = np.maximum(pieces.starts[piece], merged.starts[stretch])
    return piece, starts, np.minimum(pieces.ends[piece], merged.ends[stretch])


def _first_covered(starts: Integers, ends: Integers, cells: Integers) -> _Pieces:
    """Cut overlapping stretches into pieces, and give each piece to the best rank that covers it.

    Of one query, rank 0 (cell 0) retrieved [5, 9), rank 1 (cell 1) [0, 7) and rank 2 (cell 2) [20, 25). They fall into
    starts [0, 5, 7, 20], ends [5, 7, 9, 25] and cells [1, 0, 0, 2]: both cover [5, 7), which counts for rank 0.
    """
    order = np.argsort(starts, kind="stable")
    starts, ends, cells = starts[order], ends[order], cells[order]
    overlapping = np.zeros(len(starts), dtype=bool)
    overlapping[1:] = starts[1:] < np.maximum.accumulate(ends)[:-1]
    if not overlapping.any():
        return _Pieces(starts, ends, cells)
    # Only stretches that overlap another one are cut into pieces.
    overlapping[:-1] |= overlapping[1:]
    bounds = np.sort(np.concatenate([starts[overlapping], ends[overlapping]]))
    bounds = bounds[_leads(bounds)]
    first = np.searchsorted(bounds, starts[overlapping])
    owner, number = spread(np.searchsorted(bounds, ends[overlapping]) - first)
    # Cells ascend with the rank, so the smallest (piece, cell) of a piece names the best rank that covers it.
    cell_count = int(cells.max()) + 1
    keys = np.sort((first[owner] + number) * cell_count + cells[overlapping][owner])
    piece, cell = np.divmod(keys, cell_count)
    leads = _leads(piece)
    piece, cell = piece[leads], cell[leads]
    alone = ~overlapping
    position = np.searchsorted(starts[alone], bounds[piece])
    return _Pieces(
        np.insert(starts[alone], position, bounds[piece]),
        np.insert(ends[alone], position, bounds[piece + 1]),
        np.insert(cells[alone], position, cell),
    )
