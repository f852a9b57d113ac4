"""Finding chunks and their places by id."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.files import json_lines, write_new
from rag_evaluation_framework.ids import ChunkId, DocumentId, PositionAwareChunkId, canonical_chunk_id, content_digest
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Chunk, PositionAwareChunk

SCHEMA_VERSION = 1
_TYPE = "chunk-registry"


class ChunkRegistry:
    """Every occurrence of every chunk, in the order in which they were registered.

    The same text at two places has one id and is two occurrences. Whatever takes an id takes the position-aware and the
    plain one of a content alike, and of several occurrences returns the first that was registered.

    Args:
        chunks: What to register, of either kind.

    Raises:
        DatasetError: An id stands for two texts.
    """

    def __init__(self, chunks: Iterable[Chunk | PositionAwareChunk] = ()) -> None:
        self._chunks: list[Chunk | PositionAwareChunk] = []
        self._plain: defaultdict[ChunkId, list[Chunk]] = defaultdict(list)
        self._placed: defaultdict[ChunkId, list[PositionAwareChunk]] = defaultdict(list)
        self._known: set[object] = set()
        self._contents: dict[str, str] = {}
        for chunk in chunks:
            self.register(chunk)

    def register(self, chunk: Chunk | PositionAwareChunk) -> None:
        """Add a chunk of either kind; one that is registered already is not added again.

        Raises:
            DatasetError: It is no chunk, or its id was registered with another text.
        """
        if isinstance(chunk, PositionAwareChunk):
            self.register_pa_chunk(chunk)
        else:
            self.register_chunk(chunk)

    def register_chunk(self, chunk: Chunk) -> None:
        """Add a chunk without a place; one that equals it is not added again.

        Raises:
            DatasetError: It is no such chunk, or its id was registered with another text.
        """
        if self._is_new(chunk, Chunk):
            self._plain[canonical_chunk_id(chunk.id)].append(chunk)

    def register_pa_chunk(self, chunk: PositionAwareChunk) -> None:
        """Add a chunk that knows its place; of one id and place only the first is kept.

        Raises:
            DatasetError: It is no such chunk, or its id was registered with another text.
        """
        if self._is_new(chunk, PositionAwareChunk):
            self._placed[canonical_chunk_id(chunk.id)].append(chunk)

    def get(self, chunk_id: str) -> Chunk | PositionAwareChunk | None:
        """Return the chunk of exactly that id or, if there is none, of the other form of the id; None if unknown."""
        return next(iter(self.occurrences(chunk_id)), None)

    def get_chunk(self, chunk_id: str) -> Chunk | None:
        """Return the chunk without a place, or None."""
        return next(iter(self._plain.get(canonical_chunk_id(chunk_id), ())), None)

    def get_pa_chunk(self, chunk_id: str) -> PositionAwareChunk | None:
        """Return the chunk that knows its place, or None."""
        return next(iter(self._placed.get(canonical_chunk_id(chunk_id), ())), None)

    def get_span(self, chunk_id: str) -> CharacterSpan | None:
        """Return the place of a chunk, or None if no place is known."""
        return next(iter(self.get_spans(chunk_id)), None)

    def get_spans(self, chunk_id: str) -> tuple[CharacterSpan, ...]:
        """Return every place at which the text of a chunk stands; empty if none is known."""
        return tuple(chunk.to_span() for chunk in self._placed.get(canonical_chunk_id(chunk_id), ()))

    def occurrences(self, chunk_id: str) -> tuple[Chunk | PositionAwareChunk, ...]:
        """Return every chunk of exactly that id or, if there is none, of the other form of the id; empty if unknown."""
        key = canonical_chunk_id(chunk_id)
        alike = [*self._plain.get(key, ()), *self._placed.get(key, ())]
        return tuple(chunk for chunk in alike if chunk.id == chunk_id) or tuple(alike)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the places and texts of all chunks, 64 hexadecimal digits: one chunking of one corpus has one.

        Neither the order nor repetitions play a part; chunks without a place play none.
        """
        return chunking_fingerprint(chunk for found in self._placed.values() for chunk in found)

    def save(self, path: str | Path) -> Path:
        """Write the chunks as JSONL, whole or not at all: a header with number and fingerprint, then a chunk a line.

        Returns:
            The path.

        Raises:
            DatasetError: The file exists or cannot be written, or the metadata of a chunk is no JSON.
        """
        path = Path(path)
        header: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "type": _TYPE}
        header |= {"chunks": len(self), "fingerprint": self.fingerprint}
        try:
            lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in (header, *map(_record, self))]
        except (TypeError, ValueError) as error:
            raise DatasetError(f"{path}: the metadata of a chunk cannot be written as JSON: {error}") from error
        write_new(path, "".join(f"{line}\n" for line in lines))
        return path

    @classmethod
    def load(cls, path: str | Path) -> "ChunkRegistry":
        """Read what `save` wrote.

        Raises:
            DatasetError: The file cannot be read, is no such file, or does not hold the chunks that its header tells;
                the message names the line.
        """
        path = Path(path)
        lines = json_lines(path)
        header = next(lines, (1, None))[1]
        if not isinstance(header, dict) or header.get("type") != _TYPE:
            raise DatasetError(f"{path}: is no registry of chunks; ChunkRegistry.save writes one")
        version = header.get("schema_version")
        if version is True or version != SCHEMA_VERSION:
            raise DatasetError(f"{path}: schema_version is {version!r:.60}; this version reads {SCHEMA_VERSION}")
        count, fingerprint = header.get("chunks"), header.get("fingerprint")
        if type(count) is not int or not isinstance(fingerprint, str):
            raise DatasetError(
                f"{path}: line 1: wanted the number of chunks and their fingerprint, got {count!r:.60} and "
                f"{fingerprint!r:.60}; without them nobody can tell whether the file is whole: save the chunks again"
            )
        registry = cls()
        for number, record in lines:
            try:
                registry.register(_chunk(record))
            except ValueError as error:
                raise DatasetError(f"{path}: line {number}: {error}") from error
        if len(registry) != count:
            raise DatasetError(
                f"{path}: chunks in the file: {len(registry)}; in its header: {count}. It was cut short or edited: "
                "save the chunks again"
            )
        if registry.fingerprint != fingerprint:
            raise DatasetError(
                f"{path}: its chunks are not those that its header tells of (fingerprint {registry.fingerprint}, there "
                f"{fingerprint:.70}); it was edited: save the chunks again"
            )
        return registry

    def _is_new(self, chunk: Any, kind: type[Chunk] | type[PositionAwareChunk]) -> bool:
        if not isinstance(chunk, kind):
            raise DatasetError(f"got {chunk!r:.80}; wanted a {kind.__name__}, or use register(chunk) for either kind")
        if self._contents.setdefault(chunk.id, chunk.content) != chunk.content:
            raise DatasetError(
                f"the id {chunk.id!r} stands for {self._contents[chunk.id][:40]!r} and for {chunk.content[:40]!r}; "
                "give every text its own id, such as generate_pa_chunk_id(content)"
            )
        if chunk in self:
            return False
        self._known.add(_key(chunk))
        self._chunks.append(chunk)
        return True

    def __contains__(self, item: object) -> bool:
        """Return whether an id, in either form, or a chunk is registered."""
        if isinstance(item, Chunk | PositionAwareChunk):
            return _key(item) in self._known
        return isinstance(item, str) and bool(self.occurrences(item))

    def __iter__(self) -> Iterator[Chunk | PositionAwareChunk]:
        return iter(tuple(self._chunks))

    def __len__(self) -> int:
        """Return the number of occurrences."""
        return len(self._chunks)

    def __repr__(self) -> str:
        return f"ChunkRegistry({len(self)} chunks, {len(self._contents)} ids)"


