"""An index of the pages of long texts: on which of them another text may begin."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

_SHORT = 6  # characters of a gram: of longer ones fewer pages have all, but shorter texts have none
_LONG = 4 * _SHORT  # tells tables of numbers apart, whose short grams are on all pages
_BITS = 16  # of a gram's hash: at 16,384 characters a page, half of the bits of two pages are set at most
_MOST_GRAMS = 96  # that are looked up; of a text of 1,200 characters, every character is in two or more
_FACTORS = np.array([0x01000193, 0x85EBCA6B], dtype=np.uint32)  # odd, as those of FNV-1a and MurmurHash
_MIXERS = np.array([0x9E3779B1, 0xC2B2AE35], dtype=np.uint32)
_SHIFT = np.uint32(32 - _BITS)  # the high bits of a product depend on all bits of its factors

Hashes = NDArray[np.uint32]


class PageIndex:
    """Tells on which pages of some texts, read one after the other, another text may begin.

    Pages are stretches of equal length. For every hash of 6 and of 24 characters a page has one bit: whether characters
    with that hash begin on it or on the page behind it. All the grams of a text have theirs on the page on which the
    text begins; every other page need not be searched. On the pages that are left the text is still to be searched.

    The index takes 8 KiB per page: half a byte per character, at the 16,384 characters it is made for.

    Args:
        texts: The texts.
        page: The characters of a page.
    """

    def __init__(self, texts: Sequence[str], page: int) -> None:
        self.page = page
        self.pages = -(-sum(map(len, texts)) // page)
        self._bits = np.zeros((2**_BITS, -(-self.pages // 8)), dtype=np.uint8)  # the first page in the lowest bit
        eight = np.zeros(2**_BITS, dtype=np.uint8)
        for number, text in enumerate(_pages(texts, page)):
            one = np.zeros(2**_BITS, dtype=np.uint8)
            for grams in _grams(text):
                one[grams] = 1 << number % 8
            eight |= one
            if number % 8 == 7 or number == self.pages - 1:
                self._bits[:, number // 8] = eight
                eight[:] = 0
        for rows in np.split(self._bits, 16):  # a part at a time, for the sake of memory
            behind = rows >> 1
            behind[:, :-1] |= rows[:, 1:] << 7
            rows |= behind

    def runs(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text may begin, in order: from and up to which character of all texts, counted through.

        Everywhere, if it is shorter than a gram.
        """
        short, long = _grams(text[: self.page + _SHORT])
        if not len(short):
            yield 0, self.pages * self.page
            return
        grams = long if len(long) > _MOST_GRAMS // 2 else np.append(short, long)
        common = np.bitwise_and.reduce(self._bits[grams[:: -(-len(grams) // _MOST_GRAMS)]], axis=0)
        yield from self._runs(np.flatnonzero(self._unpacked(common)))

    def most_alike(self, text: str, most: int, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the pages that share the most grams with a text, each with the page behind it, as `runs` does.

        Everywhere, if no page shares any, or if one other character in the middle may leave no gram of the text: hashes
        that happen to be alike would choose the pages.

        Args:
            text: The text, of which no more than a page is compared.
            most: How many pages.
            first: Only pages with a character from here on,
            last: and up to here, of all texts, counted through.
        """
        pages = slice(first // self.page, -(-last // self.page))
        shared = np.zeros(self.pages, dtype=np.int64)
        for gram in _grams(text[: self.page])[0]:
            shared += self._unpacked(self._bits[gram])
        shared = shared[pages]
        if len(text) < 2 * _SHORT or not shared.any():
            yield first, last
            return
        best = np.argsort(-shared, kind="stable")[:most] + pages.start
        yield from self._runs(np.unique(np.concatenate([best, np.minimum(best + 1, self.pages - 1)])))

    def _unpacked(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.unpackbits(bits, count=self.pages, bitorder="little")

    def _runs(self, pages: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        gaps = np.flatnonzero(pages[1:] > pages[:-1] + 1) + 1
        for first, end in pairwise([0, *gaps.tolist(), len(pages)] if len(pages) else []):
            yield int(pages[first]) * self.page, (int(pages[end - 1]) + 1) * self.page


def _pages(texts: Sequence[str], page: int) -> Iterator[str]:
    """Yield the text of each page, and of the characters behind it what the last grams of the page need."""
    starts = list(accumulate(map(len, texts), initial=0))
    for first in range(0, starts[-1], page):
        last = first + page + _LONG - 1
        number = bisect_right(starts, first) - 1
        parts: list[str] = []
        while number < len(texts) and starts[number] < last:
            parts.append(texts[number][max(first - starts[number], 0) : last - starts[number]])
            number += 1
        yield "".join(parts)


def _grams(text: str) -> tuple[Hashes, Hashes]:
    """Return the hashes of the short and of the long grams that begin at each character of a text; none if shorter."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)
    short = _combined(codes, 1, _SHORT, _FACTORS[0])
    long = _combined(short, _SHORT, _LONG // _SHORT, _FACTORS[1])
    return (short * _MIXERS[0]) >> _SHIFT, (long * _MIXERS[1]) >> _SHIFT


def _combined(numbers: Hashes, step: int, times: int, factor: np.uint32) -> Hashes:
    """Return a hash of so many of the numbers, `step` apart, for each number from which on there are so many."""
    count = max(len(numbers) - step * (times - 1), 0)
    hashes = numbers[:count].copy()
    for first in range(step, step * times, step):
        hashes *= factor
        hashes += numbers[first : first + count]
    return hashes
