"""Hits, rankings and retrievals: the ranked results of a retriever, with its stages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rag_evaluation_framework.data.chunks import AnyChunk, PositionAwareChunk
from rag_evaluation_framework.data.ids import DocumentId, canonical_chunk_id, generate_chunk_id, is_from_content
from rag_evaluation_framework.data.spans import CharacterSpan


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked result; fields that the retriever does not report are None.

    Attributes:
        doc_id: The document, or None if unknown.
        start: First character in the document, or None if unknown.
        end: One past the last character, or None if unknown.
        chunk_id: The chunk's id, or None.
        text: The retrieved text, or None.
        score: The retriever's own score, higher is better, or None.
        sources: Names of where the text may be from, best first, as metadata give them. Unlike `doc_id` they may name
            no document; a hit that was located has none.
    """

    doc_id: DocumentId | None = None
    start: int | None = None
    end: int | None = None
    chunk_id: str | None = None
    text: str | None = None
    score: float | None = None
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, chunk: AnyChunk, score: float | None = None) -> "Hit":
        """Return the hit for a chunk, without a position if the chunk has none."""
        if isinstance(chunk, PositionAwareChunk):
            return cls(chunk.doc_id, chunk.start, chunk.end, chunk.id, chunk.content, score)
        return cls(chunk.doc_id, chunk_id=chunk.id, text=chunk.content, score=score)

    @property
    def placed(self) -> bool:
        """Whether the hit has a position in the corpus."""
        return self.doc_id is not None and self.start is not None and self.end is not None

    @property
    def span(self) -> CharacterSpan | None:
        """The position in the corpus, or None if the hit is not located."""
        if self.doc_id is None or self.start is None or self.end is None:
            return None
        return CharacterSpan(self.doc_id, self.start, self.end)

    @property
    def identity(self) -> tuple[object, ...]:
        """What the hit has in common with the same result elsewhere: document, start and end.

        Without a position it is the document and the chunk: by an id that follows from its content, as that is kept
        where texts are rewritten, else by the text, else by the id. Of equal texts in one document it is the same.
        """
        if self.placed:
            return self.doc_id, self.start, self.end
        if self.text and not is_from_content(self.chunk_id):
            return self.doc_id, generate_chunk_id(self.text)
        return self.doc_id, None if self.chunk_id is None else canonical_chunk_id(self.chunk_id)


@dataclass(frozen=True, slots=True)
class Stage:
    """Stage of a retrieval, such as `embed`, `search` or `rerank`.

    Attributes:
        name: What the stage does.
        seconds: Its duration on a monotonic clock; None where it was not measured for one question alone.
        hits: The ranking after the stage, if it differs from the final one.
    """

    name: str
    seconds: float | None
    hits: tuple[Hit, ...] | None = None


Ranking: TypeAlias = tuple[Hit, ...]
"""Hits, best first. The order of the list is the rank; scores never re-order it."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Retrieval for one question: the ranking and the stages that produced it.

    Attributes:
        hits: Best first.
        stages: In the order in which they ran.
        limit: The parameter of the retriever that ends the ranking where the corpus may hold more, such as
            `candidates=50 of RerankedRetriever`; None if there is none.
        complete: Whether it is known that the ranking would be no longer at a larger k.
    """

    hits: Ranking
    stages: tuple[Stage, ...] = ()
    limit: str | None = None
    complete: bool = False


Retrieved: TypeAlias = Retrieval | Sequence[AnyChunk] | Sequence[Hit]
"""What a retriever may return: the full record, or just its ranked chunks or hits."""
