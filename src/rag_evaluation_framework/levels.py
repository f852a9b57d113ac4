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
        units: Reads a ranking, best first, as the units of this level. Documents and chunks that repeat keep their
            first rank, and hits without an id are left out; spans are one a hit, and a text without a place is a span
            of a document that does not exist.
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
    # What has no place in the corpus stands in a document of its own, so that it keeps its rank and its length.
    return tuple(
        hit.span or CharacterSpan(DocumentId(f"\0{rank}"), 0, len(hit.text or ""))
        for rank, hit in enumerate(ranking, start=1)
    )


DOCUMENT: Level[DocumentId] = Level("document-level", _documents)
"""Did we find the right documents?"""

CHUNK: Level[ChunkId] = Level("chunk-level", _chunks)
"""Did we find the right chunks? Bound to one chunking."""

TOKEN: Level[CharacterSpan] = Level("token-level", _spans)
"""Did we find the right text? Independent of any chunker."""
