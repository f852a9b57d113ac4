"""Vectors on disk, so that no text is embedded twice: one SQLite file below the root."""

import hashlib
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.data.values import UNREADABLE, plain_offset
from rag_evaluation_framework.embedders.cache_file import AnothersDatabase, CacheFile, Damaged, NotOurs, Replaced
from rag_evaluation_framework.errors import InputError

# Vectors as bytes: each record has a checksum over its key and its content.

_CHECKSUM = 16
_FLOATS = np.dtype("<f4")
_HEAD = struct.Struct("<?q")  # whether it is truncated, and the input limit of the embedder


class Embedding(NamedTuple):
    """A vector as it is kept.

    Attributes:
        vector: float32, shape (dimension,).
        truncated: Whether it covers only a part of the text.
    """

    vector: NDArray[np.float32]
    truncated: bool


class KnownEmbedder(NamedTuple):
    """What the cache knows of an embedder.

    Attributes:
        dimension: The length of its vectors.
        input_limit: The most tokens that it reads of a text; None if there is no limit, or none that it tells.
    """

    dimension: int
    input_limit: int | None


def digest(identity: bytes) -> bytes:
    """Return what an embedder is found by."""
    return hashlib.sha256(identity).digest()


def record_key(identity: str, role: str, text: str) -> bytes:
    """Return what the vector of a text is found by, embedded by an embedder of this identity in this role."""
    return hashlib.sha256(
        digest(identity.encode("ascii")) + f"{role}\0{text}".encode("utf-8", "surrogatepass")
    ).digest()


def encoded(key: bytes, embedding: Embedding, input_limit: int | None) -> bytes:
    """Return the record of a vector; the input limit of its embedder is below 2 to the 63."""
    content = _HEAD.pack(embedding.truncated, input_limit or 0) + embedding.vector.astype(_FLOATS).tobytes()
    return _checksum(key, content) + content


def decoded(key: object, record: object) -> tuple[Embedding, KnownEmbedder] | None:
    """Return the vector that a record holds, and its embedder; None if the record, or its key, is damaged."""
    if not isinstance(key, bytes) or not isinstance(record, bytes):
        return None
    content = record[_CHECKSUM:]
    floats = content[_HEAD.size :]
    if _checksum(key, content) != record[:_CHECKSUM] or not floats or len(floats) % _FLOATS.itemsize:
        return None
    truncated, input_limit = _HEAD.unpack_from(content)
    vector = np.frombuffer(floats, _FLOATS).astype(np.float32)
    return Embedding(vector, truncated), KnownEmbedder(len(vector), input_limit or None)


def dimension_of(size: int) -> int:
    """Return the length of the vector in a record of so many bytes."""
    return max(size - _CHECKSUM - _HEAD.size, 0) // _FLOATS.itemsize


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=_CHECKSUM).digest()


# Vectors on disk, so that no text is embedded twice: one SQLite file below the root.
#
# A record is found by what made it (the embedder's class, parameters and weights) and by the text, both hashed. It
# carries a checksum, and one that fails it is dropped. What is known of an embedder is read off its latest vector.
# Several processes may use a cache at once, and one that is killed leaves everything that it had written. Whatever goes
# wrong with the file, embedding goes on without it, with a note.

T = TypeVar("T")

