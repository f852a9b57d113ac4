"""Sections: parts of documents that are shown to a model, with their headings, and which are about the same."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import log, sqrt
from typing import TypeVar

from rag_evaluation_framework.chunkers import MarkdownHeaderChunker, RecursiveCharacterChunker
from rag_evaluation_framework.contracts.question_strategy import Section
from rag_evaluation_framework.data import AnyChunk, Corpus, Document, DocumentId
from rag_evaluation_framework.markups.formats import is_markdown
from rag_evaluation_framework.text.terms import words

# Headings: under which a part of a document stands, so that it is known what it speaks of.


class Headings:
    """The headings of the Markdown documents of a corpus.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[DocumentId, tuple[list[int], list[str]]] = {}

    def longest(self, doc_id: DocumentId) -> str:
        """Return the longest of the headings of a document."""
        return max(self._of(doc_id)[1], key=len)

    def at(self, doc_id: DocumentId, offset: int | None) -> str:
        """Return the headings of a place, from the outermost: `Billing > Refunds`; "" without any."""
        if offset is None or doc_id not in self._corpus:
            return ""
        starts, titles = self._of(doc_id)
        return titles[bisect_right(starts, offset)]

    def _of(self, doc_id: DocumentId) -> tuple[list[int], list[str]]:
        if doc_id not in self._known:
            self._known[doc_id] = _headings(self._corpus[doc_id])
        return self._known[doc_id]


def _headings(document: Document) -> tuple[list[int], list[str]]:
    """Return where the sections of a document begin, and the headings of what is before the first, and of each."""
    if not is_markdown(document.id):
        return [], [""]
    sections = MarkdownHeaderChunker(chunk_size=max(len(document.content), 1)).chunk_with_positions(document)
    return [each.start for each in sections], ["", *(str(each.metadata["section"]) for each in sections)]


# Sections: parts of documents that are shown to a model, so that long documents are covered to their end.

T = TypeVar("T")


def sections_of(corpus: Corpus, size: int, headings: Headings) -> list[Section]:
    """Return all documents in parts of whole paragraphs; where one is too long, of whole sentences.

    Args:
        corpus: The documents.
        size: The most characters of a section.
        headings: The headings of the documents.
    """
    chunker = RecursiveCharacterChunker(chunk_size=size)
    return [
        Section(document.id, (chunk,), headings.at(document.id, chunk.start))
        for document in corpus
        for chunk in chunker.chunk_with_positions(document)
    ]


def sections_of_chunks(chunks: Iterable[AnyChunk], size: int, headings: Headings) -> list[Section]:
    """Return chunks put together to sections, in their order.

    Args:
        chunks: The chunks, those of a document one after the other.
        size: The most characters of a section that has more than one chunk.
        headings: The headings of the documents.
    """

    def section(doc_id: DocumentId, together: Sequence[AnyChunk]) -> Section:
        return Section(doc_id, tuple(together), headings.at(doc_id, getattr(together[0], "start", None)))

    found: list[Section] = []
    for doc_id, own in groupby(chunks, key=lambda chunk: chunk.doc_id):
        together: list[AnyChunk] = []
        for chunk in own:
            if together and sum(len(other.content) for other in together) + len(chunk.content) > size:
                found.append(section(doc_id, together))
                together = []
            together.append(chunk)
        found.append(section(doc_id, together))
    return found


def by_document(sections: Iterable[Section]) -> Iterator[list[Section]]:
    """Yield the sections of each document."""
    for _, own in groupby(sections, key=lambda section: section.doc_id):
        yield list(own)


def dealt_out(items: Sequence[T], questions: int) -> Iterator[tuple[T, int]]:
    """Yield items, and how many questions each gets: in turn from the first, which gets no fewer than those after it.

    Items that get none are left out.
    """
    for number, item in enumerate(items[:questions]):
        yield item, -(-(questions - number) // len(items))


def shared_out(sections: Sequence[T], questions: int) -> Iterator[tuple[T, int]]:
    """Yield sections of a document, and how many questions each gets: spread evenly from its begin to its end.

    Sections that get none, of a document with more sections than questions, are left out.
    """
    count = len(sections)
    shares = Counter((2 * number + 1) * count // (2 * questions) for number in range(questions))
    for number in sorted(shares):
        yield sections[number], shares[number]


# Which texts are about the same, by the rare words that they share.

_MOST_SHARED = 20  # a word that more texts have says little, and would be looked up in all of them


class WordOverlap:
    """Cosine similarity of texts as sets of words weighted by rarity (inverse document frequency).

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        sets = [frozenset(words(text, None)) for text in texts]
        having: defaultdict[str, list[int]] = defaultdict(list)
        for number, own in enumerate(sets):
            for word in own:
                having[word].append(number)
        self._having = {word: numbers for word, numbers in having.items() if len(numbers) <= _MOST_SHARED}
        self._weights = {word: log(1 + len(texts) / len(numbers)) for word, numbers in self._having.items()}
        self._lengths = [self._length(own) for own in sets]

    def nearest(self, text: str) -> list[tuple[int, float]]:
        """Return the numbers of texts that share rare words with a text, and how similar they are, nearest first."""
        own = frozenset(words(text, None)) & self._having.keys()
        length = self._length(own)
        scores: defaultdict[int, float] = defaultdict(float)
        for word in sorted(own):
            for number in self._having[word]:
                scores[number] += self._weights[word] ** 2
        similar = [(number, score / (length * self._lengths[number])) for number, score in scores.items()]
        return sorted(similar, key=lambda found: (-found[1], found[0]))

    def _length(self, own: frozenset[str]) -> float:
        return sqrt(sum(self._weights[word] ** 2 for word in sorted(own & self._having.keys())))
