"""The SQLite file of the embedding cache: made whole, opened with care, and told apart from what is not ours.

What is damaged is set aside, and the next one to write makes a new file. What another version or application made
is left alone, byte for byte.
"""

import errno
import os
import sqlite3
import stat
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from rag_evaluation_framework.base.files import folder_size, from_home, published, unfinished

_FILE = "vectors.sqlite"
_OURS = (_FILE, f"{_FILE}-wal", f"{_FILE}-shm", f"{_FILE}-journal")  # the others SQLite keeps beside it
_VERSION = 2
_SECONDS = 30  # to wait for another process that is writing
_TABLES = {b"embedders", b"vectors"}
_SCHEMA = f"""
PRAGMA page_size = 16384;
PRAGMA journal_mode = WAL;
PRAGMA user_version = {_VERSION};
CREATE TABLE embedders (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, identity TEXT NOT NULL, latest BLOB NOT NULL
);
CREATE TABLE vectors (key BLOB NOT NULL UNIQUE, embedder INTEGER NOT NULL, record BLOB NOT NULL);
"""
# What these say is wrong with the disk, or with another process, and not with the file.
_OUTWARD = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_AUTH,
}

Stamp = tuple[int, int] | None
"""Which file it is, whatever its name; None where there is none."""


class NotOurs(Exception):
    """The file is to be left alone."""


class OtherVersion(NotOurs):
    """Another version made it."""

    def __str__(self) -> str:
        return f"has schema version {self.args[0]}, and this version of rag-eval reads {_VERSION}"


class AnothersDatabase(NotOurs):
    """Another application made it."""

    def __str__(self) -> str:
        return "is the database of another application"


class Damaged(Exception):
    """The file cannot be read or written, and never will be.

    Attributes:
        stamp: Which file.
    """

    def __init__(self, reason: str, stamp: Stamp) -> None:
        super().__init__(reason)
        self.stamp = stamp


class Replaced(Exception):
    """Another process removed or replaced the file while it was being used."""


