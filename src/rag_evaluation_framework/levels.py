"""The evaluation type as a value: how a ranking is read as units that can be compared with the ground truth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rag_evaluation_framework.ids import ChunkId, DocumentId, EvaluationType, canonical_chunk_id
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Ranking

U = TypeVar("U", bound=DocumentId | ChunkId | CharacterSpan)
"""The unit of an evaluation. Bound and invariant on purpose: results of different levels must not mix."""


@dataclass(frozen=True)
class Level(Generic[U]):
    """One evaluation type.

    Attributes:
        evaluation_type: Its name in files and messages.
        units: Reads a ranking, best first, as the units of this level. Hits that lack what the level needs are left
            out; documents and chunks that repeat keep their first rank.
    """

    evaluation_type: EvaluationType
    units: Callable[[Ranking], tuple[U, ...]]

    def __repr__(self) -> str:
        return f"Level({self.evaluation_type!r})"


def _documents(ranking: Ranking) -> tuple[DocumentId, ...]:
    return tuple(dict.fromkeys(hit.doc_id for hit in ranking if hit.doc_id is not None))


def _chunks(ranking: Ranking) -> tuple[ChunkId, ...]:
    return tuple(dict.fromkeys(canonical_chunk_id(hit.chunk_id) for hit in ranking if hit.chunk_id is not None))


def _spans(ranking: Ranking) -> tuple[CharacterSpan, ...]:
    return tuple(span for hit in ranking if (span := hit.span) is not None)


DOCUMENT: Level[DocumentId] = Level("document-level", _documents)
"""Did we find the right documents?"""

CHUNK: Level[ChunkId] = Level("chunk-level", _chunks)
"""Did we find the right chunks? Bound to one chunking."""

TOKEN: Level[CharacterSpan] = Level("token-level", _spans)
"""Did we find the right text? Independent of any chunker."""
