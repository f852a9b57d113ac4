"""Searching the same texts for one text after another."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from rag_evaluation_framework.text.page_index import PageIndex

_PAGE = 16_384
_SMALL = 32  # pages: what is read as quickly is read without the index
_PATIENCE = 25  # to index the texts takes about as long as to read them so many times
_CALL = 4_000  # characters are read in the time that it takes to begin with a text


class SearchedTexts:
    """Texts that are searched for one text after another.

    The first searches read everything. As soon as they have read as much as making an index costs, it is made, and from
    then on only pages are read that the index does not rule out. What is found is the same.

    Args:
        texts: The texts to search.
        page: The characters of a page of the index.
        patience: How many times everything is read before there is an index.

    Attributes:
        characters_read: What the searches so far have read; to begin with a text counts as reading 4,000.
    """

    def __init__(self, texts: Sequence[str], page: int = _PAGE, patience: int = _PATIENCE) -> None:
        self.texts = texts
        self.page, self.patience = page, patience
        self.starts = list(accumulate(map(len, texts), initial=0))
        self.characters_read = 0

    def occurrences(self, text: str, number: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield where a text occurs, in order: the number of the text that it is part of, and its first character.

        Args:
            text: What to look for; not empty.
            number: Search only the text of this number.
        """
        first, last = (0, self.starts[-1]) if number is None else self.starts[number : number + 2]
        for begin, end in self._runs(text, first, last):
            read, number = begin, bisect_right(self.starts, begin) - 1
            while number < len(self.texts) and (start := self.starts[number]) < end:
                searched, behind = self.texts[number], end - start + len(text) - 1
                place = searched.find(text, max(begin - start, 0), behind)
                while place >= 0:
                    self.characters_read, read = self.characters_read + start + place - read, start + place
                    yield number, place
                    place = searched.find(text, place + 1, behind)
                self.characters_read += _CALL
                number += 1
            self.characters_read += end - read

    def parts(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the parts of texts between two characters of all texts: the text's number, first and last character."""
        number = bisect_right(self.starts, begin) - 1
        while number < len(self.texts) and self.starts[number] < end:
            start = self.starts[number]
            yield number, max(begin - start, 0), min(end - start, len(self.texts[number]))
            number += 1

    def most_alike(self, text: str, pages: int, number: int | None = None) -> Iterator[tuple[int, int, int]]:
        """Yield the parts of the texts that share the most with a text: about so many pages, in order.

        Args:
            text: What to compare.
            pages: How many pages.
            number: Only parts of the text of this number.
        """
        first, last = (0, self.starts[-1]) if number is None else self.starts[number : number + 2]
        runs = [(first, last)]
        if last - first > pages * self.page:
            runs = list(self._index.most_alike(text, pages // 2, first, last))
        for begin, end in runs:
            yield from self.parts(max(begin, first), min(end, last))

    def _runs(self, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
        begun = 1 if last - first < self.starts[-1] else len(self.texts)
        if last - first + begun * _CALL <= _SMALL * self.page or self.characters_read < self.patience * self.starts[-1]:
            yield first, last
            return
        for begin, end in self._index.runs(text):
            if begin < last and first < end:
                yield max(begin, first), min(end, last)

    @cached_property
    def _index(self) -> PageIndex:
        return PageIndex(self.texts, self.page)
