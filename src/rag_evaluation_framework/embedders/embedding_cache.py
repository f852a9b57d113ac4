"""Vectors on disk, so that no text is embedded twice: a folder for each embedder, and a small file for each vector.

A vector is found by what made it (the embedder's class, parameters and weights) and by the text. Whatever goes wrong
with the files, embedding goes on without them, with a note.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.files import from_home, is_unfinished, remove_abandoned
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.stages import seconds_reading
from rag_evaluation_framework.base.store import HASH, Cache, DamagedEntry, remove_empty
from rag_evaluation_framework.data.values import UNREADABLE, plain_offset
from rag_evaluation_framework.errors import InputError

T = TypeVar("T")

_FLOATS, _SECONDS = np.dtype("<f4"), np.dtype("<f8")
_VERSION = b"3"  # part of every key: what another version wrote is not found


class Embedding(NamedTuple):
    """A vector as it is kept.

    Attributes:
        vector: float32, shape (dimension,).
        truncated: Whether it covers only a part of the text.
        seconds: How long making it took; None if that is not kept.
    """

    vector: NDArray[np.float32]
    truncated: bool
    seconds: float | None = None


class KnownEmbedder(NamedTuple):
    """What the cache knows of an embedder.

    Attributes:
        dimension: The length of its vectors.
        input_limit: The most tokens that it reads of a text; None if there is no limit, or none that it tells.
    """

    dimension: int
    input_limit: int | None


class CachedVectors(NamedTuple):
    """What is kept of one embedder.

    Attributes:
        identity: Its class, parameters and weights, as JSON.
        vectors: How many there are.
        dimension: The length of each.
    """

    identity: str
    vectors: int
    dimension: int


class EmbeddingCache:
    """The cache below a root, in `<root>/cache/embeddings/`. It is made when something is first kept."""

    def __init__(self, root: str | Path = ".rag-eval") -> None:
        self.folder = Path(from_home(root)) / "cache" / "embeddings"
        self._broken: set[str] = set()

    def known(self, identity: str) -> KnownEmbedder | None:
        """Return what is known of an embedder, or None."""
        vectors = self._vectors_of(identity)
        record = self._tried("read", lambda: _record(vectors), None)
        return None if record is None else KnownEmbedder(record["dimension"], record["input_limit"])

    def get(self, identity: str, texts: Iterable[str], role: str = "text") -> dict[str, Embedding]:
        """Return what is kept of these texts; damaged vectors are left out, with a note.

        Args:
            identity: Of the embedder, by `embedder_identity`.
            texts: The texts.
            role: What they were embedded as: `"text"` or `"query"`.
        """
        vectors = self._vectors_of(identity)
        found: dict[str, Embedding] = {}
        damaged = 0

        def read() -> None:
            nonlocal damaged
            for text in texts:
                try:
                    entry = vectors.get(vector_key(identity, role, text))
                except DamagedEntry:
                    damaged += 1
                    continue
                if entry is not None:
                    found[text] = _embedding(entry)

        start = perf_counter()
        self._tried("read", read, None)
        if found:
            seconds_reading(perf_counter() - start)
        if damaged:
            note(
                f"the embedding cache {self.folder} held {damaged} damaged of {len(found) + damaged} vectors; they are "
                "dropped and computed anew"
            )
        return found

    def kept(self, identity: str, texts: Iterable[str], role: str = "text") -> set[str]:
        """Return of which of these texts there is a vector; arguments as of `get`."""
        there = self._vectors_of(identity).digests()
        return {text for text in texts if vector_key(identity, role, text) in there} if there else set()

    def put(
        self, identity: str, embeddings: Mapping[str, Embedding], role: str = "text", input_limit: int | None = None
    ) -> None:
        """Keep the vectors of these texts; what was kept of them is replaced.

        Args:
            identity: Of the embedder, by `embedder_identity`.
            embeddings: By text; all of one dimension.
            role: What the texts were embedded as: `"text"` or `"query"`.
            input_limit: The most tokens that the embedder reads of a text.
        """
        if not embeddings:
            return
        vectors, dimension = self._vectors_of(identity), len(next(iter(embeddings.values())).vector)
        record = {"identity": identity, "dimension": dimension, "input_limit": _limit(input_limit)}
        entries = {vectors.folder.name: json.dumps(record).encode()}
        for text, embedding in embeddings.items():
            entries[vector_key(identity, role, text)] = _content(embedding)
        self._tried("written", lambda: vectors.put(entries), None)

    def contents(self) -> list[CachedVectors]:
        """Return what is kept, by embedder; without those whose identity is damaged until their next vector is kept.

        Raises:
            InputError: It cannot be read.
        """
        try:
            known = [(record, vectors) for vectors in self._vectors() if (record := _record(vectors)) is not None]
        except OSError as error:
            where = f"{self.folder}: cannot be read ({error.strerror})"
            raise InputError(f"{where}; remove it with: rag-eval cache clear") from error
        return sorted(
            CachedVectors(record["identity"], len(vectors.digests()) - 1, record["dimension"])
            for record, vectors in known
        )

    def size(self) -> int:
        """Return how many bytes it takes on disk.

        Raises:
            InputError: It cannot be read.
        """
        return sum(vectors.size() for vectors in self._vectors())

    def others(self) -> list[Path]:
        """Return what is in its folders and is not ours.

        Raises:
            InputError: It cannot be read.
        """
        embedders = self._vectors()
        ours = {vectors.folder for vectors in embedders}
        there = (Path(entry) for entry in self._listed())
        beside = [path for path in there if path not in ours and not is_unfinished(path)]
        return [*beside, *(path for vectors in embedders for path in vectors.others())]

    def clear(self) -> None:
        """Remove everything that is ours.

        Raises:
            InputError: It cannot be read.
            OSError: Something cannot be removed.
        """
        remove_abandoned(self.folder)
        for vectors in self._vectors():
            vectors.clear()
        remove_empty(self.folder)

    def _vectors(self) -> list[Cache]:
        """Return the vectors of each embedder."""
        folders = (entry for entry in self._listed() if entry.is_dir(follow_symlinks=False))
        return [Cache(Path(entry)) for entry in folders if HASH.fullmatch(entry.name)]

    def _listed(self) -> list[os.DirEntry[str]]:
        try:
            return sorted(os.scandir(self.folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be read ({error.strerror}); check its permissions") from error

    def _vectors_of(self, identity: str) -> Cache:
        return Cache(self.folder / _digest(identity).hex())

    def _tried(self, what: str, action: Callable[[], T], otherwise: T) -> T:
        """Run an action; if the files fail it, note it, once for reading and once for writing, and go on without."""
        if what in self._broken:
            return otherwise
        try:
            return action()
        except OSError as error:
            self._broken.add(what)
            note(
                f"the embedding cache {self.folder} cannot be {what} ({error.strerror}); vectors are computed without "
                "it. Check the path, its permissions and the free space, or start anew with: rag-eval cache clear"
            )
            return otherwise


def vector_key(identity: str, role: str, text: str) -> str:
    """Return what the vector of a text is found by, embedded by an embedder of this identity in this role."""
    return hashlib.sha256(_digest(identity) + f"{role}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _content(embedding: Embedding) -> bytes:
    """Return an entry: a byte, 1 if the vector is truncated and 2 if there are seconds; the vector; the seconds."""
    vector, truncated, seconds = embedding
    timed = b"" if seconds is None else np.array(seconds, _SECONDS).tobytes()
    return bytes([truncated | 2 * bool(timed)]) + vector.astype(_FLOATS).tobytes() + timed


def _embedding(entry: bytes) -> Embedding:
    end = len(entry) - (_SECONDS.itemsize if entry[0] & 2 else 0)
    seconds = float(np.frombuffer(entry[end:], _SECONDS)[0]) if entry[0] & 2 else None
    return Embedding(np.frombuffer(entry[1:end], _FLOATS).astype(np.float32), bool(entry[0] & 1), seconds)


def _digest(identity: str) -> bytes:
    """Return what an embedder is found by."""
    return hashlib.sha256(_VERSION + identity.encode()).digest()


def _record(vectors: Cache) -> dict[str, Any] | None:
    """Return what is kept of an embedder beside its vectors; None if there is nothing, or it is damaged."""
    try:
        entry = vectors.get(vectors.folder.name)
    except DamagedEntry:
        return None
    return None if entry is None else json.loads(entry)


def _limit(given: Any) -> int | None:
    """Return the most tokens that an embedder tells that it reads; None if it tells no number that could be one."""
    try:
        limit = plain_offset(given)
    except UNREADABLE:
        return None
    return limit if 0 < limit < 2**63 else None
