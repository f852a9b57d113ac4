"""Content-addressed store: a folder of texts, each in a file that is named by its SHA-256."""

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from rag_evaluation_framework.base.files import folder_size, unfinished
from rag_evaluation_framework.errors import DatasetError

_HASH = re.compile("[0-9a-f]{64}")


class Store:
    """Texts by the SHA-256 of their UTF-8 bytes, 64 hexadecimal digits: `Document.content_hash` of a document.

    Every file is written whole, and its content is compared with its name whenever it is read. Other files in the
    folder are left alone.

    Args:
        folder: The folder; it is made when something is put into it.
        most: How many bytes it may hold. A store with a bound is a cache: the texts that nobody used for the longest
            time are removed first, and damage is removed when it is met. Without one, damage is an error.
    """

    def __init__(self, folder: Path, most: int | None = None) -> None:
        self.folder, self._most = folder, most

    def digests(self) -> set[str]:
        """Return the hashes of the texts that are there."""
        try:
            return {path.name for path in self.folder.iterdir() if _HASH.fullmatch(path.name)}
        except OSError:
            return set()

    def size(self) -> int:
        """Return how many bytes the texts take."""
        return sum(folder_size(self.folder / digest) for digest in self.digests())

    def put(self, texts: Iterable[str]) -> list[str]:
        """Keep texts that are not there yet, and return the hashes of all.

        Raises:
            OSError: They cannot be written.
        """
        there, listed = self.digests(), list[str]()
        with unfinished(self.folder) as folder:
            for text in texts:
                data = text.encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(data).hexdigest()
                listed.append(digest)
                if digest not in there:
                    part = folder / digest
                    part.write_bytes(data)
                    part.replace(self.folder / digest)
                    there.add(digest)
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
                self._use(digest)
            return data.decode("utf-8", "surrogatepass")
        if self._most is not None:
            self.remove([digest])
            return None
        raise DatasetError(
            f"{file}: was changed, as its name is not the SHA-256 of its content any more; restore it from version "
            "control, or delete it, so that this text is not kept"
        )

    def remove(self, digests: Iterable[str]) -> None:
        """Remove texts, as far as they are there."""
        for digest in digests:
            with suppress(OSError):
                (self.folder / digest).unlink()

    def _use(self, digest: str) -> None:
        with suppress(OSError):
            os.utime(self.folder / digest)

    def _shrink(self, most: int) -> None:
        """Remove the texts that were not used for the longest time, until the others fit."""
        used: list[tuple[float, int, str]] = []
        for digest in self.digests():
            with suppress(OSError):
                known = (self.folder / digest).stat()
                used.append((known.st_mtime_ns, known.st_size, digest))
        total = sum(size for _, size, _ in used)
        for _, size, digest in sorted(used):
            if total <= most:
                return
            self.remove([digest])
            total -= size
