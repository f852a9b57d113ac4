"""Folders of files: texts by the hash of their content, and results by the hash of all that they depend on.

A file is written beside its place and moved there, so that a process that is killed leaves a whole one or none, and
several processes may use a folder at once. What a file holds is checked whenever it is read.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from rag_evaluation_framework.base.files import folder_size, is_unfinished, remove_abandoned, unfinished
from rag_evaluation_framework.base.progress import progress
from rag_evaluation_framework.errors import DatasetError

HASH = re.compile("[0-9a-f]{64}")
"""Name of a file that is ours."""

_CHECKSUM = 16  # bytes
_ATTEMPTS = 100  # another process may clear a folder while it is written to, and again


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
        return sum(folder_size(self.folder / digest) for digest in self.digests())

    def remove(self, digests: Iterable[str]) -> None:
        """Remove files, as far as they are there."""
        for digest in digests:
            with suppress(OSError):
                (self.folder / digest).unlink()

    def clear(self) -> None:
        """Remove all files, and the folder if nothing else is in it.

        Raises:
            OSError: One cannot be removed.
        """
        remove_abandoned(self.folder)
        for digest in self.digests():
            (self.folder / digest).unlink(missing_ok=True)
        remove_empty(self.folder)

    def _listed(self) -> list[os.DirEntry[str]]:
        try:
            return list(os.scandir(self.folder))
        except OSError:
            return []

    def _use(self, digest: str) -> None:
        with suppress(OSError):
            os.utime(self.folder / digest)

    def _shrink(self, most: int) -> None:
        """Remove the files that were not used for the longest time, until the others fit."""
        used: list[tuple[float, int, str]] = []
        for entry in progress(self._listed(), "Checking sizes", "file"):
            if not _is_ours(entry):
                continue
            with suppress(OSError):
                known = entry.stat()
                used.append((known.st_mtime_ns, known.st_size, entry.name))
        total = sum(size for _, size, _ in used)
        for _, size, digest in sorted(used):
            if total <= most:
                return
            self.remove([digest])
            total -= size


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
        with unfinished(self.folder) as folder:
            for text in texts:
                data = text.encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(data).hexdigest()
                listed.append(digest)
                if not _has_size(self.folder / digest, len(data)):
                    part = folder / digest
                    with part.open("wb") as file:
                        file.write(data)
                        if self._most is None:  # what is lost from a cache is made again, and waiting is slow
                            file.flush()
                            os.fsync(file.fileno())
                    part.replace(self.folder / digest)
                elif self._most is not None:
                    self._use(digest)
        if self._most is not None:
            self._shrink(self._most)
        return listed

    def get(self, digest: str) -> str | None:
        """Return the text with a hash; None if it is not there.

        Raises:
            DatasetError: The file cannot be read, or holds something else, in a store without a bound.
        """
        file = self.folder / digest
        if not HASH.fullmatch(digest) or not file.is_file():
            return None
        try:
            data = file.read_bytes()
        except OSError as error:
            if self._most is not None:
                return None
            raise DatasetError(f"{file}: cannot be read ({error.strerror}); check its permissions") from error
        if hashlib.sha256(data).hexdigest() == digest:
            if self._most is not None:
                self._use(digest)
            return data.decode("utf-8", "surrogatepass")
        if self._most is not None:
            self.remove([digest])
            return None
        raise DatasetError(
            f"{file}: was changed, as its name is not the SHA-256 of its content any more; restore it from version "
            "control, or delete it, so that this text is not kept"
        )


class DamagedEntry(Exception):
    """An entry of a cache was damaged, and is removed."""


class Cache(HashedFiles):
    """Results, by a key: the SHA-256 of all that one depends on. Each entry has a checksum of key and content."""

    def put(self, entries: Mapping[str, bytes | memoryview]) -> None:
        """Keep entries by their keys, in place of those that are there.

        Raises:
            OSError: They cannot be written; those before the one that failed are kept.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                # Beside the folder, as it is quick only where there are few files to remove what killed processes left.
                with unfinished(self.folder.parent) as made:
                    self.folder.mkdir(exist_ok=True)
                    for key, content in entries.items():
                        part = made / key
                        part.write_bytes(_checksum(key, content) + content)
                        part.replace(self.folder / key)
                return
            except (FileNotFoundError, FileExistsError):  # the folder went, or went while it was made
                if attempt == _ATTEMPTS:
                    raise

    def get(self, key: str) -> bytes | None:
        """Return an entry; None if it is not there.

        Raises:
            DamagedEntry: It was damaged.
            OSError: It cannot be read.
        """
        file = self.folder / key
        try:
            data = file.read_bytes() if file.is_file() else None
        except FileNotFoundError:  # removed this moment
            return None
        if data is None or _checksum(key, data[_CHECKSUM:]) == data[:_CHECKSUM]:
            return data and data[_CHECKSUM:]
        self.remove([key])
        raise DamagedEntry


def remove_empty(folder: Path) -> None:
    """Remove a folder if nothing is in it, and it is not a link to one."""
    with suppress(OSError):  # it is not there, or not empty
        if not folder.is_symlink():
            folder.rmdir()


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return HASH.fullmatch(entry.name) is not None and entry.is_file()


def _has_size(file: Path, size: int) -> bool:
    try:
        return file.stat().st_size == size
    except OSError:
        return False


def _checksum(key: str, content: bytes | memoryview) -> bytes:
    digest = hashlib.blake2b(key.encode(), digest_size=_CHECKSUM)
    digest.update(content)
    return digest.digest()
