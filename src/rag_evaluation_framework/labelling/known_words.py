"""What stood in documents of which the text is not kept: hashes of their lines and of their runs of four words.

What stands in a document of today and stood in one of these has its origin there, so no label may go to it.
"""

import hashlib
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
_STEP = np.uint64(0x9E3779B97F4A7C15)

Hashes = NDArray[np.uint32]
_Wide = NDArray[np.uint64]


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
        found: tuple[list[Hashes], list[Hashes]] = ([], [])
        for document in documents:  # one by one, as all of them may be large
            vocabulary: dict[str, int] = {}
            words = Words([document], vocabulary)
            hashes = _of_words(words, vocabulary)
            found[0].append(np.unique(_of_lines(words, hashes)))
            found[1].append(np.unique(_of_runs(hashes)[words.runs(RUN)[1]]))
        lines, runs = (np.unique(np.concatenate([np.zeros(0, np.uint32), *each])) for each in found)
        return cls(lines, runs)

    def has_lines(self, words: Words, vocabulary: Mapping[str, int]) -> NDArray[np.bool_]:
        """Return which of the `lines` of words stood in the documents.

        Args:
            words: The words of any documents.
            vocabulary: What their codes mean.
        """
        return _among(_of_lines(words, _of_words(words, vocabulary)), self.lines)

    def has_runs(self, words: Words, vocabulary: Mapping[str, int]) -> NDArray[np.bool_]:
        """Return from which words on a run of four words stood in the documents, in the shape of `words.runs(4)`."""
        return _among(_of_runs(_of_words(words, vocabulary)), self.runs) & words.runs(RUN)[1]

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


def _of_words(words: Words, vocabulary: Mapping[str, int]) -> _Wide:
    """Return a hash for each word that is the same in every process; that of a gap means nothing."""
    table = np.zeros(len(vocabulary) + 1, np.uint64)
    for word, code in vocabulary.items():
        table[code] = _of_word(word)
    return table[words.codes]


@lru_cache(2**20)
def _of_word(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _of_lines(words: Words, hashes: _Wide) -> Hashes:
    firsts, lasts = words.lines.T
    begins = np.zeros(len(hashes), np.int64)
    begins[firsts] = firsts
    places = np.arange(len(hashes)) - np.maximum.accumulate(begins)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(hashes + _places(len(hashes))[places]))])
    return _short(sums[lasts] - sums[firsts])


def _of_runs(hashes: _Wide) -> Hashes:
    count = max(len(hashes) - RUN + 1, 0)
    sums = np.zeros(count, np.uint64)
    for step, place in enumerate(_places(RUN)):
        sums += _mixed(hashes[step : step + count] + place)
    return _short(sums)


def _places(count: int) -> _Wide:
    """Return numbers by which the same word at another place of a line or a run counts as another one."""
    return np.arange(count, dtype=np.uint64) * _STEP


def _mixed(values: _Wide) -> _Wide:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _short(values: _Wide) -> Hashes:
    return (_mixed(values) >> np.uint64(32)).astype(np.uint32)


def _among(values: Hashes, known: Hashes) -> NDArray[np.bool_]:
    return np.isin(values, known)
