"""Locating text in the corpus, verbatim or up to white space, never by similarity; and places by line and column."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ..base.outside import name_line
from ..base.progress import progress
from ..data import CharacterSpan, Corpus, DocumentId

INDEXING = "Indexing documents"

# Text of which every run of white space is one blank.

_BLANKS = np.array([chr(code).isspace() for code in range(0x3001)] + [False])  # the last is for all codes behind it
_UNEVEN = re.compile(r"[^\S ]|  ")
_END = "\0"  # between texts that are read as one; of no language, and as short as any in memory

Offsets = NDArray[np.int32]


class CollapsedText:
    """A text of which every run of white space is one blank, and where its characters stand in the original.

    Args:
        original: The text.

    Attributes:
        text: The text, collapsed; the original itself if that is the same.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = original
        if _UNEVEN.search(original):
            is_blank = _is_blank(original)
            kept = _kept(is_blank)
            codes = _codes(original)[kept]
            codes[is_blank[kept]] = ord(" ")
            self.text = str(codes.astype("<u4", copy=False).data, "utf-32-le", "surrogatepass")

    @cached_property
    def _left_out(self) -> Offsets:
        """Of each character that is left out the number of those kept before it; ascending."""
        left_out = np.flatnonzero(~_kept(_is_blank(self.original)))
        return (left_out - np.arange(len(left_out))).astype(np.int32)

    def offset(self, place: int) -> int:
        """Return where a character of the collapsed text stands in the original; of a blank, where its run begins."""
        if self.text is self.original:
            return place
        return place + int(self._left_out.searchsorted(np.int32(place), "right"))  # an int would copy the whole array


