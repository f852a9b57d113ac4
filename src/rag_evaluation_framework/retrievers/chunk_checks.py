"""What a chunker made of a corpus, compared with the corpus."""

from collections.abc import Sequence

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.chunkers.position_adapter import ChunkerPositionAdapter
from rag_evaluation_framework.contracts.chunker import PositionAwareChunker
from rag_evaluation_framework.data.chunks import AnyChunk, Chunk, PositionAwareChunk
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.errors import InputError


def tell_of_chunks(
    chunker: PositionAwareChunker, corpus: Corpus, chunks: Sequence[AnyChunk], without: Sequence[DocumentId]
) -> None:
    """Note what is odd about the chunks of a corpus; `without` are the documents that have text and no chunk.

    Raises:
        InputError: There is no chunk with text.
    """
    blank = sum(not chunk.content.strip() for chunk in chunks)
    if blank == len(chunks):
        made = "nothing but blank chunks" if chunks else "no chunks"
        raise InputError(f"{chunker.name} made {made} from {len(corpus)} documents: there is nothing to search")
    if blank:
        note(f"{blank} of {len(chunks)} chunks of {chunker.name} are blank: no question is about them")
    if without:
        documents = sum(bool(document.content.strip()) for document in corpus)
        note(
            f"{chunker.name} made no chunk from {len(without)} of {documents} documents that have text, the first: "
            f"{without[0]!r}. Nothing of them can be found"
        )
    unplaced = [chunk for chunk in chunks if isinstance(chunk, Chunk)]
    if unplaced:
        note(
            f"{len(unplaced)} of {len(chunks)} chunks are not text of their document, the first: {chunker.name}, "
            f"document {unplaced[0].doc_id!r}: {shown(unplaced[0].content[:50])}. They are searched, and keep the "
            "chunker's text and id, but have no place: at token level they are not located. A position-aware chunker "
            "places them"
        )
    if not isinstance(chunker, ChunkerPositionAdapter):
        _tell_of_other_texts(chunker, corpus, chunks)


def _tell_of_other_texts(chunker: PositionAwareChunker, corpus: Corpus, chunks: Sequence[AnyChunk]) -> None:
    other = [chunk for chunk in chunks if isinstance(chunk, PositionAwareChunk) and _differs(chunk, corpus)]
    if other:
        note(
            f"{len(other)} of {len(chunks)} chunks differ from the text of their place, the first: {chunker.name}, "
            f"document {other[0].doc_id!r}, [{other[0].start}:{other[0].end}]: {shown(other[0].content[:50])}. They "
            "are searched by their text, and judged by their place"
        )


def _differs(chunk: PositionAwareChunk, corpus: Corpus) -> bool:
    there = corpus[chunk.doc_id].content[chunk.start : chunk.end]
    return chunk.content != there and chunk.content.split() != there.split()
