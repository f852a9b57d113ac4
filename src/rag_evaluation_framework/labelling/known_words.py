"""What stood in documents of which the text is not kept: hashes of their lines and of their runs of four words.

What stands in a document of today and stood in one of these has its origin there, so no label may go to it.
"""

import hashlib
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.files import unfinished
from rag_evaluation_framework.data import Dataset, Document
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.alignment import Words

RUN = 4  # words
KNOWN = ".npz"
"""The ending of the file, which is named by the hash of the labelled corpus."""

Hashes = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class KnownWords:
    """Lines and runs of four words of documents, as sorted hashes of 32 bits.

    Of a million runs, one that never stood there is taken for one of them in one case of 4,000: a label is lost then.

    Attributes:
        lines: Of the words of every line.
        runs: Of every four words that follow each other in a document.
    """

    lines: Hashes
    runs: Hashes

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "KnownWords":
        """Return what stands in documents."""
        lines, runs = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
        for document in documents:  # one by one, as all of them may be large
            words = Words([document])
            lines.append(_of_lines(words))
            hashes, whole = _of_runs(words)
            runs.append(np.unique(hashes[whole]))
        return cls(np.unique(np.concatenate(lines)), np.unique(np.concatenate(runs)))

    def has_lines(self, words: Words) -> NDArray[np.bool_]:
        """Return which of the `lines` of the words of any documents stood in these."""
        return np.isin(_of_lines(words), self.lines)

    def has_runs(self, words: Words) -> NDArray[np.bool_]:
        """Return from which words on a run of four words stood in the documents, in the shape of `words.runs(4)`."""
        hashes, whole = _of_runs(words)
        return np.isin(hashes, self.runs) & whole

    def stood(self, words: Words) -> NDArray[np.bool_]:
        """Return which words of any documents are of a line or a run of four words that stood in these."""
        found = np.zeros(len(words.codes), np.bool_)
        runs = self.has_runs(words)
        for step in range(RUN):
            found[step : step + len(runs)] |= runs
        for first, last in words.lines[self.has_lines(words)].tolist():
            found[first:last] = True
        return found

    def save(self, file: Path) -> None:
        """Write a file, whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        with unfinished(file.parent) as folder:
            part = folder / "part.npz"
            # Differences of sorted numbers are small, so that a hash takes little more than a byte.
            lines, runs = (np.diff(each, prepend=np.uint32(0)) for each in (self.lines, self.runs))
            np.savez_compressed(part, lines=lines, runs=runs)
            part.replace(file)

    @classmethod
    def load(cls, file: Path) -> "KnownWords | None":
        """Read a file that was saved; None if there is none.

        Raises:
            DatasetError: It is damaged.
        """
        try:
            with file.open("rb") as data, np.load(data, allow_pickle=False) as kept:
                lines, runs = (np.cumsum(kept[name], dtype=np.uint32) for name in ("lines", "runs"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise DatasetError(
                f"{file}: was changed ({error}); restore it from version control, or delete it: then labels may be "
                "looked for where other text stood"
            ) from error
        return cls(lines, runs)


def known_file(dataset: Dataset[Any], folder: Path) -> Path:
    """Return the file of what stood in the labelled documents of which the text is not kept, in a folder of texts."""
    return folder / f"{dataset.corpus_hash}{KNOWN}"


def known_words(dataset: Dataset[Any]) -> KnownWords | None:
    """Return what stood in the labelled documents that are not kept whole, as there were many; None if they are.

    Raises:
        DatasetError: The file was changed.
    """
    return None if dataset.kept is None else KnownWords.load(known_file(dataset, dataset.kept.folder))


def _of_lines(words: Words) -> Hashes:
    keys = (hashlib.blake2b(line, digest_size=4).digest() for line, _, _ in words.keyed_lines)
    return np.frombuffer(b"".join(keys), "<u4")


def _of_runs(words: Words) -> tuple[Hashes, NDArray[np.bool_]]:
    hashes, whole = words.runs(RUN)
    return (hashes >> np.uint64(32)).astype(np.uint32), whole
