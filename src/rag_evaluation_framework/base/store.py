"""Folders of files: texts by the hash of their content, and results by the hash of all that they depend on.

A file is written beside its place and moved there, so that a process that is killed leaves a whole one or none, and
several processes may use a folder at once. What a file holds is checked whenever it is read.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import DatasetError
from .files import from_home, is_unfinished, remove_abandoned, temporary_folder
from .notes import note
from .progress import progress

_HASH = re.compile("[0-9a-f]{64}")
_CHECKSUM = 16  # bytes
_ATTEMPTS = 100  # another process may clear a folder while it is written to, and again
_DAY = 24 * 60 * 60  # seconds: how exactly it is known when an entry was last used
_LOOKS = 64  # into so many parts the bound of a cache is divided: after each that was written, its size is looked at


class HashedFiles:
    """Files in a folder, each named by a SHA-256 of 64 hexadecimal digits. Everything else in it is left alone.

    Args:
        folder: The folder; it is made when something is put into it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def digests(self) -> set[str]:
        """Return the hashes of what is there."""
        return {entry.name for entry in self._listed() if _is_ours(entry)}

    def others(self) -> list[Path]:
        """Return what in the folder is not ours."""
        others = (Path(entry) for entry in self._listed() if not _is_ours(entry))
        return sorted(path for path in others if not is_unfinished(path))

    def size(self) -> int:
        """Return how many bytes it takes."""
        return sum(size for _, size, _ in self._entries())

    def remove(self, digests: Iterable[str]) -> None:
        """Remove files; missing ones are passed over."""
        for digest in digests:
            with suppress(OSError):
                (self.folder / digest).unlink()

    def clear(self) -> None:
        """Remove all that is ours, and the folder if nothing else is in it.

        Raises:
            OSError: Something cannot be removed.
        """
        remove_abandoned(self.folder)
        for digest in self.digests():
            (self.folder / digest).unlink(missing_ok=True)
        with suppress(OSError):  # it is not there, or not empty
            if not self.folder.is_symlink():
                self.folder.rmdir()

    def use(self, digest: str) -> None:
        """Note that something was used now, so that it is among the last to go."""
        with suppress(OSError):
            os.utime(self.folder / digest)

    def shrink(self, most: int) -> None:
        """Remove what was not used for the longest time, until all else takes at most so many bytes."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        for _, size, digest in entries:
            if total <= most:
                return
            self.remove([digest])
            total -= size

    def _listed(self) -> list[os.DirEntry[str]]:
        try:
            return list(os.scandir(self.folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _entries(self) -> list[tuple[int, int, str]]:
        """Return when each entry was last used, how many bytes it takes, and its hash."""
        found: list[tuple[int, int, str]] = []
        for entry in progress(self._listed(), "Checking sizes", "file"):
            if _is_ours(entry):
                with suppress(OSError):
                    known = entry.stat()
                    found.append((known.st_mtime_ns, known.st_size, entry.name))
        return found


class Store(HashedFiles):
    """Texts by the SHA-256 of their UTF-8 bytes: `Document.content_hash` of a document.

    Args:
        folder: The folder; it is made when something is put into it.
        most: How many bytes it may hold. A store with a bound is a cache: the texts that nobody used for the longest
            time are removed first, and damage is removed when it is met. Without one, damage is an error.
    """

    def __init__(self, folder: Path, most: int | None = None) -> None:
        super().__init__(folder)
        self._most = most

    def put(self, texts: Iterable[str]) -> list[str]:
        """Keep texts that are not there yet, and return the hashes of all.

        A file of another size than its text, as a power cut may leave it, is written anew.

        Raises:
            OSError: They cannot be written.
        """
        listed: list[str] = []
        with temporary_folder(self.folder) as folder:
            for text in texts:
                data = text.encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(data).hexdigest()
                listed.append(digest)
                file = self.folder / digest
                size = None
                with suppress(OSError):
                    size = file.stat().st_size
                if size != len(data):
                    part = folder / digest
                    with part.open("wb") as writing:
                        writing.write(data)
                        if self._most is None:  # what is lost from a cache is made again, and waiting is slow
                            writing.flush()
                            os.fsync(writing.fileno())
                    part.replace(file)
                elif self._most is not None:
                    self.use(digest)
        if self._most is not None:
            self.shrink(self._most)
        return listed

    def get(self, digest: str) -> str | None:
        """Return the text with a hash; None if it is not there.

        Raises:
            DatasetError: The file cannot be read, or holds something else, in a store without a bound.
        """
        file = self.folder / digest
        if not _HASH.fullmatch(digest) or not file.is_file():
            return None
        try:
            data = file.read_bytes()
        except OSError as error:
            if self._most is not None:
                return None
            raise DatasetError(f"{file}: cannot be read ({error.strerror}); check its permissions") from error
        if hashlib.sha256(data).hexdigest() == digest:
            if self._most is not None:
                self.use(digest)
            return data.decode("utf-8", "surrogatepass")
        if self._most is not None:
            self.remove([digest])
            return None
        raise DatasetError(
            f"{file}: was changed, as its name is not the SHA-256 of its content any more; restore it from version "
            "control, or delete it, so that this text is not kept"
        )


class Cache(HashedFiles):
    """Results in `<root>/cache/<name>/`, by a key: the SHA-256 of all that one depends on.

    Each entry has a checksum of key and content. What is damaged is removed, and what nobody used for the longest time
    goes first where all takes more than the bound. If the files cannot be read or written, work goes on without them.
    Both is noted.

    Args:
        root: The folder of runs and datasets.
        name: The name of the folder.
        what: What is kept there, as notes call it, such as `"vectors"`.
        most: How many bytes all may take, about.

    Attributes:
        problem: Why something could not be kept; None as long as all is.
    """

    def __init__(self, root: str | Path, name: str, what: str, most: int) -> None:
        super().__init__(Path(from_home(root)) / "cache" / name)
        self._what, self._most = what, most
        self._left = 0  # bytes to be written before the size is looked at
        self._told: set[str] = set()
        self.problem: str | None = None

    def read(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the entries that are there and whole, by their keys."""
        found: dict[str, bytes] = {}
        damaged, old = 0, time.time() - _DAY
        try:
            for key in keys:
                file = self.folder / key
                with suppress(FileNotFoundError):  # removed this moment
                    if file.is_file():
                        if file.stat().st_mtime < old:
                            self.use(key)
                        entry = file.read_bytes()
                        if _checksum(key, entry[_CHECKSUM:]) == entry[:_CHECKSUM]:
                            found[key] = entry[_CHECKSUM:]
                        else:
                            damaged += 1
                            self.remove([key])
        except (OSError, ValueError) as error:  # the latter of a path that no file can have
            self._go_on_without("read", error)
        if damaged:
            note(
                f"{self.folder}: {damaged} of {damaged + len(found)} {self._what} were damaged; they are removed, and "
                "that work is done again"
            )
        return found

    def write(self, entries: Mapping[str, bytes | memoryview]) -> None:
        """Keep entries by their keys, in place of those that are there; not those that are larger than all may be."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                # Beside the folder, as it is quick only where there are few files to remove what killed processes left.
                with temporary_folder(self.folder.parent) as made:
                    self.folder.mkdir(exist_ok=True)
                    for key, content in entries.items():
                        if len(content) <= self._most:
                            part = made / key
                            part.write_bytes(_checksum(key, content) + content)
                            part.replace(self.folder / key)
                self._left -= sum(map(len, entries.values()))
                if self._left < 0:
                    self.shrink(self._most)
                    self._left = self._most // _LOOKS
                return
            except (OSError, ValueError) as error:
                # The folder went, or went while it was made.
                if not isinstance(error, FileNotFoundError | FileExistsError) or attempt == _ATTEMPTS:
                    self.problem = self._go_on_without("kept", error)
                    return

    def _go_on_without(self, done: str, error: Exception) -> str:
        told = f"{self.folder}: {self._what} cannot be {done} ({getattr(error, 'strerror', None) or error})"
        if told not in self._told:
            self._told.add(told)
            note(
                f"{told}: that work is done again. Check the path, its permissions and the free space, or start anew "
                "with: rag-eval cache clear"
            )
        return told


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return _HASH.fullmatch(entry.name) is not None and entry.is_file()


def _checksum(key: str, content: bytes | memoryview) -> bytes:
    digest = hashlib.blake2b(key.encode(), digest_size=_CHECKSUM)
    digest.update(content)
    return digest.digest()
