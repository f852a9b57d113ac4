"""The steps between the documents and the cutoff, as the relevant characters that each of them has, in columns."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.attribution.evidence import Evidence
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.columns import Integers, Numbering, Numbers
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanTruth
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.judging.stretches import Line, Merged, Pieces, Shared, Stretches
from rag_evaluation_framework.markups.characters import key

_NEARLY = 1e-9
_COLUMNS = ("query", "document", "start", "end", "rank")


@dataclass(frozen=True, eq=False)
class SpanSteps:
    """What the steps have of the relevant text of some questions.

    Rows of `SpanColumns` are what a step has, in no order: every rank is 0.

    Attributes:
        evidence: What was retrieved, and what could have been.
    """

    evidence: Evidence

    @cached_property
    def documents(self) -> Numbering:
        """The numbers of the documents."""
        return Numbering()

    @cached_property
    def truth(self) -> SpanTruth:
        """What is relevant."""
        return SpanTruth.of_entries(self.evidence.truth, self.documents)

    @cached_property
    def places(self) -> SpanColumns:
        """The spans of all places of all answers, in order."""
        return SpanColumns.of([entry.labels for entry in self.evidence.truth], self.documents)

    @cached_property
    def whole(self) -> Numbers:
        """How many characters are relevant to each question; shape (questions,)."""
        nothing = self.places.take(np.zeros(len(self.places.query), dtype=np.bool_))
        return self._judged(nothing).truth.astype(np.float64)

    @cached_property
    def read(self) -> SpanColumns:
        """What was read at the cutoff."""
        return self.placed(self.evidence.cut(self.evidence.final))

    @cached_property
    def all(self) -> list[SpanColumns]:
        """What each step has, from the corpus to what was read: each step what the ones after it have, too."""
        known = self.evidence
        final = known.cut(known.final)
        given = final if known.first is None else known.cut(known.first)
        inside = self._inside_documents()
        own = [
            [inside],
            [inside] if known.chunks is None else [self.in_chunks, self._in_unplaced_chunks()],
            [self.placed(known.deep), self._as_text(known.deep)],
            [rows(hits) for hits in (known.candidates, known.final) for rows in (self.placed, self._as_text)],
            [self.placed(given), self._as_text(given)],
            [self._as_text(final)],
            [self.read],
        ]
        return [joined(rows for some in own[number:] for rows in some) for number in range(len(own))]

    @cached_property
    def in_chunks(self) -> SpanColumns:
        """What chunks with a place hold of the places of answers."""
        return self.held(self.chunk_spans)

    @cached_property
    def chunk_spans(self) -> list[CharacterSpan]:
        """The chunks that have a place."""
        chunks = self.evidence.chunks or ()
        return [
            CharacterSpan(chunk.doc_id, chunk.start, chunk.end)
            for chunk in chunks
            if isinstance(chunk, PositionAwareChunk)
        ]

    def credit(self, *rows: SpanColumns) -> Numbers:
        """Return how many characters of the first places these rows account for together; shape (questions,)."""
        return self._judged(joined(rows)).credit_chars.astype(np.float64)

    def held(self, spans: Sequence[CharacterSpan]) -> SpanColumns:
        """Return what spans of the corpus hold of the places of answers, whichever of the spans it is."""
        row, shared, base = self._shared(spans)
        places = self.places
        return SpanColumns(
            places.query[row], places.document[row], shared.starts - base, shared.ends - base, np.zeros_like(row)
        )

    def whole_in_chunks(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which spans of places chunks hold together, and which one chunk holds; shape (spans,) each."""
        row, shared, _ = self._shared(self.chunk_spans)
        places = self.places
        lengths = places.end - places.start
        covered = np.bincount(row, weights=shared.lengths, minlength=len(lengths)) == lengths
        chunks = SpanColumns.of([self.chunk_spans], self.documents)
        width = 1 + max(int(chunks.end.max(initial=0)), int(places.end.max(initial=0)))
        starts = chunks.document * width + chunks.start
        order = np.argsort(starts, kind="stable")
        # Of the chunks that start before a span, or with it, the one that reaches farthest.
        farthest = np.maximum.accumulate((chunks.document * width + chunks.end)[order]) if len(order) else starts
        before = np.searchsorted(starts[order], places.document * width + places.start, side="right") - 1
        reached = farthest[before] if len(order) else np.zeros_like(before)
        return covered, (before >= 0) & (reached >= places.document * width + places.end)

    def best_ranks(self) -> Integers:
        """Return the first rank, from 1, with which more is had than was read; 0 where there is none.

        It is that of the ranking of the run, which the deep one continues if there is no reranker.
        """
        known = self.evidence
        ranking = known.deep if known.first is None else known.final
        hits = SpanColumns.of_hits(ranking, self.documents).take(ranking.flat.placed)
        useful = hits.take(self.sharing(hits))
        rows = joined([self.read, replace(useful, rank=useful.rank + 1)])  # what was read comes before all ranks
        depth = int(rows.rank.max(initial=0)) + 1
        credit = SpanJudgements.from_columns(rows, self.truth, len(known.truth), depth).credit
        more = credit > credit[:, :1] + _NEARLY
        ranks: Integers = np.where(more.any(axis=1), more.argmax(axis=1), 0)
        return ranks

    def _judged(self, rows: SpanColumns) -> SpanJudgements:
        return SpanJudgements.from_columns(rows, self.truth, len(self.evidence.truth), depth=1)

    def _shared(self, spans: Sequence[CharacterSpan]) -> tuple[Integers, Stretches, Integers]:
        """Return what spans of the corpus share with places, each character once: the row of the place, and where.

        The third is where the document of the place begins on the line on which that is.
        """
        places, named = self.places, self.documents.keys()
        columns = SpanColumns.of([[span for span in spans if span.doc_id in named]], self.documents).covering()
        width = 1 + max(int(columns.end.max(initial=0)), int(places.end.max(initial=0)))
        base = columns.document * width
        merged = Merged.of(Stretches(base + columns.start, base + columns.end))
        base = places.document * width
        pieces = Pieces(merged.starts, merged.ends, np.zeros_like(merged.starts))
        shared = Shared.of(pieces, Stretches(base + places.start, base + places.end))
        return shared.stretch, shared, base[shared.stretch]

    def placed(self, hits: RankedHits) -> SpanColumns:
        """Return the places of hits that share text with a place of an answer to their question."""
        rows = SpanColumns.of_hits(hits, self.documents).take(hits.flat.placed)
        useful = rows.take(self.sharing(rows))
        return replace(useful, rank=np.zeros_like(useful.rank))

    def sharing(self, rows: SpanColumns) -> NDArray[np.bool_]:
        """Return which spans share text with a place of an answer to their question; shape (rows,)."""
        solid = np.flatnonzero(rows.end > rows.start)
        line = Line.of(rows, self.places, depth=1)
        merged = Merged.of(line.relevant)
        pieces = Pieces(merged.starts, merged.ends, np.zeros_like(merged.starts))
        shared = Shared.of(pieces, line.hits)
        found: NDArray[np.bool_] = np.zeros(len(rows.query), dtype=np.bool_)
        found[solid[shared.stretch[shared.lengths > 0]]] = True
        return found

    def _inside_documents(self) -> SpanColumns:
        """Return the places as far as the corpus has them."""
        places, corpus = self.places, self.evidence.corpus
        lengths = [len(corpus[name].content) if name in corpus else 0 for name in self.documents]
        last = np.array([*lengths, 0], dtype=np.int64)[places.document]
        start = np.minimum(places.start, last)
        return replace(places, start=start, end=np.minimum(places.end, last), rank=np.zeros_like(places.rank))

    def _in_unplaced_chunks(self) -> SpanColumns:
        """Return the spans whose normal form is in that of a chunk of their document that has no place."""
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for chunk in self.evidence.chunks or ():
            if not isinstance(chunk, PositionAwareChunk):
                texts[chunk.doc_id].append(normal_form(chunk.content))
        return self._in_texts(lambda _, span: texts.get(span.doc_id, ())) if texts else self.of_spans([])

    def _as_text(self, hits: RankedHits) -> SpanColumns:
        """Return the spans whose normal form is in that of a hit that has no place."""
        flat = hits.flat
        bare = np.flatnonzero(~flat.placed & flat.text.known)
        texts: defaultdict[int, list[str]] = defaultdict(list)
        for query, text in zip(hits.query[bare].tolist(), flat.take(bare).text.read(slice(None)), strict=True):
            texts[query].append(normal_form(text or ""))
        return self._in_texts(lambda row, _: texts.get(row, ())) if texts else self.of_spans([])

    def _in_texts(self, texts: Callable[[int, CharacterSpan], Sequence[str]]) -> SpanColumns:
        """Return the spans of places that are in one of the normal forms that belong to the question and the span."""
        found = [
            (row, span)
            for row, entry in enumerate(self.evidence.truth)
            for span in entry.labels
            if (within := texts(row, span)) and _is_in(self._quoted(span), within)
        ]
        return self.of_spans(found)

    def _quoted(self, span: CharacterSpan) -> str:
        """Return the normal form of a span."""
        corpus = self.evidence.corpus
        known = span.text or span.doc_id not in corpus
        return normal_form(span.text if known else corpus[span.doc_id].content[span.start : span.end])

    def of_spans(self, found: Sequence[tuple[int, CharacterSpan]]) -> SpanColumns:
        """Return spans, each with the number of its question, ascending."""
        columns = SpanColumns.of([[span for _, span in found]], self.documents)
        query = np.array([row for row, _ in found], dtype=np.int64)
        return replace(columns, query=query, rank=np.zeros_like(query))


@lru_cache(maxsize=4096)
def normal_form(text: str) -> str:
    """Return the letters, numbers and combining marks of a text, as quotes are compared with documents."""
    return "".join(map(key, text))


def joined(rows: Iterable[SpanColumns]) -> SpanColumns:
    """Return the rows of all, by query."""
    listed = [*rows]
    columns = {name: np.concatenate([getattr(some, name) for some in listed]) for name in _COLUMNS}
    order = np.argsort(columns["query"], kind="stable")
    return SpanColumns(**{name: column[order] for name, column in columns.items()})


def _is_in(quote: str, texts: Sequence[str]) -> bool:
    return bool(quote) and any(quote in text for text in texts)
