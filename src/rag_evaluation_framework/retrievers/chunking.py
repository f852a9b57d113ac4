"""What every retriever over chunks does first."""

from tqdm import tqdm

from rag_evaluation_framework.chunkers.position_adapter import position_aware
from rag_evaluation_framework.chunkers.recursive_character import RecursiveCharacterChunker
from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.types import Corpus, PositionAwareChunk

DEFAULT_CHUNKER = RecursiveCharacterChunker(chunk_size=800)
"""About 200 tokens of English, without overlap."""


def chunk_corpus(corpus: Corpus, chunker: Chunker) -> list[PositionAwareChunk]:
    """Return the chunks of all documents, in order.

    Raises:
        InputError: There are none, because the documents are blank or the chunker returned nothing.
    """
    positioned = position_aware(chunker)
    documents = tqdm(corpus, desc="Chunking", unit="document", delay=2, disable=None, leave=False)
    chunks = [chunk for document in documents for chunk in positioned.chunk_with_positions(document)]
    if not chunks:
        raise InputError(f"{positioned.name} made no chunks from {len(corpus)} documents: there is nothing to search")
    return chunks
