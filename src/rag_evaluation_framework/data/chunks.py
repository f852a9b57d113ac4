"""Chunks: pieces of documents, with and without their position."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..base.files import checked_path, json_lines, write_new
from ..base.outside import shown
from ..errors import DatasetError, SpanError
from .documents import Document
from .ids import ChunkId, DocumentId, PositionAwareChunkId, canonical_chunk_id, content_digest, generate_pa_chunk_id
from .spans import CharacterSpan
from .values import check_offsets, check_texts, copy_metadata, items_of


@dataclass(frozen=True, slots=True)
class Chunk:
    """Chunk of a document, without its position.

    Attributes:
        id: `generate_chunk_id(content)` of the text as it was chunked; it stays where the text is rewritten.
        content: The text.
        doc_id: The document it was cut from.
        metadata: Anything else, for example `{"section": "Introduction"}`; copied.

    Raises:
        SpanError: A field is of another type.
    """

    id: ChunkId
    content: str
    doc_id: DocumentId
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not type(self.id) is type(self.content) is type(self.doc_id) is str:
            check_texts(self, SpanError, "id", "content", "doc_id")
        copy_metadata(self, SpanError)


@dataclass(frozen=True, slots=True)
class PositionAwareChunk:
    """Chunk of a document with its position.

    Built-in chunkers keep `document.content[start:end] == content`. Of a chunker that tidies white space, the content
    is the chunker's own text, and the position that of the document's.

    Attributes:
        id: `generate_pa_chunk_id(content)` of the text as it was chunked; it stays where the text is rewritten. Equal
            texts share an id, so no store takes it for a key.
        content: The text.
        doc_id: The document it was cut from.
        start: First character, 0-based.
        end: One past the last character.
        metadata: Anything else, for example `{"section": "Introduction"}`; copied.

    Raises:
        SpanError: `start` is negative or after `end`, or a field is of another type.
    """

    id: PositionAwareChunkId
    content: str
    doc_id: DocumentId
    start: int
    end: int
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not (
            type(self.start) is type(self.end) is int
            and type(self.id) is type(self.content) is type(self.doc_id) is str
        ):  # quick, as there are many
            check_texts(self, SpanError, "id", "content", "doc_id")
            check_offsets(self, SpanError)
        copy_metadata(self, SpanError)
        if not 0 <= self.start <= self.end:
            raise SpanError(f"chunk [{self.start}:{self.end}] of {self.doc_id!r}: expected 0 <= start <= end")

    @classmethod
    def of(
        cls, document: Document, start: int, end: int, metadata: Mapping[str, Any] | None = None
    ) -> "PositionAwareChunk":
        """Return the chunk of a document from `start` up to, but not including, `end`.

        Raises:
            SpanError: `end` is past the end of the document, or `start` is negative or after `end`.
        """
        if end > len(document.content):
            raise SpanError(
                f"chunk [{start}:{end}] of {document.id!r} ends after the document's {len(document.content)} characters"
            )
        content = document.content[start:end]
        kept: Mapping[str, Any] = {} if metadata is None else metadata
        return cls(generate_pa_chunk_id(content), content, document.id, start, end, kept)

    def to_span(self) -> CharacterSpan:
        """Return the chunk's position as a span, with its content as the text if that has the right length."""
        text = self.content if len(self.content) == self.end - self.start else ""
        return CharacterSpan(self.doc_id, self.start, self.end, text)


AnyChunk: TypeAlias = Chunk | PositionAwareChunk
"""Chunk as retrievers index it, stores keep it and rerankers order it: with its position, if that is known."""


def describe_chunk(chunk: AnyChunk) -> str:
    """Return a chunk as messages call it: by its position or, without one, by the beginning of its text."""
    if isinstance(chunk, PositionAwareChunk):
        return f"chunk [{chunk.start}:{chunk.end}] of {chunk.doc_id!r}"
    return f"chunk {chunk.content[:40]!r} of {chunk.doc_id!r}"


# Registry of chunks: look up chunks and their positions by id.

SCHEMA_VERSION = 1
_TYPE = "chunk-registry"
_NEEDED, _PLACE = ("id", "content", "doc_id"), ("start", "end")


