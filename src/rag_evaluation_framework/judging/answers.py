"""Judging answers that have several places: how much of the truth is accounted for, in whichever words.

After each rank, R being the characters retrieved so far: a retrieved character of a copy also says the same character
of the first place with that wording, H being all that is said. What counts of the reference places is, of each region
(the characters that the same answers need), what is said or, if that is more, the least share that these answers have
in another wording. Different wordings never add up.
"""

from dataclasses import dataclass, replace

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanPlaces
from rag_evaluation_framework.judging.stretches import (
    Line,
    Merged,
    Pieces,
    Shared,
    Stretches,
    cut_at_bounds,
    first_covered,
    leads,
    per_cell,
)


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
