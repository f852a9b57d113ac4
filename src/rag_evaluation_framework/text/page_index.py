"""An index of the pages of long texts: on which of them another text may begin."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

_GRAM = 6  # characters: of longer ones fewer pages have all, but shorter texts have none
_BITS = 16  # of a gram's hash: at 32,768 characters a page, half of the bits of two pages are set at most
_MOST_GRAMS = 128  # looked up of a text; they leave few pages but those that have it
_FACTOR, _MIXER = np.uint32(0x01000193), np.uint32(0x9E3779B1)  # odd: those of FNV-1a and of Fibonacci hashing


class PageIndex:
    """Tells on which pages of some texts, read one after the other, another text may begin.

    Pages are stretches of equal length. For every hash of six characters a page has one bit: whether six characters
    with that hash begin on it or on the page behind it. All the grams of a text have theirs on the page on which the
    text begins; every other page need not be searched. On the pages that are left the text is still to be searched.

    The index takes 8 KiB per page: a quarter of a byte per character, at the 32,768 characters it is made for.

    Args:
        texts: The texts.
        page: The characters of a page; at least 6.
    """

    def __init__(self, texts: Sequence[str], page: int) -> None:
        self.page = page
        self.pages = -(-sum(map(len, texts)) // page)
        self._bits = np.zeros((2**_BITS, -(-self.pages // 8)), dtype=np.uint8)  # the first page in the lowest bit
        eight = np.zeros(2**_BITS, dtype=np.uint8)
        for number, text in enumerate(_pages(texts, page)):
            eight[_grams(text)] |= np.uint8(1 << number % 8)
            if number % 8 == 7 or number == self.pages - 1:
                self._bits[:, number // 8] = eight
                eight[:] = 0
        for rows in np.split(self._bits, 16):  # a part at a time, for the sake of memory
            behind = rows >> 1
            behind[:, :-1] |= rows[:, 1:] << 7
            rows |= behind

    def runs(self, text: str) -> list[tuple[int, int]]:
        """Return where a text may begin, in order: from and up to which character of all texts, counted through.

        Everywhere, if it is shorter than a gram.
        """
        grams = _grams(text[: self.page + _GRAM])
        if not len(grams):
            return [(0, self.pages * self.page)]
        common = np.bitwise_and.reduce(self._bits[grams[:: -(-len(grams) // _MOST_GRAMS)]], axis=0)
        return self._runs(np.flatnonzero(self._unpacked(common)))

    def most_alike(self, text: str, most: int) -> list[tuple[int, int]]:
        """Return the pages that share the most grams with a text, each with the page behind it, as `runs` does.

        Args:
            text: The text, of which no more than a page is compared.
            most: How many pages.
        """
        shared = np.zeros(self.pages, dtype=np.int64)
        for gram in _grams(text[: self.page]):
            shared += self._unpacked(self._bits[gram])
        best = np.argsort(-shared, kind="stable")[:most]
        return self._runs(np.unique(np.concatenate([best, np.minimum(best + 1, self.pages - 1)])))

    def _unpacked(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.unpackbits(bits, count=self.pages, bitorder="little")

    def _runs(self, pages: NDArray[np.int64]) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for page in pages.tolist():
            first = runs.pop()[0] if runs and runs[-1][1] == page * self.page else page * self.page
            runs.append((first, (page + 1) * self.page))
        return runs


def _pages(texts: Sequence[str], page: int) -> Iterator[str]:
    """Yield the text of each page, and of the characters behind it what the last grams of the page need."""
    starts = list(accumulate(map(len, texts), initial=0))
    for first in range(0, starts[-1], page):
        last = first + page + _GRAM - 1
        number = bisect_right(starts, first) - 1
        parts: list[str] = []
        while number < len(texts) and starts[number] < last:
            parts.append(texts[number][max(first - starts[number], 0) : last - starts[number]])
            number += 1
        yield "".join(parts)


def _grams(text: str) -> NDArray[np.uint32]:
    """Return the hashes of all grams of a text; shape (characters - 5,), none if it is shorter."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)
    count = max(len(codes) - _GRAM + 1, 0)
    hashes = codes[:count].copy()
    for offset in range(1, _GRAM):
        hashes *= _FACTOR
        hashes += codes[offset : count + offset]
    hashes *= _MIXER
    hashes >>= np.uint32(32 - _BITS)
    return hashes
