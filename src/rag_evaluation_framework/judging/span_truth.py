"""Relevant spans as columns: the reference places of all answers, and all places where an answer has several."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.stretches import leads


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
        reference = [[span for answer in some for span in answer.reference] for some in answers]
        rows = [*_rows(answers, documents)]
        if not rows:
            return cls(SpanColumns.of(reference, documents))
        query, document, start, end, answer, place, wording = np.array(rows, dtype=np.int64).T
        spans = SpanColumns(query, document, start, end, np.zeros_like(query))
        return cls(SpanColumns.of(reference, documents), SpanPlaces.of(spans, answer, place, wording))

    @classmethod
    def of_rows(cls, spans: SpanColumns, answer: Integers, place: Integers, wording: Integers) -> "SpanTruth":
        """Return rows that are sorted by query, answer and place as ground truth.

        Args:
            spans: The spans of all places.
            answer: The number of the answer, over all queries, ascending.
            place: The number of the place in its answer; 0 is the reference.
            wording: The number of the first place of the answer with the same text.
        """
        several = np.isin(spans.query, spans.query[place > 0])
        reference = spans.take(place == 0)
        if not several.any():
            return cls(reference)
        return cls(reference, SpanPlaces.of(spans.take(several), answer[several], place[several], wording[several]))

    def between(self, first: int, last: int) -> "SpanTruth":
        """Return the truth of the queries `first` to `last - 1`, those queries renumbered from 0."""
        alternatives = None if self.alternatives is None else self.alternatives.between(first, last)
        return SpanTruth(
            self.reference.between(first, last), alternatives if alternatives and len(alternatives.answer) else None
        )


def _rows(
    answers: Sequence[Sequence[Answer[CharacterSpan]]], documents: Numbering
) -> Iterator[tuple[int, int, int, int, int, int, int]]:
    """Yield query, document, start, end, answer, place and wording of each span of the queries with alternatives."""
    number = 0
    for query, some in enumerate(answers):
        if all(len(answer.places) == 1 for answer in some):
            continue
        for answer in some:
            for place, wording in enumerate(answer.wordings):
                for span in filter(CharacterSpan.length, answer.places[place]):
                    yield query, documents[span.doc_id], span.start, span.end, number, place, wording
            number += 1
