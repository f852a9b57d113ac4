"""Locating text in the corpus: verbatim or up to white space, never by similarity."""

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan

_WHITESPACE = np.array([code for code in range(0x3001) if chr(code).isspace()], dtype=np.uint32)
_BETWEEN_DOCUMENTS = "\0"
_NEAREST_CANDIDATES = 5
_PARTIAL_WORD_BEFORE = re.compile(r"\S{1,30}\Z")
_PARTIAL_WORD_BEHIND = re.compile(r"\S{1,30}")


class TextLocator:
    """Locates texts in the documents of a corpus.

    A text is located where it occurs verbatim or, if it occurs nowhere verbatim, where it differs only in the amount
    and kind of white space. Spans always cover the document's own characters.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._known: dict[tuple[str, str | None], tuple[int, list[CharacterSpan]]] = {}  # the limit, and what was found

    @classmethod
    def of(cls, corpus: Corpus) -> "TextLocator":
        """Return the locator of a corpus that all who look for texts in it share, for as long as one of them has it.

        What is costly, the joined texts and the places that were found, is so made once.
        """
        locator = _shared.get(id(corpus))  # the locator holds its corpus, so the id is not used again while it lives
        if locator is None:
            locator = _shared[id(corpus)] = cls(corpus)
        return locator

    def places(self, text: str, doc_id: str | None = None, limit: int = 20) -> list[CharacterSpan]:
        """Return the occurrences of a text, in document order.

        Args:
            text: The text to look for; blank text is never found.
            doc_id: Search only this document.
            limit: Stop after this many occurrences.

        Returns:
            Spans with the document's text; empty if the text was not found.
        """
        if not text.strip():
            return []
        known = self._known.get((text, doc_id))
        if known is None or known[0] < limit:
            spaced = " ".join(text.split())
            found = self._exact.places(text, doc_id, limit) or self._spaced.places(spaced, doc_id, limit)
            self._known[text, doc_id] = known = (limit, found)
        return known[1][:limit]

    def nearest(self, text: str) -> tuple[CharacterSpan, float] | None:
        """Return the passage most similar to a text and its similarity (0 to 100), for display only.

        The similarity is the normalised indel similarity of the best window (RapidFuzz `partial_ratio`), over the five
        documents that share the most words with the text; the passage is that window, widened to whole words. None for
        blank text or if nothing is similar.
        """
        words = set(text.casefold().split())
        shared = {doc_id: len(words & vocabulary) for doc_id, vocabulary in self._vocabularies.items()}
        candidates = sorted(shared, key=lambda doc_id: -shared[doc_id])[:_NEAREST_CANDIDATES] if words else []
        best: tuple[CharacterSpan, float] | None = None
        for doc_id in candidates:
            content = self.corpus[doc_id].content
            window = fuzz.partial_ratio_alignment(text, content, score_cutoff=best[1] if best else 1.0)
            if window is not None and window.dest_end > window.dest_start and (best is None or window.score > best[1]):
                start, end = _whole_words(content, window.dest_start, window.dest_end)
                best = CharacterSpan(doc_id, start, end, content[start:end]), window.score
        return best

    @cached_property
    def _exact(self) -> "_Text":
        return _Text(self.corpus, [document.content for document in self.corpus], None)

    @cached_property
    def _spaced(self) -> "_Text":
        pairs = [_collapse_whitespace(document.content) for document in self.corpus]
        return _Text(self.corpus, [text for text, _ in pairs], [offsets for _, offsets in pairs])

    @cached_property
    def _vocabularies(self) -> dict[DocumentId, set[str]]:
        return {document.id: set(document.content.casefold().split()) for document in self.corpus}


_shared: WeakValueDictionary[int, TextLocator] = WeakValueDictionary()


class _Text:
    """All documents joined into one text and searched in one pass; `offsets` map back to the documents."""

    def __init__(self, corpus: Corpus, texts: list[str], offsets: list[NDArray[np.int64]] | None) -> None:
        self.documents = corpus.documents
        self.offsets = offsets
        self.joined = _BETWEEN_DOCUMENTS.join(texts)
        self.starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        self.numbers = {document.id: number for number, document in enumerate(corpus)}

    def places(self, text: str, doc_id: str | None, limit: int) -> list[CharacterSpan]:
        first, last = 0, len(self.joined)
        if doc_id is not None:
            number = self.numbers.get(DocumentId(doc_id))
            if number is None:
                return []
            first, last = self.starts[number], self.starts[number + 1] - 1
        found: list[CharacterSpan] = []
        place = self.joined.find(text, first, last)
        while place >= 0 and len(found) < limit:
            number = bisect_right(self.starts, place) - 1
            if place + len(text) < self.starts[number + 1]:
                found.append(self._span(number, place - self.starts[number], len(text)))
            place = self.joined.find(text, place + 1, last)
        return found

    def _span(self, number: int, start: int, length: int) -> CharacterSpan:
        document, end = self.documents[number], start + length
        if self.offsets is not None:
            start, end = int(self.offsets[number][start]), int(self.offsets[number][end - 1]) + 1
        return CharacterSpan(document.id, start, end, document.content[start:end])


def _whole_words(content: str, start: int, end: int) -> tuple[int, int]:
    before, behind = _PARTIAL_WORD_BEFORE.search(content, 0, start), _PARTIAL_WORD_BEHIND.match(content, end)
    return before.start() if before else start, behind.end() if behind else end


def _collapse_whitespace(text: str) -> tuple[str, NDArray[np.int64]]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    blank = np.isin(codes, _WHITESPACE)
    keep = ~blank
    keep[:1] = True
    keep[1:] |= ~blank[:-1]  # the first blank of a run stands for the run
    kept = np.where(blank, np.uint32(ord(" ")), codes)[keep]
    return kept.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"), np.flatnonzero(keep)
