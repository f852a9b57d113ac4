"""Naming chunks: the id under which the dataset knows a retrieved chunk."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rag_evaluation_framework._support.exits import no_exit
from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id, content_digest
from rag_evaluation_framework.errors import ComponentExited, ConfigError

_HASHED = re.compile(r"chunk_(?P<digest>[0-9a-f]{6,64})")

Place = tuple[str, int | None, int | None]
"""A document, start and end; a hit may lack the offsets, and its document be empty."""


class ChunkIds:
    """Names chunks as the dataset does.

    A chunk is known by the id that its retriever gives it (unless it gives that to several texts) or by the hash of its
    text, `chunk_` and as many hexadecimal digits as the ids of the dataset have, whichever of these the dataset holds.
    The text is that of the chunk's place, so that a retriever may rewrite what it returns. A user's function replaces
    both.

    Raises:
        ConfigError: The function fails, returns something other than a text, or gives one id to two texts; or the
            retriever gives an id of the dataset to two texts.
    """

    def __init__(
        self,
        known: Iterable[ChunkId],
        chunks: Sequence[PositionAwareChunk],
        name_chunk: Callable[[PositionAwareChunk, int], str] | None,
        read: Callable[[Hit], str],
    ) -> None:
        self.known = frozenset(known)
        self.lengths = sorted(
            {len(match["digest"]) for unit in self.known if (match := _HASHED.fullmatch(unit))} | {12}
        )
        self.by_hash = name_chunk is None
        self.read = read
        self.own, self.shared = _named(chunks, name_chunk, read)
        confused = self.shared & self.known
        if confused:
            raise ConfigError(
                f"the retriever gives the id {min(confused)!r}, which the dataset names, to several texts; let every "
                "text have an id of its own, or name chunks by chunk_id=(chunk, number) -> id"
            )

    def of(self, hit: Hit) -> ChunkId | None:
        """Return the id of a hit, or None if it cannot be told."""
        ids = list(self._candidates(hit))
        return next((unit for unit in ids if unit in self.known), ids[0] if ids else None)

    def all_of(self, chunk: PositionAwareChunk) -> Iterator[ChunkId]:
        """Yield every id under which a chunk could be known, first that of the retriever (or of a user's function)."""
        return self._candidates(Hit.of(chunk))

    def _candidates(self, hit: Hit) -> Iterator[ChunkId]:
        given = None if hit.chunk_id is None or not self.by_hash else canonical_chunk_id(hit.chunk_id)
        given = None if given in self.shared else given
        if given is not None and given in self.known:  # before what the place says: one place may have several ids
            yield given
        own = self.own.get((hit.doc_id or "", hit.start, hit.end))
        if own is not None:
            yield own
        if not self.by_hash:
            return
        if given is not None:
            yield given
        if hit.span is not None or hit.text is not None:
            digest = content_digest(self.read(hit))
            for length in self.lengths:
                yield ChunkId(f"chunk_{digest[:length]}")


def _named(
    chunks: Sequence[PositionAwareChunk],
    name_chunk: Callable[[PositionAwareChunk, int], str] | None,
    read: Callable[[Hit], str],
) -> tuple[dict[Place, ChunkId], frozenset[ChunkId]]:
    """Return the ids of the chunks by place, and the ids that are given to several texts and so name none of them."""
    numbers: dict[str, int] = defaultdict(int)
    texts: dict[ChunkId, str] = {}
    shared: set[ChunkId] = set()
    own: dict[Place, ChunkId] = {}
    for chunk in chunks:
        number, text = numbers[chunk.doc_id], read(Hit(chunk.doc_id, chunk.start, chunk.end, text=chunk.content))
        numbers[chunk.doc_id] += 1
        name = canonical_chunk_id(chunk.id if name_chunk is None else _name(chunk, number, name_chunk))
        if texts.setdefault(name, text) != text:
            if name_chunk is not None:
                raise ConfigError(
                    f"chunk_id gives {name!r} to {texts[name][:40]!r} and to {text[:40]!r}: every text needs an id "
                    "of its own"
                )
            shared.add(name)
        own[chunk.doc_id, chunk.start, chunk.end] = name
    return {place: name for place, name in own.items() if name not in shared}, frozenset(shared)


def _name(chunk: PositionAwareChunk, number: int, name_chunk: Callable[[PositionAwareChunk, int], Any]) -> str:
    where = f"chunk_id of {chunk.doc_id}[{chunk.start}:{chunk.end}], chunk {number} of its document"
    try:
        with no_exit("chunk_id", f"naming {where.removeprefix('chunk_id of ')}"):
            name = name_chunk(chunk, number)
    except ComponentExited:
        raise
    except Exception as error:
        raise ConfigError(
            f"{where}: {type(error).__name__}: {error}; expected a function (chunk, number) -> id"
        ) from error
    if not isinstance(name, str):
        raise ConfigError(f"{where}: got {name!r:.80}; expected a text, such as f'{{chunk.doc_id}}:{{number}}'")
    return name
