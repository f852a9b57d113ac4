"""Vectors on disk, so that no text is embedded twice: one SQLite file below the root.

A record is found by what made it (the embedder's class, parameters and weights) and by the text, both hashed. It
carries a checksum, and one that fails it is dropped. Several processes may use a cache at once, and one that is killed
leaves everything that it had written. Whatever goes wrong with the file, embedding goes on without it, with a note.
"""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.errors import InputError

T = TypeVar("T")

_FILE = "vectors.sqlite"
_VERSION = 1
_SECONDS = 30  # to wait for another process that is writing
_AT_ONCE = 500  # keys a query; SQLite takes at least 999
_CHECKSUM = 16
_FLOATS = np.dtype("<f4")
_SCHEMA = f"""
PRAGMA page_size = 16384;
PRAGMA journal_mode = WAL;
PRAGMA user_version = {_VERSION};
CREATE TABLE embedders (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, identity TEXT NOT NULL, dimension INTEGER NOT NULL,
    input_limit INTEGER
);
CREATE TABLE vectors (key BLOB NOT NULL UNIQUE, embedder INTEGER NOT NULL, record BLOB NOT NULL);
"""


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
        self.folder = Path(root) / "cache" / "embeddings"
        self._broken: set[str] = set()

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
        empty: dict[str, Embedding] = {}
        return self._tried("read", lambda: self._get(identity, texts, role), empty)

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
            InputError: The cache cannot be read.
        """
        if not self._file.exists():
            return []
        try:
            with self._open() as connection:
                rows = connection.execute(
                    "SELECT identity, count(key), dimension FROM embedders LEFT JOIN vectors ON embedder = id "
                    "GROUP BY id ORDER BY identity"
                )
                return [CachedVectors(*row) for row in rows]
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{self._file}: cannot be read ({error}); remove it with: rag-eval cache clear") from error

    def size(self) -> int:
        """Return how many bytes it takes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def clear(self) -> None:
        """Remove everything.

        Raises:
            InputError: The folder cannot be removed.
        """
        if not self.folder.exists():
            return
        try:
            self._remove()
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be removed ({error.strerror})") from error

    @property
    def _file(self) -> Path:
        return self.folder / _FILE

    def _known(self, identity: str) -> KnownEmbedder | None:
        if not self._file.exists():
            return None
        with self._open() as connection:
            row = connection.execute(
                "SELECT dimension, input_limit FROM embedders WHERE digest = ?", (_digest(identity),)
            ).fetchone()
        return None if row is None else KnownEmbedder(*row)

    def _get(self, identity: str, texts: Iterable[str], role: str) -> dict[str, Embedding]:
        keys = {_key(identity, role, text): text for text in texts}
        if not keys or not self._file.exists():
            return {}
        with self._open() as connection:
            records = dict(_selected(connection, list(keys)))
            found = {key: embedding for key, record in records.items() if (embedding := _decoded(key, record))}
            damaged = records.keys() - found.keys()
            if damaged:
                note(
                    f"the embedding cache {self._file} held {len(damaged)} damaged of {len(records)} vectors; they are "
                    "dropped and computed anew"
                )
                connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in damaged])
        return {keys[key]: embedding for key, embedding in found.items()}

    def _put(self, identity: str, embeddings: Mapping[str, Embedding], role: str, input_limit: int | None) -> None:
        if not embeddings:
            return
        dimension = len(next(iter(embeddings.values())).vector)
        records = [
            (key, _encoded(key, value)) for text, value in embeddings.items() if (key := _key(identity, role, text))
        ]
        self._make()
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            (number,) = connection.execute(
                "INSERT INTO embedders (digest, identity, dimension, input_limit) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (digest) DO UPDATE SET dimension = excluded.dimension, input_limit = excluded.input_limit "
                "RETURNING id",
                (_digest(identity), identity, dimension, input_limit),
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
        try:
            try:
                return action()
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:  # its subclasses say that something else is wrong
                    raise
                # The file is not a database any more. Vectors can be made again: start with an empty cache.
                note(f"the embedding cache {self._file} is damaged ({error}); it is emptied")
                self._remove()
                return action()
        except (sqlite3.Error, OSError) as error:
            self._broken.add(what)
            note(
                f"the embedding cache {self._file} cannot be {what} ({error}); vectors are computed without it. "
                "Check the path, its permissions and the free space, or start anew with: rag-eval cache clear"
            )
            return otherwise

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        # A connection for each use: it may be another thread, or a forked process, that asks next.
        connection = sqlite3.connect(
            f"{self._file.absolute().as_uri()}?mode=rw", uri=True, timeout=_SECONDS, isolation_level=None
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                raise sqlite3.DatabaseError(f"schema version {version}; this version reads {_VERSION}")
            yield connection
        finally:
            connection.close()

    def _make(self) -> None:
        """Make an empty cache beside its place and move it there, so that nobody meets a half-made one."""
        if self._file.exists():
            return
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(mkdtemp(prefix=".embeddings-", dir=self.folder.parent))
        try:
            with closing(sqlite3.connect(part / _FILE)) as connection:
                connection.executescript(_SCHEMA)
            part.chmod(0o755)
            part.rename(self.folder)
        except OSError:
            if not self._file.exists():  # nor has another process made it at the same moment
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _remove(self) -> None:
        """Move the folder aside at once, with what SQLite keeps beside the file, then delete it."""
        aside = Path(mkdtemp(prefix=".removed-", dir=self.folder.parent))
        try:
            self.folder.rename(aside / self.folder.name)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _digest(identity: str) -> bytes:
    return hashlib.sha256(identity.encode("ascii")).digest()


def _key(identity: str, role: str, text: str) -> bytes:
    return hashlib.sha256(_digest(identity) + f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _encoded(key: bytes, embedding: Embedding) -> bytes:
    content = bytes([embedding.truncated]) + embedding.vector.astype(_FLOATS).tobytes()
    return _checksum(key, content) + content


def _decoded(key: bytes, record: object) -> Embedding | None:
    """Return what a record holds, or None if it is damaged."""
    if not isinstance(record, bytes) or len(record) <= _CHECKSUM or (len(record) - _CHECKSUM - 1) % _FLOATS.itemsize:
        return None
    content = record[_CHECKSUM:]
    if _checksum(key, content) != record[:_CHECKSUM]:
        return None
    return Embedding(np.frombuffer(content, _FLOATS, offset=1).astype(np.float32), bool(content[0]))


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=_CHECKSUM).digest()


def _selected(connection: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, object]]:
    for first in range(0, len(keys), _AT_ONCE):
        some = keys[first : first + _AT_ONCE]
        marks = ",".join("?" * len(some))
        yield from connection.execute(f"SELECT key, record FROM vectors WHERE key IN ({marks})", some)  # noqa: S608  question marks