_AT_ONCE = 500  # keys a query; SQLite takes at least 999
_LARGEST = 2**63 - 1  # whole number of SQLite
_ATTEMPTS = 10  # another process may clear the cache while it is read, and again


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
        self._file = CacheFile(root)
        self._broken: set[str] = set()

    @property
    def folder(self) -> Path:
        """The folder of the cache."""
        return self._file.folder

    def known(self, identity: str) -> KnownEmbedder | None:
        """Return what is known of an embedder, or None."""
        return self._tried("read", lambda: self._known(identity), None)

    def get(self, identity: str, texts: Iterable[str], role: str = "text") -> dict[str, Embedding]:
        """Return what is kept of these texts; damaged records are left out, with a note.

        Args:
            identity: Of the embedder, by `embedder_identity`.
            texts: The texts.
            role: What they were embedded as: `"text"` or `"query"`.
        """
        keys = {record_key(identity, role, text): text for text in texts}
        empty: dict[str, Embedding] = {}
        return self._tried("read", lambda: self._get(keys), empty)

    def put(
        self, identity: str, embeddings: Mapping[str, Embedding], role: str = "text", input_limit: int | None = None
    ) -> None:
        """Keep the vectors of these texts, all of them or, if that fails, none; what was kept of them is replaced.

        Args:
            identity: Of the embedder, by `embedder_identity`.
            embeddings: By text; all of one dimension.
            role: What the texts were embedded as: `"text"` or `"query"`.
            input_limit: The most tokens that the embedder reads of a text.
        """
        self._tried("written", lambda: self._put(identity, embeddings, role, input_limit), None)

    def contents(self) -> list[CachedVectors]:
        """Return what is kept, by embedder.

        Raises:
            InputError: The cache cannot be read, or is not ours.
        """
        if not self._file.exists():
            return []
        try:
            with self._file.open() as connection:
                rows = connection.execute(
                    "SELECT digest, identity, count(key), max(length(record)) FROM embedders LEFT JOIN vectors "
                    "ON embedder = id GROUP BY id ORDER BY identity"
                ).fetchall()
        except NotOurs as error:
            raise InputError(f"{self._file.path}: {error}; it is left as it is") from error
        except (Damaged, Replaced, sqlite3.Error, OSError) as error:
            raise self._unreadable(str(error) or "it is replaced just now") from error
        if any(not isinstance(identity, bytes) or digest(identity) != found for found, identity, *_ in rows):
            raise self._unreadable("what it says of an embedder is damaged")
        return [CachedVectors(identity.decode(), count, dimension_of(size or 0)) for _, identity, count, size in rows]

    def size(self) -> int:
        """Return how many bytes it takes on disk, with what was damaged and is set aside."""
        return self._file.size()

    def others(self) -> list[Path]:
        """Return what is in its folders and is not ours."""
        return self._file.others()

    def clear(self) -> None:
        """Remove everything, also what was damaged and is set aside, but nothing that is not ours (`others`).

        While another process uses the cache, its file stays, empty.

        Raises:
            InputError: The folder cannot be removed, or holds the database of another application; or it is in use, and
                damaged or of another version.
        """
        try:
            self._file.remove()
        except AnothersDatabase as error:
            raise InputError(f"{self._file.path}: {error}; it is not removed: move it elsewhere") from error
        except (NotOurs, Damaged) as error:
            reason = f"{error}, and another process has it open; try again when that has ended"
            raise InputError(f"{self._file.path}: cannot be removed: it {reason}") from error
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{self.folder}: cannot be removed ({getattr(error, 'strerror', error)})") from error

    def _unreadable(self, reason: str) -> InputError:
        return InputError(f"{self._file.path}: cannot be read ({reason}); remove it with: rag-eval cache clear")

    def _known(self, identity: str) -> KnownEmbedder | None:
        if not self._file.exists():
            return None
        with self._file.open() as connection:
            row = connection.execute(
                "SELECT key, record FROM embedders JOIN vectors ON key = latest AND embedder = id WHERE digest = ?",
                (digest(identity.encode("ascii")),),
            ).fetchone()
        found = row and decoded(*row)
        return found and found[1]

    def _get(self, keys: Mapping[bytes, str]) -> dict[str, Embedding]:
        if not keys or not self._file.exists():
            return {}
        with self._file.open() as connection:
            records = dict(_selected(connection, list(keys)))
            found = {key: known[0] for key, record in records.items() if (known := decoded(key, record))}
            damaged = records.keys() - found.keys()
            if damaged:
                note(
                    f"the embedding cache {self._file.path} held {len(damaged)} damaged of {len(records)} vectors; "
                    "they are dropped and computed anew"
                )
                connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in damaged])
        return {keys[key]: embedding for key, embedding in found.items() if key in keys}

    def _put(self, identity: str, embeddings: Mapping[str, Embedding], role: str, input_limit: int | None) -> None:
        if not embeddings:
            return
        limit = _limit(input_limit)
        keys = [record_key(identity, role, text) for text in embeddings]
        records = [(key, encoded(key, value, limit)) for key, value in zip(keys, embeddings.values(), strict=True)]
        self._file.make()
        with self._file.open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            (number,) = connection.execute(
                "INSERT INTO embedders (digest, identity, latest) VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE "
                "SET identity = excluded.identity, latest = excluded.latest RETURNING id",
                (digest(identity.encode("ascii")), identity, keys[-1]),
            ).fetchone()
            connection.executemany(
                "INSERT OR REPLACE INTO vectors (key, embedder, record) VALUES (?, ?, ?)",
                [(key, number, record) for key, record in records],
            )
            connection.execute("COMMIT")

    def _tried(self, what: str, action: Callable[[], T], otherwise: T) -> T:
        """Run an action; if the cache fails it, note it, once for reading and once for writing, and go on without."""
        if what in self._broken:
            return otherwise
        reason = "other processes go on replacing it"
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return action()
                except Replaced:
                    continue
                except Damaged as error:  # vectors can be made again: start with an empty cache
                    if self._file.set_aside(error.stamp):
                        note(
                            f"the embedding cache {self._file.path} is damaged ({error}); it is moved to "
                            f"{self._file.aside}, and vectors are computed anew. rag-eval cache clear removes both"
                        )
        except NotOurs as error:
            self._broken |= {"read", "written"}
            note(
                f"the embedding cache {self._file.path} {error}; it is left as it is, and vectors are computed without "
                "it. Give another root, or move it elsewhere"
            )
            return otherwise
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
        self._broken.add(what)
        note(
            f"the embedding cache {self._file.path} cannot be {what} ({reason}); vectors are computed without it. "
            "Check the path, its permissions and the free space, or start anew with: rag-eval cache clear"
        )
        return otherwise


def _selected(connection: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, object]]:
    for first in range(0, len(keys), _AT_ONCE):
        some = keys[first : first + _AT_ONCE]
        marks = ",".join("?" * len(some))
        yield from connection.execute(f"SELECT key, record FROM vectors WHERE key IN ({marks})", some)  # noqa: S608  question marks


def _limit(given: Any) -> int | None:
    """Return the most tokens that an embedder tells that it reads; None if it tells no number that could be one."""
    try:
        limit = plain_offset(given)
    except UNREADABLE:
        return None
    return limit if 0 < limit <= _LARGEST else None