def _kept(is_blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which characters a collapsed text has: of a run of white space, the first."""
    kept = ~is_blank
    kept[1:] |= kept[:-1]
    kept[:1] = True
    return kept


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


def _is_blank(text: str) -> NDArray[np.bool_]:
    is_blank: NDArray[np.bool_] = _BLANKS[np.minimum(_codes(text), len(_BLANKS) - 1)]
    return is_blank


def offsets_without_white_space(text: str) -> Offsets:
    """Return where each character of a text stands that is no white space; shape (such characters,)."""
    return np.flatnonzero(~_is_blank(text)).astype(np.int32)


# An index of the pages of long texts: on which of them another text may begin.

_GRAM = 6  # characters: of longer ones fewer pages have all, but shorter texts have none
_LONG = 4 * _GRAM  # tells tables of numbers apart, whose short grams are on all pages
_BITS = 16  # of a gram's hash: at 16,384 characters a page, half of the bits of two pages are set at most
_MOST_GRAMS = 96  # that are looked up
_FACTOR, _MIXER = 0x01000193, np.uint32(0x9E3779B1)  # odd, as those of FNV-1a and MurmurHash
_POWERS = {characters: np.uint32(pow(_FACTOR, characters, 2**32)) for characters in (1, 3, _GRAM, 2 * _GRAM)}
_SHIFT = np.uint32(32 - _BITS)  # the high bits of a product depend on all bits of its factors


class PageIndex:
    """Finds the pages on which another text may begin.

    Pages are stretches of equal length. For every hash of 6, and for every hash of 24 characters, a page has one bit:
    whether characters with that hash begin on it or on the page behind it. All the grams of a text have theirs on the
    page on which the text begins; every other page need not be searched. On the pages that are left the text is still
    to be searched.

    The index takes 16 KiB per page: a byte per character, at the 16,384 characters it is made for.

    Args:
        texts: The texts; behind each of them a sign is counted that is in none.
        page: The characters of a page.
    """

    def __init__(self, texts: Sequence[str], page: int) -> None:
        self.page = page
        self.pages = -(-sum(len(text) + 1 for text in texts) // page)
        # Of short and of long grams, of which one table would be full; the first page in the lowest bit.
        self._bits = np.zeros((2, 2**_BITS, -(-self.pages // 8)), dtype=np.uint8)
        eight = np.zeros((2, 2**_BITS), dtype=np.uint8)
        numbers = progress(range(self.pages), INDEXING, "page")
        for number, text in zip(numbers, _pages(texts, page), strict=True):
            for table, grams in zip(eight, _grams(text), strict=True):
                one = np.zeros(2**_BITS, dtype=np.uint8)
                one[grams] = 1 << number % 8
                table |= one
            if number % 8 == 7 or number == self.pages - 1:
                self._bits[:, :, number // 8] = eight
                eight[:] = 0
        for rows in np.split(self._bits.reshape(2 * 2**_BITS, -1), 32):  # a part at a time, for the sake of memory
            behind = rows >> 1
            behind[:, :-1] |= rows[:, 1:] << 7
            rows |= behind

    def runs(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text may begin, in order: from and up to which character of all texts, counted through.

        Everywhere, if it is shorter than a gram.
        """
        short, long = _grams(text[: self.page + _GRAM])
        if not len(short):
            return iter([(0, self.pages * self.page)])
        common = self._common(1, long)
        if len(long) <= _MOST_GRAMS // 2:
            common &= self._common(0, short)
        return self._runs(self._unpacked(common).nonzero()[0])

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
            shared += self._unpacked(self._bits[0, gram])
        shared = shared[pages]
        if len(text) < 2 * _GRAM or not shared.any():
            return iter([(first, last)])
        best = np.argsort(-shared, kind="stable")[:most] + pages.start
        return self._runs(np.unique(np.concatenate([best, np.minimum(best + 1, self.pages - 1)])))

    def _common(self, table: int, grams: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return the pages that have some of these grams, each a bit; of no grams, all."""
        some = grams[:: len(grams) // _MOST_GRAMS + 1]
        common: NDArray[np.uint8] = np.bitwise_and.reduce(self._bits[table].take(some, axis=0), axis=0)
        return common

    def _unpacked(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.unpackbits(bits, count=self.pages, bitorder="little")

    def _runs(self, pages: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        gaps = (pages[1:] > pages[:-1] + 1).nonzero()[0] + 1
        for first, end in pairwise([0, *gaps.tolist(), len(pages)] if len(pages) else ()):
            yield int(pages[first]) * self.page, (int(pages[end - 1]) + 1) * self.page


def _pages(texts: Sequence[str], page: int) -> Iterator[str]:
    """Yield the text of each page, and of the characters behind it what the last grams of the page need."""
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    for first in range(0, starts[-1], page):
        last = first + page + _LONG - 1
        numbers = range(bisect_right(starts, first) - 1, bisect_right(starts, last - 1, hi=len(texts)))
        yield _END.join(texts[number][max(first - starts[number], 0) : last - starts[number]] for number in numbers)


def _grams(text: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the hashes of the short and of the long grams that begin at each character; none if a text is shorter."""
    short = _combined(_combined(_codes(text), 1, 3), 3, _GRAM // 3)
    long = _combined(_combined(short, _GRAM, 2), 2 * _GRAM, _LONG // _GRAM // 2)
    # As rows of a table: of any other numbers, such ones would be made at each use.
    return ((short * _MIXER) >> _SHIFT).astype(np.intp), ((long * _MIXER) >> _SHIFT).astype(np.intp)


def _combined(hashes: NDArray[np.uint32], characters: int, times: int) -> NDArray[np.uint32]:
    """Return the hash of so many times as many characters that begin at each character, from those of fewer."""
    count = max(len(hashes) - characters * (times - 1), 0)
    combined = hashes[:count].copy()
    for first in range(characters, characters * times, characters):
        combined *= _POWERS[characters]
        combined += hashes[first : first + count]
    return combined


# Searching the same texts for one text after another.

_PAGE = 16_384
_SMALL = 32  # pages: what is read as quickly is read without the index
_PATIENCE = 16  # to index the texts takes about as long as to read them so many times


class SearchedTexts:
    """Texts that are searched for one text after another.

    The first searches read everything. As soon as they have read as much as making an index costs, it is made, and from
    then on only pages are read that the index does not rule out. What is found is the same. Short texts that follow
    each other are joined to blocks of about a page, as to begin with each would cost more than to read it; not to
    longer ones, as one emoji makes four bytes of every character of its block.

    Args:
        texts: The texts to search.
        page: The characters of a page of the index.
        patience: How many times everything is read before there is an index.

    Attributes:
        starts: Where each text begins, counted through all of them, and where one behind the last would.
        characters_read: What the searches so far have read.
    """

    def __init__(self, texts: Sequence[str], page: int = _PAGE, patience: int = _PATIENCE) -> None:
        self.page, self.patience = page, patience
        self._lengths = list(map(len, texts))
        self.starts = list(accumulate((length + 1 for length in self._lengths), initial=0))
        self._blocks, self._block_starts = list[str](), list[int]()
        first = 0
        for number, end in enumerate(self.starts[1:], 1):
            if end - self.starts[first] >= page or number == len(texts):
                self._block_starts.append(self.starts[first])
                self._blocks.append(_END.join(texts[first:number]))
                first = number
        self.characters_read = 0

    def occurrences(self, text: str, number: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield where a text occurs, in order: the number of the text that it is part of, and its first character.

        Args:
            text: What to look for; not empty.
            number: Search only the text of this number.
        """
        first, last = (0, self.starts[-1]) if number is None else self.starts[number : number + 2]
        for begin, end in self._runs(text, first, last):
            read, at = begin, max(bisect_right(self._block_starts, begin) - 1, 0)
            while at < len(self._blocks) and (start := self._block_starts[at]) < end:
                block, behind = self._blocks[at], end - start + len(text) - 1
                place = block.find(text, max(begin - start, 0), behind)
                while place >= 0:
                    at_place = start + place
                    self.characters_read += at_place - read
                    read, found = at_place, bisect_right(self.starts, at_place) - 1
                    within = at_place - self.starts[found]
                    if within + len(text) <= self._lengths[found]:  # not so of one that has the sign between texts
                        yield found, within
                    place = block.find(text, place + 1, behind)
                at += 1
            self.characters_read += end - read

    def most_alike(self, text: str, pages: int, number: int | None = None) -> Iterator[tuple[int, int, int]]:
        """Yield the parts of the texts that share the most with a text: about so many pages, in order.

        Args:
            text: What to compare.
            pages: How many pages.
            number: Only parts of the text of this number.

        Yields:
            The number of a text, the first character of the part in it, and one past its last.
        """
        first, last = (0, self.starts[-1]) if number is None else self.starts[number : number + 2]
        runs = [(first, last)]
        if last - first > pages * self.page:
            runs = list(self._index.most_alike(text, pages // 2, first, last))
        for begin, end in runs:
            at = bisect_right(self.starts, max(begin, first)) - 1
            while at < len(self._lengths) and (start := self.starts[at]) < min(end, last):
                yield at, max(begin - start, 0), min(end - start, self._lengths[at])
                at += 1

    def _runs(self, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
        if last - first <= _SMALL * self.page or self.characters_read < self.patience * self.starts[-1]:
            yield first, last
            return
        for begin, end in self._index.runs(text):
            if begin < last and first < end:
                yield max(begin, first), min(end, last)

    @cached_property
    def _index(self) -> PageIndex:
        return PageIndex(self._blocks, self.page)


class Locator:
    """Looks for something in the documents of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """Return the locator of a corpus that all who look for texts in it share, for as long as one of them has it.

        What is costly, the index of the texts and the places that were found, is so made once.
        """
        key = cls, id(corpus)
        locator: Self | None = _shared.get(key)  # it holds its corpus, so the id is not used again while it lives
        if locator is None:
            locator = _shared[key] = cls(corpus)
        return locator

    @cached_property
    def numbers(self) -> dict[DocumentId, int]:
        """The number of each document in the corpus."""
        return {document.id: number for number, document in enumerate(self.corpus)}


_shared: WeakValueDictionary[tuple[type, int], Any] = WeakValueDictionary()


class TextLocator(Locator):
    """Locates texts in the documents of a corpus.

    A text is located where it occurs verbatim or, if it occurs nowhere verbatim, where it differs only in the amount
    and kind of white space. Spans always cover the document's own characters.
    """

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus)
        self._known: dict[tuple[str, str | None], tuple[int, list[CharacterSpan]]] = {}  # the limit, and what was found

    def places(self, text: str, doc_id: str | None = None, limit: int = 20) -> list[CharacterSpan]:
        """Return the occurrences of a text, in document order.

        Args:
            text: The text to look for; blank text is never found.
            doc_id: Search only this document.
            limit: Stop after this many occurrences.

        Returns:
            Spans with the document's text; empty if the text was not found.
        """
        known = self._known.get((text, doc_id))
        if known is None or known[0] < limit:
            found = list(islice(self._occurrences(text, doc_id), limit))
            self._known[text, doc_id] = known = (limit, found)
        return known[1][:limit]

    def copies(self, text: str, limit: int = 20) -> list[CharacterSpan]:
        """Return where a text occurs up to white space, in document order, also where it does not stand verbatim.

        Args:
            text: The text to look for; blank text is never found.
            limit: Stop after this many occurrences.

        Returns:
            Spans with the document's text; they begin and end with no white space.
        """
        core = " ".join(text.split())
        found = islice(self._spaced.occurrences(core), limit) if core else ()
        return [self._uncollapsed(number, start, len(core)) for number, start in found]

    def _occurrences(self, text: str, doc_id: str | None) -> Iterator[CharacterSpan]:
        """Yield the places where a text occurs verbatim or, if there are none, up to white space; none of a blank."""
        number = None if doc_id is None else self.numbers.get(DocumentId(doc_id))
        if not text.strip() or (doc_id is not None and number is None):
            return
        verbatim = False
        for found, start in self._exact.occurrences(text, number):
            verbatim = True
            document = self.corpus.documents[found]
            yield CharacterSpan(document.id, start, start + len(text), str(text))  # one text for all its places
        if verbatim:
            return
        spaced, shown = " ".join(text.split()), ""
        for found, start in self._spaced.occurrences(spaced, number):
            span = self._uncollapsed(found, start, len(spaced))
            shown = shown if span.text == shown else span.text  # mostly one text for all its places
            yield replace(span, text=shown)

    def _uncollapsed(self, number: int, start: int, length: int) -> CharacterSpan:
        """Return the span of characters of a document of which every run of white space is one blank."""
        collapsed, document = self._collapsed[number], self.corpus.documents[number]
        start, end = collapsed.offset(start), collapsed.offset(start + length - 1) + 1
        return CharacterSpan(document.id, start, end, document.content[start:end])

    @cached_property
    def _exact(self) -> SearchedTexts:
        return SearchedTexts([document.content for document in self.corpus])

    @cached_property
    def _collapsed(self) -> list[CollapsedText]:
        return [CollapsedText(document.content) for document in progress(self.corpus, INDEXING, "document")]

    @cached_property
    def _spaced(self) -> SearchedTexts:
        return SearchedTexts([collapsed.text for collapsed in self._collapsed])


_LEAST_LETTERS = 20  # or digits, about four words: what is shorter is written again without being the same


def is_long(text: str) -> bool:
    """Return whether a text is long enough to be the same wherever it stands."""
    return sum(map(str.isalnum, text)) >= _LEAST_LETTERS


# Places in documents as editors count them: by line and column.


class LinePlaces:
    """Lines and columns of spans in a corpus.

    The lines of a document are counted once, however many of its spans are asked for.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._line_ends: dict[str, list[int]] = {}

    def place(self, span: CharacterSpan) -> tuple[int, int]:
        """Return the line and the column at which a span of the corpus begins; both count from 1, in code points.

        They are those of the file, also where a reader made the text of it, if it knows them; else those of the text.
        """
        document = self.corpus[span.doc_id]
        if document.source is not None and document.source.reading.starts:
            return document.source.place(span.start)
        if span.doc_id not in self._line_ends:
            self._line_ends[span.doc_id] = [found.start() for found in re.finditer("\n", document.content)]
        ends = self._line_ends[span.doc_id]
        line = bisect_left(ends, span.start)
        return line + 1, span.start - (ends[line - 1] + 1 if line else 0) + 1

    def named(self, span: CharacterSpan) -> str:
        """Return where a span of the corpus begins, as `file:line:column` or, of a PDF, `file, page 3`."""
        source = self.corpus[span.doc_id].source
        if source is not None and (page := source.page(span.start)):
            return f"{name_line(span.doc_id)}, page {page}"
        line, column = self.place(span)
        return f"{name_line(span.doc_id)}:{line}:{column}"

    def path(self, span: CharacterSpan) -> str:
        """Return where a span of the corpus begins, with the folder as it was given: an editor finds it."""
        return f"{folder_of(self.corpus)}{self.named(span)}"


def folder_of(corpus: Corpus) -> str:
    """Return what stands before the id of a document in the path of its file, as the folder was given."""
    folder = corpus.metadata.get("source")
    if isinstance(folder, str) and Path(folder).name in corpus:  # a single file
        folder = str(Path(folder).parent)
    return f"{name_line(folder)}/" if isinstance(folder, str) else ""
