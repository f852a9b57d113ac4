"""Naming chunks: the id under which the dataset knows a retrieved chunk."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from rag_evaluation_framework._outside import raised, shown
from rag_evaluation_framework._support.exits import no_exit
from rag_evaluation_framework.data.chunks import AnyChunk, PositionAwareChunk
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id, content_digest, is_from_content
from rag_evaluation_framework.errors import ComponentExited, ConfigError, DatasetError
from rag_evaluation_framework.levels.chunk_synonyms import synonyms_by_beginning, synonyms_of_chunks

_PREFIX, _DIGITS = "chunk_", 12
_HASHED = re.compile(r"chunk_(?P<digest>[0-9a-f]{6,64})|(?P<bare>[0-9a-f]{8,64})")


class ChunkIds:
    """Names chunks as the dataset does.

    A chunk is known by the id that its retriever gives it (unless it gives that to several texts) or by a hash of its
    text, whichever of these the dataset holds. A hash is `chunk_` and at least 6 hexadecimal digits, or at least 8
    digits alone; as many as the ids of the dataset have. The text is that of the chunk's place, so that a retriever may
    rewrite what it returns, or the chunk's own, so that a chunker may change it. A user's function replaces both; equal
    texts without a place in one document are then the first of them.

    A result without an id that has no text, or an empty one, is no chunk.

    Where the dataset names one chunk by several ids, one of them stands for all, in results and in the ground truth.
    Without a list of chunks these are only hashes of which one is the beginning of the other.

    Attributes:
        present: The ids of the dataset that are those of listed chunks, one for each chunk.
        absent: The other ids of the dataset, one for each chunk.

    Raises:
        ConfigError: The function fails, returns something other than a text, or gives one id to two texts; or the
            retriever gives an id of the dataset to two texts.
        DatasetError: An id of the dataset fits several texts, or chunks that the dataset tells apart.
    """

    def __init__(
        self,
        known: Iterable[ChunkId],
        chunks: Sequence[AnyChunk] | None,
        name_chunk: Callable[[AnyChunk, int], str] | None,
        read: Callable[[Hit], str],
    ) -> None:
        self.known = frozenset(known)
        hashed = {unit: match for unit in self.known if (match := _HASHED.fullmatch(unit))}
        forms = {("" if match["bare"] else _PREFIX, len(match["bare"] or match["digest"])) for match in hashed.values()}
        self.forms = sorted(forms | {(_PREFIX, _DIGITS)}, key=lambda form: (form[1], form[0] == ""))
        self.digests: dict[ChunkId, str] = {}
        self.by_hash = name_chunk is None
        self.read = read
        self.own, self.shared = _named(chunks or (), name_chunk, read)
        confused = self.shared & self.known
        if confused:
            raise ConfigError(
                f"the retriever gives the id {min(confused)!r}, which the dataset names, to several texts; let every "
                "text have an id of its own, or name chunks by chunk_id=(chunk, number) -> id"
            )
        self.listed = chunks is not None
        listed = chunks if chunks and self.known else ()
        names = [ids for chunk in listed if (ids := self._names(Hit.of(chunk)))]
        self.synonyms = (
            synonyms_of_chunks(names)
            if self.listed
            else synonyms_by_beginning({unit: match["bare"] or match["digest"] for unit, match in hashed.items()})
        )
        self.present = frozenset(map(self.name, chain.from_iterable(names)))
        self.absent = frozenset(map(self.name, self.known)) - self.present

    def of(self, hit: Hit) -> ChunkId | None:
        """Return the id of a hit, or None if it cannot be told.

        Raises:
            DatasetError: An id of the dataset is the beginning of the hashes of two texts; or the chunks are not
                listed, and the hit has two ids of the dataset.
        """
        names = self._names(hit)
        if not names:
            return next((unit for _, unit in self._candidates(hit)), None)
        units = list(dict.fromkeys(map(self.name, names)))
        if len(units) > 1 and not self.listed:
            raise DatasetError(
                f"a result has two ids of the dataset, {units[0]!r} and {units[1]!r}; name every chunk by one id, or "
                "let the retriever's `chunks` list them, so that all ids of a chunk are known"
            )
        return units[0]

    def of_chunk(self, chunk: AnyChunk) -> ChunkId:
        """Return the first id of a chunk: that of the retriever (or of a user's function), or its hash."""
        return next(unit for _, unit in self._candidates(Hit.of(chunk)))

    def name(self, unit: ChunkId) -> ChunkId:
        """Return the id that stands for all of which the dataset names the same chunk."""
        return self.synonyms.get(unit, unit)

    def _names(self, hit: Hit) -> dict[ChunkId, int]:
        """Return the ids of a hit that the dataset has, best first, and how well each fits: the lower, the better."""
        names: dict[ChunkId, int] = {}
        for fit, unit in self._candidates(hit):
            if unit in self.known:
                names.setdefault(unit, fit)
        return names

    def _candidates(self, hit: Hit) -> Iterator[tuple[int, ChunkId]]:
        given = None if hit.chunk_id is None or not self.by_hash else canonical_chunk_id(hit.chunk_id)
        given = None if given in self.shared else given
        if given is not None and given in self.known:  # before what the place says: one place may have several ids
            yield 0, given
        own = self.own.get(hit.identity)
        if own is not None:
            yield 1, own
        if not self.by_hash:
            return
        original = self.read(hit)
        if given is not None:
            yield 1, given
            if is_from_content(given):
                for unit in self._hashes(given.removeprefix(_PREFIX), original or hit.text or given):
                    yield 2, unit
        for fit, text in enumerate(dict.fromkeys((original, hit.text)), start=2):
            if text:  # nothing was read at a place that there is not
                for unit in self._hashes(content_digest(text), text):
                    yield fit, unit

    def _hashes(self, digest: str, shown: str) -> Iterator[ChunkId]:
        """Yield a hash in all forms that the dataset has, as far as its digits go."""
        for prefix, length in self.forms:
            if length > len(digest):
                return
            unit = ChunkId(prefix + digest[:length])
            first = self.digests.setdefault(unit, digest) if unit in self.known else digest
            if not (first.startswith(digest) or digest.startswith(first)):
                raise DatasetError(
                    f"the chunk id {unit!r} of the dataset matches two chunks, with the hashes {first[:_DIGITS]} and "
                    f"{digest[:_DIGITS]} (of {shown[:40]!r}); write more digits"
                )
            yield unit


def _named(
    chunks: Sequence[AnyChunk],
    name_chunk: Callable[[AnyChunk, int], str] | None,
    read: Callable[[Hit], str],
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
    try:
        with no_exit("chunk_id", f"naming {where.removeprefix('chunk_id of ')}"):
            name = name_chunk(chunk, number)
    except ComponentExited:
        raise
    except Exception as error:
        raise ConfigError(f"{where}: {raised(error)}; expected a function (chunk, number) -> id") from error
    if not isinstance(name, str):
        raise ConfigError(f"{where}: got {shown(name)}; expected a text, such as f'{{chunk.doc_id}}:{{number}}'")
    return name
