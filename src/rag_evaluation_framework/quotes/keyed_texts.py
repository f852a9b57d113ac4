"""Texts by their keys: the letters, numbers and combining marks that are shown, and where they stand in the source."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag_evaluation_framework.base.progress import progress
from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.text.text_locator import SearchedTexts

Offsets = NDArray[np.int32]
_PAGES_COMPARED = 16


class KeyedTexts:
    """Documents as they are shown, searched by key.

    Args:
        markups: What is shown of each document.
    """

    def __init__(self, markups: Sequence[Markup]) -> None:
        self.markups = markups
        self._offsets: dict[int, Offsets] = {}

    @cached_property
    def _texts(self) -> list[str]:
        markups = progress(self.markups, "Indexing documents", "document")
        return [markup.text.translate(_KEYS) for markup in markups]

    @cached_property
    def _searched(self) -> SearchedTexts:
        return SearchedTexts(self._texts)

    def occurrences(self, key: str, number: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield where a key occurs, in order: the number of the document, and the first character of its key.

        Args:
            key: What to look for; not empty.
            number: Search only the document of this number.
        """
        return self._searched.occurrences(key, number)

    def nearest(self, key: str, number: int | None = None) -> tuple[int, int, int, float] | None:
        """Return the stretch that is most similar to a key; None if nothing is similar.

        It is the best window of RapidFuzz's `partial_ratio` among about a quarter of a million characters: those that
        share the most with the key.

        Args:
            key: What to compare, at most a few hundred characters: it takes time that grows with them.
            number: Only the document of this number.

        Returns:
            The number of the document, the first character of the stretch and one past its last, counted in the key of
            the document, and the similarity, from 0 to 100.
        """
        best: tuple[int, int, int, float] | None = None
        for found, first, last in self._searched.most_alike(key, _PAGES_COMPARED, number):
            window = _most_similar(key, self._texts[found][first : last + len(key)], best[3] if best else 1.0)
            if window is not None and (best is None or window[2] > best[3]):
                best = (found, first + window[0], first + window[1], window[2])
        return best

    def offsets(self, number: int) -> Offsets:
        """Return where each character of a document's key stands in its source; shape (characters of the key,)."""
        if number not in self._offsets:  # of the documents in which something occurs: they take 4 bytes a character
            self._offsets[number] = keyed(self.markups[number])[1]
        return self._offsets[number]


class _Keys(dict[int, str]):
    """The keys of the characters met so far, by their codes, and how long they are: that of ﬁ has two letters."""

    def __init__(self) -> None:
        self.lengths = np.zeros(0x110000, dtype=np.uint8)

    def __missing__(self, code: int) -> str:
        self[code] = found = key(chr(code))
        self.lengths[code] = len(found)
        return found


_KEYS = _Keys()


def keyed(markup: Markup) -> tuple[str, Offsets]:
    """Return the key of what is shown, and where each of its characters stands in the source."""
    text = markup.text.translate(_KEYS)
    codes = np.frombuffer(markup.text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return text, np.repeat(markup.offsets, _KEYS.lengths[codes])


def _most_similar(text: str, content: str, least: float) -> tuple[int, int, float] | None:
    """Return the first and last character of the window most similar to a text, and how similar it is; None below that.

    Content that is shorter than the text is compared as a whole: of a single word each quote may have a copy.
    """
    if len(content) < len(text):
        similarity = fuzz.ratio(text, content, score_cutoff=least)
        return (0, len(content), similarity) if similarity else None
    window = fuzz.partial_ratio_alignment(text, content, score_cutoff=least)
    return (
        None
        if window is None or window.dest_end <= window.dest_start
        else (window.dest_start, window.dest_end, window.score)
    )