class ChunkRegistry:
    """Registry of every occurrence of every chunk, in the order of registration.

    The same text at two positions has one id and two occurrences. Methods that take an id accept both the plain and the
    position-aware id of a text; methods that return one chunk return the occurrence that was registered first.

    Args:
        chunks: Chunks to register, plain or position-aware.

    Raises:
        DatasetError: They are no chunks, or one id is used for two different texts.
    """

    def __init__(self, chunks: Iterable[AnyChunk] = ()) -> None:
        self._known: dict[object, AnyChunk] = {}
        self._alike: defaultdict[ChunkId, list[AnyChunk]] = defaultdict(list)  # both forms of an id
        self._contents: dict[str, str] = {}
        for chunk in items_of(object, chunks, "ChunkRegistry: chunks", "a list of chunks", DatasetError):
            self.register(chunk)

    def register(self, chunk: AnyChunk) -> None:
        """Add a chunk, plain or position-aware; only the first with the same id and position is kept.

        Raises:
            DatasetError: It is not a chunk, or its id is already registered with another text.
        """
        given: Any = chunk
        if not isinstance(given, Chunk | PositionAwareChunk):
            raise DatasetError(f"got {shown(chunk)}; expected a Chunk or a PositionAwareChunk")
        if self._contents.setdefault(chunk.id, chunk.content) != chunk.content:
            raise DatasetError(
                f"the id {chunk.id!r} is used for {self._contents[chunk.id][:40]!r} and for {chunk.content[:40]!r}; "
                "give every text its own id, such as generate_pa_chunk_id(content)"
            )
        if chunk not in self:
            self._known[_key(chunk)] = chunk
            self._alike[canonical_chunk_id(chunk.id)].append(chunk)

    def register_chunk(self, chunk: Chunk) -> None:
        """Add a chunk without a position, as `register` does."""
        self.register(chunk)

    def register_pa_chunk(self, chunk: PositionAwareChunk) -> None:
        """Add a position-aware chunk, as `register` does."""
        self.register(chunk)

    def get(self, chunk_id: str) -> AnyChunk | None:
        """Return the chunk with this id, or else with the other form of the id; None if unknown."""
        alike, known = self._called(chunk_id), chunk_id in self._contents
        return next((chunk for chunk in alike if chunk.id == chunk_id or not known), None)

    def get_chunk(self, chunk_id: str) -> Chunk | None:
        """Return the plain chunk with this id, or None."""
        return next((chunk for chunk in self._called(chunk_id) if isinstance(chunk, Chunk)), None)

    def get_pa_chunk(self, chunk_id: str) -> PositionAwareChunk | None:
        """Return the position-aware chunk with this id, or None."""
        return next((chunk for chunk in self._called(chunk_id) if isinstance(chunk, PositionAwareChunk)), None)

    def get_span(self, chunk_id: str) -> CharacterSpan | None:
        """Return the position of a chunk, or None if it is unknown."""
        return next(iter(self.get_spans(chunk_id)), None)

    def get_spans(self, chunk_id: str) -> tuple[CharacterSpan, ...]:
        """Return every known position of a chunk's text; empty if none is known."""
        return tuple(chunk.to_span() for chunk in self._called(chunk_id) if isinstance(chunk, PositionAwareChunk))

    def occurrences(self, chunk_id: str) -> tuple[AnyChunk, ...]:
        """Return all chunks with this id, or else with the other form of the id; empty if unknown."""
        alike = tuple(self._called(chunk_id))
        return tuple(chunk for chunk in alike if chunk.id == chunk_id) or alike

    def _called(self, chunk_id: str) -> Sequence[AnyChunk]:
        return self._alike.get(canonical_chunk_id(chunk_id), ())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the positions and texts of all chunks, 64 hexadecimal digits; identifies a chunking of a corpus.

        Order and repetitions do not matter. A chunk without a position counts by its document and text, unless its text
        has a position elsewhere.
        """
        return chunking_fingerprint(self)

    def save(self, path: str | Path) -> Path:
        """Write the chunks to a JSONL file, atomically: a header with count and fingerprint, then one chunk per line.

        Returns:
            The path.

        Raises:
            DatasetError: The file exists or cannot be written, or the metadata of a chunk cannot be written as JSON.
        """
        path = checked_path(path)
        header = {"schema_version": SCHEMA_VERSION, "type": _TYPE, "chunks": len(self), "fingerprint": self.fingerprint}
        try:
            lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in (header, *map(_record, self))]
        except (TypeError, ValueError) as error:
            raise DatasetError(f"{path}: the metadata of a chunk cannot be written as JSON: {error}") from error
        write_new(path, "".join(f"{line}\n" for line in lines))
        return path

    @classmethod
    def load(cls, path: str | Path) -> "ChunkRegistry":
        """Load a registry that `save` wrote.

        Raises:
            DatasetError: The file cannot be read, is not a registry of chunks, or does not match its header; the
                message names the line.
        """
        path = checked_path(path)
        lines = json_lines(path)
        header = next(lines, (1, None))[1]
        if not isinstance(header, dict) or header.get("type") != _TYPE:
            raise DatasetError(f"{path}: is not a registry of chunks; ChunkRegistry.save writes one")
        version = header.get("schema_version")
        if version is True or version != SCHEMA_VERSION:
            raise DatasetError(f"{path}: schema_version is {shown(version, 60)}; this version reads {SCHEMA_VERSION}")
        registry = cls()
        for number, record in lines:
            try:
                registry.register(_chunk(record))
            except ValueError as error:
                raise DatasetError(f"{path}: line {number}: {error}") from error
        if (len(registry), registry.fingerprint) != (header.get("chunks"), header.get("fingerprint")):
            raise DatasetError(
                f"{path}: its {len(registry)} chunks are not those of its header ({shown(header.get('chunks'), 60)}); "
                "it was truncated or edited: save the chunks again"
            )
        return registry

    def __contains__(self, item: object) -> bool:
        """Return whether a chunk, or an id in either form, is registered."""
        if isinstance(item, Chunk | PositionAwareChunk):
            return _key(item) in self._known
        return isinstance(item, str) and self.get(item) is not None

    def __iter__(self) -> Iterator[AnyChunk]:
        return iter(tuple(self._known.values()))

    def __len__(self) -> int:
        """Return the number of occurrences."""
        return len(self._known)

    def __repr__(self) -> str:
        return f"ChunkRegistry({len(self)} chunks, {len(self._contents)} ids)"


def _key(chunk: AnyChunk) -> object:
    """Return the identity of an occurrence: its position or, without one, the whole chunk."""
    return (chunk.id, chunk.doc_id, chunk.start, chunk.end) if isinstance(chunk, PositionAwareChunk) else chunk


def chunking_fingerprint(chunks: Iterable[AnyChunk]) -> str:
    """Return the `ChunkRegistry.fingerprint` of some chunks, whatever their ids."""
    entries: set[tuple[str, int, int, str]] = set()
    for chunk in chunks:
        start, end = (chunk.start, chunk.end) if isinstance(chunk, PositionAwareChunk) else (-1, -1)
        entries.add((chunk.doc_id, start, end, content_digest(chunk.content)))
    placed = {digest for _, start, _, digest in entries if start >= 0}
    return content_digest(json.dumps(sorted(each for each in entries if each[1] >= 0 or each[3] not in placed)))


def _record(chunk: AnyChunk) -> dict[str, Any]:
    place = {"start": chunk.start, "end": chunk.end} if isinstance(chunk, PositionAwareChunk) else {}
    metadata = {"metadata": dict(chunk.metadata)} if chunk.metadata else {}
    return {"id": chunk.id, "content": chunk.content, "doc_id": chunk.doc_id, **place, **metadata}


def _chunk(record: Any) -> AnyChunk:
    if not isinstance(record, dict):
        raise DatasetError(f"expected an object, got {shown(record, 60)}")
    fields = cast("dict[str, Any]", record)
    is_placed = not fields.keys().isdisjoint(_PLACE)
    needed = {*_NEEDED, *(_PLACE if is_placed else ())}
    if not needed <= fields.keys() <= {*needed, "metadata"}:
        raise DatasetError(
            f"has the keys {shown([*fields])}; expected {', '.join(_NEEDED)}, of a place {' and '.join(_PLACE)}, and "
            "metadata if there is any"
        )
    return PositionAwareChunk(**fields) if is_placed else Chunk(**fields)
