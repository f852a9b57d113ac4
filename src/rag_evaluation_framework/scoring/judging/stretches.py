"""Spans of many queries as columns, on one line of integers; and how much of the truth they account for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ...data import Answer, CharacterSpan, GroundTruth
from ...data.columns import Integers, Numbering, Numbers
from ...data.hits import RankedHits

# Spans of many queries as columns.

_DOC_ID, _START, _END = attrgetter("doc_id"), attrgetter("start"), attrgetter("end")
_AT_ONCE = 2_048  # spans, each of which is read three times: the processor's cache holds as many


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
        total, flat = int(counts.sum()), chain.from_iterable(spans)
        document, start, end = np.empty((3, total), dtype=np.int64)
        for first in range(0, total, _AT_ONCE):
            some = list(islice(flat, _AT_ONCE))
            rows = slice(first, first + _AT_ONCE)
            document[rows] = np.fromiter(map(documents.__getitem__, map(_DOC_ID, some)), np.int64, len(some))
            start[rows] = np.fromiter(map(_START, some), np.int64, len(some))
            end[rows] = np.fromiter(map(_END, some), np.int64, len(some))
        ranks = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(np.repeat(np.arange(len(spans)), counts), document, start, end, ranks)

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

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "SpanColumns":
        """Return some of the spans; their ranks stay as they are."""
        return SpanColumns(self.query[rows], self.document[rows], self.start[rows], self.end[rows], self.rank[rows])

    def between(self, first: int, last: int) -> "SpanColumns":
        """Return the spans of the queries `first` to `last - 1`, those queries renumbered from 0."""
        rows = slice(*np.searchsorted(self.query, [first, last]))
        spans = (self.document[rows], self.start[rows], self.end[rows], self.rank[rows])
        return SpanColumns(self.query[rows] - first, *spans)


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
    """Overlaps of stretches with pieces, one entry per pair.

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
        both = (retrieved := retrieved.covering(), relevant)
        documents = 1 + max(int(spans.document.max(initial=0)) for spans in both)
        width = 1 + max(int(spans.end.max(initial=0)) for spans in both)
        queries = 1 + max(int(spans.query.max(initial=0)) for spans in both)
        # An offset in a pair of query and document is the integer `number of the pair * width + offset`.
        pairs = [spans.query * documents + spans.document for spans in both]
        if queries * documents * width >= 2**63:
            numbers = np.unique(np.concatenate(pairs), return_inverse=True)[1]
            pairs = np.split(numbers, [len(pairs[0])])
        hits, right = (
            Stretches(begins + spans.start, begins + spans.end)
            for begins, spans in zip((pair * width for pair in pairs), both, strict=True)
        )
        return cls(hits, retrieved.query * depth + retrieved.rank, right)

    @cached_property
    def pieces(self) -> Pieces:
        """The retrieved text, each character where it is retrieved first."""
        return first_covered(self.hits, self.cells)


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


# Relevant spans as columns: the reference places of all answers, and all places where an answer has several.


@dataclass(frozen=True, eq=False)
class SpanPlaces:
    """All places of all answers of some queries, one row per span.

    Attributes:
        spans: The spans, sorted by query, answer, place, and in a place in its order; none is empty.
        answer: The number of the answer, over all queries, ascending.
        place: The number of the place in its answer; 0 is the reference.
        original: The row of the same part of the first place that has the same wording: its own row if that is it.
    """

    spans: SpanColumns
    answer: Integers
    place: Integers
    original: Integers

    def between(self, first: int, last: int) -> "SpanPlaces":
        """Return those of the queries `first` to `last - 1`, those queries renumbered from 0."""
        begin, end = np.searchsorted(self.spans.query, [first, last])
        rows = slice(begin, end)
        return SpanPlaces(
            self.spans.between(first, last), self.answer[rows], self.place[rows], self.original[rows] - begin
        )

    @cached_property
    def is_original(self) -> NDArray[np.bool_]:
        """Which rows belong to the first place of their wording."""
        return np.equal(self.original, np.arange(len(self.original)))


