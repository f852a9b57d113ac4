"""Finding where a text stands in the corpus: exactly, or up to white space, never by likeness."""

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.ids import DocumentId
from rag_evaluation_framework.spans import CharacterSpan

_WHITESPACE = np.array([code for code in range(0x3001) if chr(code).isspace()], dtype=np.uint32)
_BETWEEN_DOCUMENTS = "\0"
_NEAREST_CANDIDATES = 5
_PARTIAL_WORD_BEFORE = re.compile(r"\S{1,30}\Z")
_PARTIAL_WORD_BEHIND = re.compile(r"\S{1,30}")


class TextLocator:
    """Finds texts in the documents of one corpus.

    A text is found where it stands verbatim; where it stands nowhere verbatim, also where it differs in nothing but
    the amount and kind of white space. The span always covers the document's own characters.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def places(self, text: str, doc_id: str | None = None, limit: int = 20) -> list[CharacterSpan]:
        """Return where a text stands, in the order of the documents.

        Args:
            text: What to look for. Blank text stands nowhere.
            doc_id: Look in this document only.
            limit: Stop after so many places.

        Returns:
            Spans that carry the document's text; none if the text is not there.
        """
        if not text.strip():
            return []
        return self._exact.places(text, doc_id, limit) or self._spaced.places(" ".join(text.split()), doc_id, limit)

    def nearest(self, text: str) -> tuple[CharacterSpan, float] | None:
        """Return the passage most like a text, and how like it is (0 to 100), to show to a person.

        The likeness is the normalised indel similarity of the best window (RapidFuzz `partial_ratio`), over the five
        documents that share the most words with the text; the passage is that window, widened to whole words. None for
        a blank text or where nothing is alike.
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


class _Text:
    """All documents as one text, searched in one pass; `offsets` lead from the text back to the document."""

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
