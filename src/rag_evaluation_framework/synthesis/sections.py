"""Sections: parts of documents that are shown to a model, so that long documents are covered to their end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from rag_evaluation_framework.chunkers.recursive_character import RecursiveCharacterChunker
from rag_evaluation_framework.contracts.question_strategy import Section
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.synthesis.headings import Headings

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
