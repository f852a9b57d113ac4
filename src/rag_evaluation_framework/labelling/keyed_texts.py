"""Texts by their keys: the letters, numbers and combining marks that are shown, and where they stand in the source."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.labelling.characters import key
from rag_evaluation_framework.labelling.markup import Markup
from rag_evaluation_framework.text.searched_texts import SearchedTexts

Offsets = NDArray[np.int32]
_SEVERAL = 0xFFFFFFFF  # in place of the key of a character that has several: ﬁ


class KeyedTexts:
    """Documents as they are shown, searched by key.

    Args:
        markups: What is shown of each document.
    """

    def __init__(self, markups: Sequence[Markup]) -> None:
        self.markups = markups

    @cached_property
    def _keyed(self) -> list[tuple[str, Offsets]]:
        table = _KeyTable()
        return [table.keyed(*markup.codes()) for markup in self.markups]

    @cached_property
    def _searched(self) -> SearchedTexts:
        return SearchedTexts([text for text, _ in self._keyed])

    def occurrences(self, key: str, number: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield where a key occurs, in order: the number of the document, and the first character of its key.

        Args:
            key: What to look for; not empty.
            number: Search only the document of this number.
        """
        return self._searched.occurrences(key, number)

    def offsets(self, number: int) -> Offsets:
        """Return where each character of a document's key stands in its source; shape (characters of the key,)."""
        return self._keyed[number][1]


class _KeyTable:
    """The keys of all characters met so far, by their codes."""

    def __init__(self) -> None:
        self._keys = np.zeros(0x110000, dtype=np.uint32)
        self._met = np.zeros(0x110000, dtype=np.bool_)

    def keyed(self, codes: NDArray[np.uint32], offsets: Offsets) -> tuple[str, Offsets]:
        """Return the key of a text and the offset of each of its characters."""
        self._meet(codes)
        keys = self._keys[codes]
        several = np.flatnonzero(keys == _SEVERAL)
        kept = keys != 0
        if not len(several):
            return _text(keys[kept]), offsets[kept]
        texts = [key(chr(code)) for code in codes[several].tolist()]
        counts = kept.astype(np.int64)
        counts[several] = [len(text) for text in texts]
        keys = np.repeat(keys, counts)
        keys[keys == _SEVERAL] = np.frombuffer("".join(texts).encode("utf-32-le"), dtype="<u4")
        return _text(keys), np.repeat(offsets, counts)

    def _meet(self, codes: NDArray[np.uint32]) -> None:
        for code in np.unique(codes[~self._met[codes]]).tolist():
            text = key(chr(code))
            self._keys[code] = _SEVERAL if len(text) > 1 else ord(text) if text else 0
            self._met[code] = True


def _text(codes: NDArray[np.uint32]) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