@dataclass(frozen=True, eq=False)
class SpanTruth:
    """Relevant spans of many queries.

    Attributes:
        reference: The spans of the first place of every answer; where they overlap, text counts once.
        alternatives: All places of the queries of which an answer has more than one; None if there are no such queries.
    """

    reference: SpanColumns
    alternatives: SpanPlaces | None = None

    @classmethod
    def of(cls, answers: Sequence[Sequence[Answer[CharacterSpan]]], documents: Numbering) -> "SpanTruth":
        """Return the answers to each query as columns; documents that are new are numbered."""
        flat = [answer for some in answers for answer in some]
        if all(len(answer.places) == 1 for answer in flat):
            return cls(
                SpanColumns.of([[span for answer in some for span in answer.reference] for some in answers], documents)
            )
        spans = SpanColumns.of(
            [[span for answer in some for place in answer.places for span in place] for some in answers], documents
        )
        parts = np.array([len(place) for answer in flat for place in answer.places])
        answer, place = spread(np.array([len(answer.places) for answer in flat]))
        wording = np.array([number for answer in flat for number in answer.wordings])
        number, part = spread(parts)
        original = (np.cumsum(parts) - parts)[np.arange(len(place)) - place + wording][number] + part
        answer, place = answer[number], place[number]
        several = np.isin(spans.query, spans.query[place > 0], kind="table")
        original = (np.cumsum(several) - 1)[original[several]]
        places = SpanPlaces(spans.take(several), answer[several], place[several], original)
        return cls(spans.take(place == 0), places)

    @classmethod
    def of_entries(cls, entries: Sequence[GroundTruth[CharacterSpan]], documents: Numbering) -> "SpanTruth":
        """Return the ground truth of each query as columns; documents that are new are numbered."""
        if any(entry.has_alternatives for entry in entries):
            return cls.of([entry.answers for entry in entries], documents)
        return cls(SpanColumns.of([entry.relevant for entry in entries], documents))

    def between(self, first: int, last: int) -> "SpanTruth":
        """Return the truth of the queries `first` to `last - 1`, those queries renumbered from 0."""
        alternatives = None if self.alternatives is None else self.alternatives.between(first, last)
        return SpanTruth(
            self.reference.between(first, last), alternatives if alternatives and len(alternatives.answer) else None
        )


# Judging answers that have several places: how much of the truth is accounted for, in whichever words.
#
# After each rank, R being the characters retrieved so far: a retrieved character of a copy also says the same character
# of the first place with that wording, H being all that is said. What counts of the reference places is, of each region
# (the characters that the same answers need), what is said or, if that is more, the least share that these answers have
# in another wording. Different wordings never add up.


def credited(retrieved: SpanColumns, places: SpanPlaces, depth: int) -> tuple[Integers, Numbers, Integers, Integers]:
    """Judge rankings of queries with alternatives: what is accounted for after each rank.

    Args:
        retrieved: The retrieved spans of all queries; ranks below `depth`.
        places: All places of the queries with alternatives.
        depth: The number of ranks.

    Returns:
        The numbers of these queries; and of shape (queries, depth) the characters of the reference places that are
        accounted for, of which a share of a region is a fraction, the retrieved characters that are in any place, and
        those of these that say something new: of copies, one, and no more than there are.
    """
    query, line = placed(retrieved, places, depth)
    cells, count = (len(query), depth), len(query) * depth
    said = said_by(line.pieces, line.relevant, places.original)
    relevant = per_cell(line.pieces, Merged.of(line.relevant), count).reshape(cells).cumsum(axis=1)
    counted = credit(said, line.relevant, places, depth)
    if places.is_original.all():
        return query, counted, relevant, relevant
    once = per_cell(said, Merged.of(line.relevant.take(places.is_original)), count).reshape(cells).cumsum(axis=1)
    return query, counted, relevant, np.minimum(once, relevant)


def placed(retrieved: SpanColumns, places: SpanPlaces, depth: int) -> tuple[Integers, Line]:
    """Return the numbers of the queries with alternatives; their results and places on a line, renumbered from 0."""
    is_first = leads(places.spans.query)
    query = places.spans.query[is_first]
    number = np.full(1 + max(int(query[-1]), int(retrieved.query.max(initial=0))), -1, dtype=np.int64)
    number[query] = np.arange(len(query))
    mine = retrieved.take(number[retrieved.query] >= 0)
    spans = replace(places.spans, query=np.cumsum(is_first) - 1)
    return query, Line.of(replace(mine, query=number[mine.query]), spans, depth)