def _key(chunk: Chunk | PositionAwareChunk) -> object:
    """Return what makes an occurrence: the place or, without one, everything that is known."""
    return (chunk.id, chunk.doc_id, chunk.start, chunk.end) if isinstance(chunk, PositionAwareChunk) else chunk


def chunking_fingerprint(chunks: Iterable[PositionAwareChunk]) -> str:
    """Return what `ChunkRegistry.fingerprint` returns, whatever the ids of the chunks are."""
    places = {(chunk.doc_id, int(chunk.start), int(chunk.end), content_digest(chunk.content)) for chunk in chunks}
    return content_digest(json.dumps(sorted(places)))


def _record(chunk: Chunk | PositionAwareChunk) -> dict[str, Any]:
    record: dict[str, Any] = {"id": chunk.id, "content": chunk.content, "doc_id": chunk.doc_id}
    if isinstance(chunk, PositionAwareChunk):
        record |= {"start": int(chunk.start), "end": int(chunk.end)}
    return {**record, "metadata": dict(chunk.metadata)} if chunk.metadata else record


def _chunk(record: Any) -> Chunk | PositionAwareChunk:
    if not isinstance(record, dict):
        raise DatasetError(f"wanted an object, got {record!r:.60}")
    fields: dict[str, Any] = {"metadata": {}, **record}
    for key in ("id", "content", "doc_id"):
        if not isinstance(fields.get(key), str):
            raise DatasetError(f"{key}: wanted a text, got {fields.get(key)!r:.60}")
    if not isinstance(fields["metadata"], dict):
        raise DatasetError(f"metadata: wanted an object, got {record['metadata']!r:.60}")
    unknown = fields.keys() - {"id", "content", "doc_id", "metadata", "start", "end"}
    if unknown:
        raise DatasetError(f"unknown key {min(unknown)!r:.60}")
    text, doc_id = fields["content"], DocumentId(fields["doc_id"])
    metadata = cast("dict[str, Any]", fields["metadata"])
    if fields.keys().isdisjoint({"start", "end"}):
        return Chunk(ChunkId(fields["id"]), text, doc_id, metadata)
    start, end = fields.get("start"), fields.get("end")
    if type(start) is not int or type(end) is not int:
        raise DatasetError(f"start and end: wanted two integers, got {start!r:.60} and {end!r:.60}")
    return PositionAwareChunk(PositionAwareChunkId(fields["id"]), text, doc_id, start, end, metadata)
