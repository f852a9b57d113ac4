"""Spans of many queries as columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.spans import CharacterSpan

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
