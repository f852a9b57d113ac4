"""Naming chunks: the id under which the dataset knows a retrieved chunk."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from ...base.exits import errors_as, no_exit
from ...base.outside import raised, shown
from ...data import AnyChunk, ChunkId, PositionAwareChunk
from ...data.hits import Hit
from ...data.ids import canonical_chunk_id, generate_chunk_id, is_from_content
from ...errors import ConfigError

NameChunk: TypeAlias = Callable[[AnyChunk, int], str]
"""A function from a chunk, and its number within its document, to the id under which the dataset knows it."""


class ChunkIds:
    """Names chunks as the dataset does.

    A chunk is known by the id that its retriever gives it (unless it gives that to several texts) or by the id that is
    made from its text, whichever of these the dataset holds. The text is that of the chunk's place, so that a retriever
    may rewrite what it returns, or the chunk's own, so that a chunker may change it. A user's function replaces both;
    equal texts without a place in one document are then the first of them.

    A result without an id that has no text, or an empty one, is no chunk.

    A dataset names a chunk by one id: of several that it fits, the first counts.

    Attributes:
        present: The ids of the dataset that are those of listed chunks.
        absent: The other ids of the dataset.

    Raises:
        ConfigError: The function fails, returns something other than a text, or gives one id to two texts; or the
            retriever gives an id of the dataset to two texts.
    """

    def __init__(
        self,
        known: Iterable[ChunkId],
        chunks: Sequence[AnyChunk] | None,
        name_chunk: NameChunk | None,
        read: Callable[[Hit], str],
    ) -> None:
        self.known = frozenset(known)
        self.by_hash = name_chunk is None
        self.read = read
        self.own, self.shared = _named_chunks(chunks or (), name_chunk, read)
        if confused := self.shared & self.known:
            raise ConfigError(
                f"the retriever gives the id {min(confused)!r}, which the dataset names, to several texts; let every "
                "text have an id of its own, or name chunks by chunk_id=(chunk, number) -> id"
            )
        listed = chunks if chunks and self.known else ()
        self.present = self.known & {self.of(Hit.of(chunk)) for chunk in listed}
        self.absent = self.known - self.present

    def of(self, hit: Hit) -> ChunkId | None:
        """Return the id of a hit: the first that the dataset has, else its first one, or None if it has none."""
        units = list(self._candidates(hit))
        return next((unit for unit in units if unit in self.known), units[0] if units else None)

    def of_chunk(self, chunk: AnyChunk) -> ChunkId:
        """Return the first id of a chunk: that of the retriever (or of a user's function), or its hash."""
        return next(self._candidates(Hit.of(chunk)))

    def _candidates(self, hit: Hit) -> Iterator[ChunkId]:
        """Yield the ids of a hit, best first."""
        given = None if hit.chunk_id is None or not self.by_hash else canonical_chunk_id(hit.chunk_id)
        given = None if given in self.shared else given
        if given is not None and given in self.known:  # before what the place says: one place may have several ids
            yield given
        if (own := self.own.get(hit.identity)) is not None:
            yield own
        if self.by_hash:
            if given is not None:
                yield given
            yield from map(generate_chunk_id, filter(None, (self.read(hit), hit.text)))  # no text is at no place


def _named_chunks(
    chunks: Sequence[AnyChunk], name_chunk: NameChunk | None, read: Callable[[Hit], str]
) -> tuple[dict[tuple[object, ...], ChunkId], frozenset[ChunkId]]:
    """Return the ids of the chunks by identity, and the ids that are given to several texts and so name none."""
    numbers: dict[str, int] = defaultdict(int)
    texts: dict[tuple[ChunkId, bool], str] = {}
    shared: set[ChunkId] = set()
    own: dict[tuple[object, ...], ChunkId] = {}
    for chunk in chunks:
        number, hit = numbers[chunk.doc_id], Hit.of(chunk)
        numbers[chunk.doc_id] += 1
        name = canonical_chunk_id(chunk.id if name_chunk is None else _name(chunk, number, name_chunk))
        by_id = not hit.placed and is_from_content(chunk.id)  # its text may have been rewritten since it got the id
        text = canonical_chunk_id(chunk.id) if by_id else " ".join(read(hit).split())  # a chunker may tidy white space
        first = texts.setdefault((name, by_id), text)
        if first != text:
            if name_chunk is not None:
                raise ConfigError(
                    f"chunk_id gives {shown(name)} to {first[:40]!r} and to {text[:40]!r}: every text needs its own id"
                )
            shared.add(name)
        if hit.placed or hit.identity not in own:
            own[hit.identity] = name
    return {place: name for place, name in own.items() if name not in shared}, frozenset(shared)


def _name(chunk: AnyChunk, number: int, name_chunk: Callable[[AnyChunk, int], Any]) -> str:
    place = f"[{chunk.start}:{chunk.end}]" if isinstance(chunk, PositionAwareChunk) else ""
    where = f"chunk_id of {chunk.doc_id}{place}, chunk {number} of its document"
    with (
        errors_as(lambda error: ConfigError(f"{where}: {raised(error)}; expected a function (chunk, number) -> id")),
        no_exit("chunk_id", f"naming {where.removeprefix('chunk_id of ')}"),
    ):
        name = name_chunk(chunk, number)
    if not isinstance(name, str):
        raise ConfigError(f"{where}: got {shown(name)}; expected a text, such as f'{{chunk.doc_id}}:{{number}}'")
    return name
