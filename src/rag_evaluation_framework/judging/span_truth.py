"""Relevant spans as columns, and how much of the truth is accounted for where answers have several places."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data import Answer, CharacterSpan, GroundTruth
from rag_evaluation_framework.data.columns import Integers, Numbering, Numbers
from rag_evaluation_framework.judging.stretches import (
    Line,
    Merged,
    Pieces,
    Shared,
    SpanColumns,
    Stretches,
    cut_at_bounds,
    first_covered,
    leads,
    per_cell,
    spread,
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

    @classmethod
    def of(cls, spans: SpanColumns, answer: Integers, place: Integers, wording: Integers) -> "SpanPlaces":
        """Return sorted rows as places.

        Args:
            spans: As above.
            answer: As above.
            place: As above.
            wording: The number of the first place of the answer with the same text.
        """
        begins = leads(answer) | leads(place)
        first = np.flatnonzero(begins)
        number = np.cumsum(begins) - 1
        part = np.arange(len(place)) - first[number]
        width = int(place.max(initial=0)) + 1
        keys = answer[first] * width + place[first]
        return cls(spans, answer, place, first[np.searchsorted(keys, answer * width + wording)] + part)

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
    """What is relevant to many queries.

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
        answer, place, wording = (np.repeat(column, parts) for column in (answer, place, wording))
        several = np.isin(spans.query, spans.query[place > 0], kind="table")
        places = SpanPlaces.of(spans.take(several), answer[several], place[several], wording[several])
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


@dataclass(frozen=True, eq=False)
class Credit:
    """What is accounted for after each rank; arrays of shape (queries, depth), of the queries with alternatives only.

    Attributes:
        query: The numbers of these queries; shape (queries,).
        credit: Characters of the reference places that are accounted for; a share of a region is a fraction.
        relevant: Retrieved characters that are in any place.
        once: Those of these that say something new: of copies, one. No more than `relevant`.
    """

    query: Integers
    credit: Numbers
    relevant: Integers
    once: Integers


def credited(retrieved: SpanColumns, places: SpanPlaces, depth: int) -> Credit:
    """Judge rankings of queries with alternatives.

    Args:
        retrieved: The retrieved spans of all queries; ranks below `depth`.
        places: All places of the queries with alternatives.
        depth: The number of ranks.
    """
    query, line = placed(retrieved, places, depth)
    cells, count = (len(query), depth), len(query) * depth
    said = said_by(line.pieces, line.relevant, places.original)
    relevant = per_cell(line.pieces, Merged.of(line.relevant), count).reshape(cells).cumsum(axis=1)
    counted = credit(said, line.relevant, places, depth)
    if places.is_original.all():
        return Credit(query, counted, relevant, relevant)
    once = per_cell(said, Merged.of(line.relevant.take(places.is_original)), count).reshape(cells).cumsum(axis=1)
    return Credit(query, counted, relevant, np.minimum(once, relevant))


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
