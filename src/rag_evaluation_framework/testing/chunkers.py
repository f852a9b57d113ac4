"""Conformance suite for chunkers."""

from abc import ABC, abstractmethod
from typing import ClassVar

from ..base.coroutines import adapted
from ..components.chunkers.function import position_aware
from ..contracts.roles import Chunker, PositionAwareChunker
from ..data import Document, DocumentId, PositionAwareChunk, generate_pa_chunk_id
from .conformance import AWKWARD_TEXTS, assert_named


class ChunkerConformance(ABC):
    """Conformance suite for chunkers: subclass it, return yours from `make`, and let pytest collect the subclass.

    A chunker that returns plain texts is tested as evaluations use it, inside a `ChunkerPositionAdapter`; it may tidy
    white space.

    Attributes:
        covers_everything: Whether every character except white space belongs to a chunk. Set it to False for a chunker
            that drops text on purpose.
        limit: The maximum length of a chunk, as `length` counts, or None if there is no limit.
    """

    covers_everything: ClassVar[bool] = True
    limit: ClassVar[int | None] = None

    @abstractmethod
    def make(self) -> Chunker | PositionAwareChunker:
        """Return the chunker under test."""

    def length(self, text: str) -> int:
        """Return how long a chunk is, in the unit of `limit`; by default in characters."""
        return len(text)

    def test_content_is_the_text_at_its_position(self) -> None:
        """`document.content[start:end] == content` for every chunk; white space apart if texts are all it returns."""
        exact = isinstance(adapted(self.make()), PositionAwareChunker)
        for case, document, chunks in self._cases():
            for chunk in chunks:
                there = document.content[chunk.start : chunk.end]
                same = chunk.content == there if exact else chunk.content.split() == there.split()
                assert same, (
                    f"{case}: the chunk at [{chunk.start}:{chunk.end}] holds {chunk.content!r}, the document {there!r}"
                )

    def test_chunks_lie_inside_the_document(self) -> None:
        """Each chunk starts and ends inside the text, and is not empty."""
        for case, document, chunks in self._cases():
            for chunk in chunks:
                assert 0 <= chunk.start < chunk.end <= len(document.content), (
                    f"{case}: [{chunk.start}:{chunk.end}] of {len(document.content)} characters; "
                    "expected 0 <= start < end <= length"
                )

    def test_chunks_come_in_reading_order(self) -> None:
        """The starts of the chunks never fall."""
        for case, _, chunks in self._cases():
            starts = [chunk.start for chunk in chunks]
            assert starts == sorted(starts), f"{case}: chunks start at {starts}"

    def test_every_visible_character_is_covered(self) -> None:
        """No character except white space is lost, unless `covers_everything` is False."""
        for case, document, chunks in self._cases():
            covered = {position for chunk in chunks for position in range(chunk.start, chunk.end)}
            lost = [
                position
                for position, character in enumerate(document.content)
                if position not in covered and not character.isspace()
            ]
            assert not (lost and self.covers_everything), (
                f"{case}: {len(lost)} characters belong to no chunk, the first at {lost[0]}: "
                f"{document.content[lost[0] : lost[0] + 20]!r}"
            )

    def test_no_chunk_is_larger_than_the_limit(self) -> None:
        """No chunk is longer than `limit`, except for a single character."""
        if self.limit is None:
            return
        for case, _, chunks in self._cases():
            for chunk in chunks:
                length = self.length(chunk.content)
                assert length <= self.limit or len(chunk.content) == 1, (
                    f"{case}: a chunk is {length} long, expected at most {self.limit}: {chunk.content!r}"
                )

    def test_chunks_are_the_same_every_time(self) -> None:
        """A chunker that was used on other documents, and an equal chunker, produce the same chunks."""
        chunker = position_aware(self.make())
        for _ in range(2):
            for case, document, chunks in self._cases():
                again = list(chunker.chunk_with_positions(document))
                assert again == chunks, f"{case}: cut into {chunks}, then into {again}"

    def test_ids_come_from_the_content(self) -> None:
        """Each id is `generate_pa_chunk_id(content)`, so that equal texts have equal ids in every run."""
        for case, _, chunks in self._cases():
            for chunk in chunks:
                expected = generate_pa_chunk_id(chunk.content)
                assert chunk.id == expected, f"{case}: {chunk.content!r} has the id {chunk.id!r}, expected {expected!r}"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time."""
        assert_named(self.make(), self.make())

    def _chunks(self, document: Document) -> list[PositionAwareChunk]:
        return list(position_aware(self.make()).chunk_with_positions(document))

    def _cases(self) -> list[tuple[str, Document, list[PositionAwareChunk]]]:
        """Return awkward texts as documents, each with its chunks, from a new chunker."""
        documents = [(case, Document(DocumentId("notes/a.md"), text)) for case, text in AWKWARD_TEXTS.items()]
        return [(case, document, self._chunks(document)) for case, document in documents]
