"""The evaluation type as a value: how a ranking is read as units that can be compared with the ground truth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rag_evaluation_framework.ids import ChunkId, DocumentId, EvaluationType, canonical_chunk_id
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Hit, Ranking

U = TypeVar("U", bound=DocumentId | ChunkId | CharacterSpan)
"""The unit of an evaluation. Bound and invariant on purpose: results of different levels must not mix."""


@dataclass(frozen=True)
class Level(Generic[U]):
    """One evaluation type.

    Attributes:
        evaluation_type: Its name in files and messages.
        unit: Reads one hit at a rank, counted from 1, as a unit of this level. What lacks the unit (a text without a
            place, a hit without an id) is a unit of its own that is never relevant, so that it keeps its rank.
        repeats: Whether a unit that is retrieved again counts again: overlapping text costs the reader, a document or
            chunk that was found is found.
    """

    evaluation_type: EvaluationType
    unit: Callable[[Hit, int], U]
    repeats: bool = False

    def units(self, ranking: Ranking) -> tuple[U, ...]:
        """Return a ranking, best first, as units; documents and chunks that repeat keep their first rank only."""
        units = [self.unit(hit, rank) for rank, hit in enumerate(ranking, start=1)]
        return tuple(units if self.repeats else dict.fromkeys(units))

    def __repr__(self) -> str:
        return f"Level({self.evaluation_type!r})"


def _document(hit: Hit, rank: int) -> DocumentId:
    return DocumentId(f"\0{rank}") if hit.doc_id is None else hit.doc_id


def _chunk(hit: Hit, rank: int) -> ChunkId:
    return ChunkId(f"\0{rank}") if hit.chunk_id is None else canonical_chunk_id(hit.chunk_id)


def _span(hit: Hit, rank: int) -> CharacterSpan:
    return hit.span or CharacterSpan(DocumentId(f"\0{rank}"), 0, len(hit.text or ""))


DOCUMENT: Level[DocumentId] = Level("document-level", _document)
"""Did we find the right documents?"""

CHUNK: Level[ChunkId] = Level("chunk-level", _chunk)
"""Did we find the right chunks? Bound to one chunking."""

TOKEN: Level[CharacterSpan] = Level("token-level", _span, repeats=True)
"""Did we find the right text? Independent of any chunker."""
