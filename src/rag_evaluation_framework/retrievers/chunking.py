"""What every retriever over chunks does first."""

import warnings
from typing import Any

from tqdm import tqdm

from rag_evaluation_framework.chunkers.position_adapter import SkippedChunkWarning, position_aware
from rag_evaluation_framework.chunkers.recursive_character import RecursiveCharacterChunker
from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.errors import ConfigError, InputError
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkippedChunkWarning)
        chunks = [chunk for document in documents for chunk in positioned.chunk_with_positions(document)]
    skipped = [warning for warning in caught if issubclass(warning.category, SkippedChunkWarning)]
    for warning in caught:
        if not issubclass(warning.category, SkippedChunkWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if skipped:
        total = len(chunks) + len(skipped)
        warnings.warn(f"{len(skipped)} of {total} chunks were skipped, the first: {skipped[0].message}", stacklevel=2)
    for chunk in chunks:
        if not _belongs(chunk, corpus):
            raise InputError(f"{positioned.name} made {chunk!r:.80}; wanted chunks of the document that it was given")
    if not chunks:
        raise InputError(f"{positioned.name} made no chunks from {len(corpus)} documents: there is nothing to search")
    return chunks


def check_parts(owner: str, **parts: tuple[object, type]) -> None:
    """Raise ConfigError if a part is no instance of what it has to be."""
    for name, (part, wanted) in parts.items():
        if not isinstance(part, wanted):
            raise ConfigError(f"{owner}: {name}={part!r:.80}; wanted an instance of {wanted.__name__}")


def _belongs(chunk: Any, corpus: Corpus) -> bool:
    known = isinstance(chunk, PositionAwareChunk) and chunk.doc_id in corpus
    return known and chunk.end <= len(corpus[chunk.doc_id].content)
