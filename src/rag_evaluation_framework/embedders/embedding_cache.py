"""Vectors on disk, so that no text is embedded twice: one SQLite file below the root.

A record is found by what made it (the embedder's class, parameters and weights) and by the text, both hashed. It
carries a checksum, and one that fails it is dropped; so does what is known of an embedder. Several processes may use a
cache at once, and one that is killed leaves everything that it had written. Whatever goes wrong with the file,
embedding goes on without it, with a note.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.plain import plain_offset
from rag_evaluation_framework.embedders.cache_file import AnothersDatabase, CacheFile, Damaged, NotOurs, Replaced
from rag_evaluation_framework.embedders.cache_records import (
    Embedding,
    KnownEmbedder,
    decoded,
    decoded_known,
    digest,
    encoded,
    encoded_known,
    known_key,
    record_key,
)
from rag_evaluation_framework.errors import InputError

T = TypeVar("T")

_AT_ONCE = 500  # keys a query; SQLite takes at least 999
_LARGEST = 2**63 - 1  # whole number of SQLite
_LOST = -1  # in place of an input limit of which the record was damaged: until it is told again, the embedder is asked
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
        return self._tried("read", lambda: self._get(identity, keys), empty)

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
                    "SELECT digest, identity, count(key), dimension FROM embedders LEFT JOIN vectors ON embedder = id "
                    "GROUP BY id ORDER BY identity"
                ).fetchall()
                return [self._content(connection, *row) for row in rows]
        except NotOurs as error:
            raise InputError(f"{self._file.path}: {error}; it is left as it is") from error
        except (Damaged, Replaced, sqlite3.Error, OSError) as error:
            raise self._unreadable(str(error) or "it is replaced just now") from error

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
                damaged or of a newer version.
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

    def _content(
        self, connection: sqlite3.Connection, found: object, identity: object, records: int, dimension: object
    ) -> CachedVectors:
        """Return what is kept of an embedder; only of those that were kept by earlier versions is there no record."""
        if isinstance(identity, bytes) and digest(identity) == found:
            key = known_key(identity.decode())
            kept = dict(_selected(connection, [key]))
            known = decoded_known(key, kept[key]) if kept else None
            size = dimension if not kept else known and known.dimension
            if isinstance(size, int) and size > 0:
                return CachedVectors(identity.decode(), records - len(kept), size)
        raise self._unreadable("what it says of an embedder is damaged")

    def _known(self, identity: str) -> KnownEmbedder | None:
        if not self._file.exists():
            return None
        with self._file.open() as connection:
            return self._recorded(connection, identity)

    def _recorded(self, connection: sqlite3.Connection, identity: str) -> KnownEmbedder | None:
        """Return what is recorded of an embedder; of what is damaged it is said, and nothing of it is believed."""
        key = known_key(identity)
        kept = dict(_selected(connection, [key]))
        known = decoded_known(key, kept[key]) if kept else None
        if kept and known is None:
            note(
                f"what the embedding cache {self._file.path} held of an embedder, the length of its vectors, was "
                "damaged; it is dropped, and the embedder is asked anew"
            )
            connection.execute("DELETE FROM vectors WHERE key = ?", (key,))
            connection.execute(
                "UPDATE embedders SET input_limit = ? WHERE digest = ?", (_LOST, digest(identity.encode("ascii")))
            )
        return known

    def _get(self, identity: str, keys: Mapping[bytes, str]) -> dict[str, Embedding]:
        if not keys or not self._file.exists():
            return {}
        with self._file.open() as connection:
            records = dict(_selected(connection, list(keys)))
            found = {key: embedding for key, record in records.items() if (embedding := decoded(key, record))}
            damaged = records.keys() - found.keys()
            if damaged:
                note(
                    f"the embedding cache {self._file.path} held {len(damaged)} damaged of {len(records)} vectors; "
                    "they are dropped and computed anew"
                )
                connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in damaged])
            self._mend(connection, identity, found.values())
        return {keys[key]: embedding for key, embedding in found.items() if key in keys}

    def _mend(self, connection: sqlite3.Connection, identity: str, found: Iterable[Embedding]) -> None:
        """Record the length of an embedder's vectors where another, or none, is recorded, as by earlier versions."""
        lengths = {len(embedding.vector) for embedding in found}
        recorded = self._recorded(connection, identity)
        if len(lengths) != 1 or (recorded is not None and recorded.dimension in lengths):
            return
        row = connection.execute(
            "SELECT id, input_limit FROM embedders WHERE digest = ?", (digest(identity.encode("ascii")),)
        ).fetchone()
        if row is None:
            return
        number, limit = row
        with suppress(sqlite3.OperationalError):  # of a disk that is read-only, vectors are read all the same
            if limit == _LOST:
                connection.execute("UPDATE embedders SET dimension = ? WHERE id = ?", (lengths.pop(), number))
            else:
                _record(connection, identity, number, KnownEmbedder(lengths.pop(), _limit(limit)))

    def _put(self, identity: str, embeddings: Mapping[str, Embedding], role: str, input_limit: int | None) -> None:
        if not embeddings:
            return
        dimension = len(next(iter(embeddings.values())).vector)
        keys = [record_key(identity, role, text) for text in embeddings]
        records = [(key, encoded(key, value)) for key, value in zip(keys, embeddings.values(), strict=True)]
        self._file.make()
        with self._file.open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            known = KnownEmbedder(dimension, _limit(input_limit))
            (number,) = connection.execute(
                "INSERT INTO embedders (digest, identity, dimension, input_limit) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (digest) DO UPDATE SET identity = excluded.identity, dimension = excluded.dimension, "
                "input_limit = excluded.input_limit RETURNING id",
                (digest(identity.encode("ascii")), identity, *known),
            ).fetchone()
            connection.executemany(
                "INSERT OR REPLACE INTO vectors (key, embedder, record) VALUES (?, ?, ?)",
                [(key, number, record) for key, record in records],
            )
            _record(connection, identity, number, known)
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


def _record(connection: sqlite3.Connection, identity: str, number: int, known: KnownEmbedder) -> None:
    """Record what is known of an embedder."""
    key = known_key(identity)
    connection.execute(
        "INSERT OR REPLACE INTO vectors (key, embedder, record) VALUES (?, ?, ?)",
        (key, number, encoded_known(key, known)),
    )


def _limit(given: Any) -> int | None:
    """Return the most tokens that an embedder tells that it reads; None if it tells no number that could be one."""
    try:
        limit = plain_offset(given)
    except Exception:  # noqa: BLE001  it is anybody's number
        return None
    return limit if 0 < limit <= _LARGEST else None