def said_by(pieces: Pieces, places: Stretches, original: Integers) -> Pieces:
    """Return pieces with what they say elsewhere, each character where it is said first.

    Args:
        pieces: What is retrieved, each character once.
        places: The spans of all places.
        original: For each of them the row that says the same.
    """
    copies = np.flatnonzero(original != np.arange(len(original)))
    shared = Shared.of(pieces, places.take(copies))
    if not len(shared.piece):
        return pieces
    shift = (places.starts[original[copies]] - places.starts[copies])[shared.stretch]
    echoes = Stretches(
        np.concatenate([pieces.starts, shared.starts + shift]), np.concatenate([pieces.ends, shared.ends + shift])
    )
    return first_covered(echoes, np.concatenate([pieces.cells, pieces.cells[shared.piece]]))


def credit(said: Pieces, stretches: Stretches, places: SpanPlaces, depth: int) -> Numbers:
    """Return how many characters of the reference places are accounted for after each rank; shape (queries, depth).

    Args:
        said: What is said, each character at the rank that says it first.
        stretches: The spans of the places, on the same line.
        places: The places; every query has one.
        depth: The number of ranks.
    """
    regions = _Regions.of(stretches.take(places.place == 0), places.answer[places.place == 0])
    others = np.flatnonzero(places.is_original & (places.place > 0))
    is_new = leads(places.answer[others]) | leads(places.place[others])
    wording, answer = np.cumsum(is_new) - 1, places.answer[others][is_new]
    units = np.concatenate([regions.region, len(regions.answers) + wording])
    parts = Stretches(
        np.concatenate([regions.parts.starts, stretches.starts[others]]),
        np.concatenate([regions.parts.ends, stretches.ends[others]]),
    )
    shared = Shared.of(said, parts)
    cells = units[shared.stretch] * depth + said.cells[shared.piece] % depth
    count = len(regions.answers) + len(answer)
    found = np.bincount(cells, weights=shared.lengths, minlength=count * depth).reshape(count, depth).cumsum(axis=1)
    length = np.bincount(units, weights=parts.lengths, minlength=count)[:, np.newaxis]
    first, last = int(places.answer[0]), int(places.answer[-1])
    best = np.zeros((last - first + 2, depth))
    best[-1] = np.inf  # where fewer answers need a region than others
    is_other = len(regions.answers)
    if len(answer):
        heads = np.flatnonzero(leads(answer))
        best[answer[heads] - first] = np.maximum.reduceat(found[is_other:] / length[is_other:], heads, axis=0)
    needed = np.where(regions.answers < 0, -1, regions.answers - first)
    elsewhere = best[needed].min(axis=1)
    counted = np.maximum(found[:is_other], length[:is_other] * elsewhere)
    query = places.spans.query[np.searchsorted(places.answer, regions.answers[:, 0])]
    return np.add.reduceat(counted, np.flatnonzero(leads(query)), axis=0)


@dataclass(frozen=True, eq=False)
class _Regions:
    """The characters of the reference places, by the answers that need them.

    Attributes:
        parts: Stretches of them, disjoint.
        region: The region of each; regions ascend by their first answers.
        answers: The answers that need each region, ascending, padded with -1; shape (regions, most answers).
    """

    parts: Stretches
    region: Integers
    answers: Integers

    @classmethod
    def of(cls, reference: Stretches, answer: Integers) -> "_Regions":
        order = np.argsort(reference.starts, kind="stable")
        if (reference.starts[order][1:] >= reference.ends[order][:-1]).all():
            is_first = leads(answer)
            return cls(reference, np.cumsum(is_first) - 1, answer[is_first][:, np.newaxis])
        parts, part, row = cut_at_bounds(reference)
        order = np.lexsort((answer[row], part))
        part, needing = part[order], answer[row][order]
        is_first = leads(part)
        held = np.flatnonzero(is_first)
        number = np.cumsum(is_first) - 1
        beside = np.arange(len(part)) - held[number]
        answers = np.full((len(held), int(beside.max(initial=0)) + 1), -1, dtype=np.int64)
        answers[number, beside] = needing
        sets, region = np.unique(answers, axis=0, return_inverse=True)
        return cls(parts.take(part[held]), region.reshape(-1), sets)
