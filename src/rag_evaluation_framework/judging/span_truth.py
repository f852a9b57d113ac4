"""Relevant spans as columns: the reference places of all answers, and all places where an answer has several."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.stretches import leads, spread


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
        return cls.of_rows(spans, *(np.repeat(column, parts) for column in (answer, place, wording)))

    @classmethod
    def of_entries(cls, entries: Sequence[GroundTruth[CharacterSpan]], documents: Numbering) -> "SpanTruth":
        """Return the ground truth of each query as columns; documents that are new are numbered."""
        if any(entry.has_alternatives for entry in entries):
            return cls.of([entry.answers for entry in entries], documents)
        return cls(SpanColumns.of([entry.relevant for entry in entries], documents))

    @classmethod
    def of_rows(cls, spans: SpanColumns, answer: Integers, place: Integers, wording: Integers) -> "SpanTruth":
        """Return rows that are sorted by query, answer and place as ground truth.

        Args:
            spans: The spans of all places.
            answer: The number of the answer, over all queries, ascending.
            place: The number of the place in its answer; 0 is the reference.
            wording: The number of the first place of the answer with the same text.
        """
        reference = spans.take(place == 0)
        if not place.any():
            return cls(reference)
        several = np.isin(spans.query, spans.query[place > 0], kind="table")
        return cls(reference, SpanPlaces.of(spans.take(several), answer[several], place[several], wording[several]))

    def between(self, first: int, last: int) -> "SpanTruth":
        """Return the truth of the queries `first` to `last - 1`, those queries renumbered from 0."""
        alternatives = None if self.alternatives is None else self.alternatives.between(first, last)
        return SpanTruth(
            self.reference.between(first, last), alternatives if alternatives and len(alternatives.answer) else None
        )