class CacheFile:
    """The file below a root, with the folder that holds it and what SQLite keeps beside it.

    Attributes:
        folder: The folder.
        path: The file.
        aside: Where a damaged one is moved to, in place of the damaged one before.
    """

    def __init__(self, root: str | Path) -> None:
        self.folder = Path(from_home(root)) / "cache" / "embeddings"
        self.path = self.folder / _FILE
        self.aside = self.folder.with_name("embeddings.damaged")

    def exists(self) -> bool:
        """Return whether there is a file, or something else in its place."""
        return self.path.exists()

    @contextmanager
    def open(self) -> Generator[sqlite3.Connection]:
        """Open the file, which has to be there; texts are read as bytes.

        Raises:
            NotOurs: Another version, or another application, made it.
            Damaged: It, or what is done with the connection, fails, and will the next time.
            Replaced: Another process removed or replaced it meanwhile; to be tried again.
            sqlite3.Error, OSError: The disk, or another process, is in the way.
        """
        stamp = self._stamp()
        if stamp is None:
            raise Replaced
        try:
            self._check_ours(stamp)
            # A connection for each use: it may be another thread, or a forked process, that asks next.
            with closing(self._connected("mode=rw")) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # opens the log as well
                if self._stamp() != stamp:  # the log may be that of the new file
                    raise Replaced
                yield connection
        except (sqlite3.Error, OSError, UnicodeError) as error:  # a damaged schema is quoted by bytes that are no text
            if self._stamp() != stamp:
                raise Replaced from error
            if _is_damage(error):
                raise Damaged(str(error), stamp) from error
            raise

    def make(self) -> None:
        """Make an empty file if there is none, beside its place, and move it there, so that nobody meets half of one.

        Raises:
            Damaged: Something else is in the place of the folder.
            sqlite3.Error, OSError: It cannot be written.
        """
        if self.exists():
            return
        with unfinished(self.folder.parent) as made:
            part = made / self.folder.name
            part.mkdir()
            with closing(sqlite3.connect(part / _FILE)) as connection:
                connection.executescript(_SCHEMA)
            try:
                part.rename(self.folder)
            except OSError as error:
                if self.exists():  # another process made it at the same moment
                    return
                if self.folder.is_dir() and not _held(self.folder):  # what is there is not ours, and stays
                    if not published(part / _FILE, self.path):
                        raise Replaced from error
                    return
                if os.path.lexists(self.folder):
                    raise Damaged("there is something else in its place", None) from error
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # another process made it, and one cleared it
                    raise Replaced from error
                raise

    def set_aside(self, stamp: Stamp) -> bool:
        """Move the folder of a damaged file away as a whole; return whether it was still there."""
        if self._stamp() != stamp:
            return False
        self._remove(self.aside)
        _move(self.folder, self.aside)
        return True

    def remove(self) -> None:
        """Remove the file with its folder, and what was set aside; what is not ours stays.

        A file that another process has open is emptied instead: SQLite closes a log by its name, and would close that
        of the next file.

        Raises:
            NotOurs: Another application made it, or another version that is using it.
            Damaged: It is damaged and in use.
            sqlite3.Error, OSError: It cannot be removed.
        """
        with suppress(sqlite3.Error, OSError, UnicodeError, Damaged, OtherVersion):
            self._check_ours(None)
        with self._alone() as alone:
            if alone:
                self._remove(self.folder)
        if not alone:
            self._empty()
        self._remove(self.aside)

    def size(self) -> int:
        """Return how many bytes it takes on disk, with what was set aside."""
        return sum(folder_size(path) for folder in (self.folder, self.aside) for path in _held(folder))

    def others(self) -> list[Path]:
        """Return what is not ours in the folder, and beside what was set aside."""
        return [*_others(self.folder), *_others(self.aside)]

    def _remove(self, folder: Path) -> None:
        if os.path.lexists(folder):
            with unfinished(self.folder.parent) as away, suppress(FileNotFoundError):  # another process was quicker
                _move(folder, away / folder.name)

    @contextmanager
    def _alone(self) -> Generator[bool]:
        """Keep other processes from opening the file; False if one has it open, as nobody has what cannot be opened."""
        if not self.path.is_file():
            yield True
            return
        with closing(self._connected("mode=rw")) as connection:
            try:
                connection.execute("PRAGMA busy_timeout = 0")
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute("PRAGMA journal_mode = DELETE")  # with no log, nothing is removed by name at the end
                connection.execute("BEGIN EXCLUSIVE")
                alone = True
            except (sqlite3.Error, UnicodeError) as error:
                code: int | None = getattr(error, "sqlite_errorcode", None)
                alone = code is None or code & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            yield alone

    def _empty(self) -> None:
        with suppress(Replaced), self.open() as connection:
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM embedders")
            with suppress(sqlite3.OperationalError):  # others go on using it
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _stamp(self) -> Stamp:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _connected(self, how: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{how}", uri=True, timeout=_SECONDS, isolation_level=None
        )
        connection.text_factory = bytes
        return connection

    def _check_ours(self, stamp: Stamp) -> None:
        """Look into the file without a lock, a log or anything else that would leave a trace."""
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise Damaged("it is not a file", stamp)  # opening a named pipe would wait for ever
        with suppress(sqlite3.DatabaseError, UnicodeError), closing(self._connected("immutable=1&mode=ro")) as looking:
            tables = {name for (name,) in looking.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if tables and not tables & _TABLES:
                raise AnothersDatabase
            (version,) = looking.execute("PRAGMA user_version").fetchone()
            if tables and version != _VERSION:
                raise OtherVersion(version)


def _is_damage(error: Exception) -> bool:
    if isinstance(error, UnicodeError):
        return True
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF not in _OUTWARD


def _held(folder: Path) -> list[Path]:
    return [folder / name for name in _OURS if os.path.lexists(folder / name)]


def _others(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.name not in _OURS)


def _move(folder: Path, place: Path) -> None:
    """Move a folder away at once, with what SQLite keeps beside the file; what is not ours in it stays where it is."""
    if not (place.exists() or folder.is_symlink() or _others(folder)):
        folder.rename(place)
        return
    place.mkdir(exist_ok=True)
    for path in _held(folder):
        with suppress(FileNotFoundError):
            path.rename(place / path.name)
    with suppress(OSError):  # not empty
        folder.rmdir()
