"""The three steps of indexing: chunk the corpus, embed the chunks, fill the store. Each can be shared by pipelines."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.coroutines import adapted
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework._support.progress import progress, progress_bar
from rag_evaluation_framework.chunkers.position_adapter import ChunkerPositionAdapter, position_aware
from rag_evaluation_framework.chunkers.recursive_character import RecursiveCharacterChunker
from rag_evaluation_framework.contracts.chunked import as_placed
from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.embedder import (
    EmbeddedPart,
    Embedder,
    checked_dimension,
    checked_parts,
    joined,
    truncation_flags,
)
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.registry.building import as_component
from rag_evaluation_framework.retrievers.chunk_checks import tell_of_chunks
from rag_evaluation_framework.retrievers.store_checks import check_empty, tell_what_is_lost
from rag_evaluation_framework.vector_stores.vector_checks import unit

_EQUAL = 1e-6  # in any coordinate of two directions
_ROWS_AT_ONCE = 1_024
DEFAULT_CHUNKER = RecursiveCharacterChunker(chunk_size=800)
"""About 200 tokens of English, without overlap."""


def chunk_corpus(corpus: Corpus, chunker: Chunker | PositionAwareChunker | Callable[[str], Any]) -> list[AnyChunk]:
    """Cut every document into chunks, in the order of the documents.

    Chunks of a chunker that does not know positions are looked for in their document. Those that are not text of it are
    without a position; how many there are is noted. So is how many chunks differ from the text of their place, how many
    are blank, and of how many documents there is none.

    Raises:
        InputError: There are none but blank ones, because the documents are blank or the chunker returned nothing; or
            one is not of the document that was cut.
    """
    positioned = position_aware(chunker)
    chunks: list[AnyChunk] = []
    without: list[DocumentId] = []
    for document in progress(corpus, "Chunking", "document"):
        found: Sequence[AnyChunk]
        if isinstance(positioned, ChunkerPositionAdapter):
            found = positioned.locate_chunks(document)
        else:
            found = as_placed(positioned.chunk_with_positions(document), positioned.name, document)
        if not found and document.content.strip():
            without.append(document.id)
        chunks += found
    tell_of_chunks(positioned, corpus, chunks, without)
    return chunks


class EmbeddedChunks(NamedTuple):
    """The vectors of chunks.

    Attributes:
        vectors: One row per chunk, in their order: float32, shape (number of chunks, dimension).
        truncated: Of which chunks the vector covers only a part, as the model reads no more; shape (number of chunks,).
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


def embed_chunks(
    chunks: Sequence[AnyChunk], embedder: Embedder | Callable[[list[str]], Any], batch_size: int = 256
) -> EmbeddedChunks:
    """Embed chunks, each distinct text once.

    Args:
        chunks: What to embed.
        embedder: An embedder that has nothing to learn any more: what `fit` returned; or a function
            `(texts) -> vectors`.
        batch_size: How many texts are embedded at a time.

    Raises:
        InputError: The embedder returned other than one vector of finite numbers, or one flag, per text; or nothing
            but vectors of zeros.
    """
    made: Embedder = as_component("embedder", embedder, "embed_chunks")
    rows = {text: row for row, text in enumerate(dict.fromkeys(chunk.content for chunk in chunks))}
    texts = list(rows)
    if not texts:
        return EmbeddedChunks(np.zeros((0, checked_dimension(made)), dtype=np.float32), np.zeros(0, dtype=np.bool_))
    truncated = np.zeros(len(texts), dtype=np.bool_)

    def embedded_parts() -> Generator[EmbeddedPart]:
        with (
            progress_bar(len(texts), "Embedding", "text") as bar,
            closing(checked_parts(made, texts, "text", batch_size)) as parts,
        ):
            for part in parts:  # of each it is asked at once what was truncated: it need not be read again
                truncated[part.rows] = truncation_flags(made, [texts[row] for row in part.rows])
                bar.update(len(part.rows))
                yield part

    embedded = EmbeddedChunks(joined(embedded_parts(), len(texts)), truncated)
    _tell_of_no_direction(made, texts, embedded.vectors)
    if len(texts) == len(chunks):
        return embedded
    row_of_chunk = [rows[chunk.content] for chunk in chunks]
    return EmbeddedChunks(embedded.vectors[row_of_chunk], embedded.truncated[row_of_chunk])


def fill_store(
    store: VectorStore, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32], batch_size: int = 256
) -> None:
    """Empty a store and add chunks with their vectors; another number than was added, or a chunk found twice, is noted.

    Args:
        store: Where they are kept.
        chunks: What to keep.
        vectors: One row per chunk, in their order, shape (len(chunks), dimension).
        batch_size: How many chunks are added at a time.

    Raises:
        InputError: The numbers of chunks and rows differ; the store stays as it is. Or the store holds or finds what
            was not added: it was not emptied.
    """
    if len(chunks) != len(vectors):
        raise InputError(f"{len(chunks)} chunks with {len(vectors)} vectors; expected one vector per chunk")
    store = adapted(store)
    store.clear()
    check_empty(store)
    for first in range(0, len(chunks), batch_size):
        store.add(chunks[first : first + batch_size], vectors[first : first + batch_size])
    tell_what_is_lost(store, chunks, vectors)


def _tell_of_no_direction(embedder: Embedder, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
    zeros: list[int] = np.flatnonzero(~vectors.any(axis=1)).tolist()
    if zeros and len(zeros) == len(texts):
        raise InputError(
            f"{embedder.name} returns a vector of zeros for all {len(texts)} texts, the first: {shown(texts[0])}. "
            "Nothing is more alike than anything else, so nothing can be found"
        )
    worded = [texts[row] for row in zeros if any(map(str.isalnum, texts[row]))]  # of a ruler nothing else is expected
    if worded:
        note(
            f"{embedder.name} returns a vector of zeros for {len(worded)} of {len(texts)} texts, the first: "
            f"{shown(worded[0])}. It has no direction: such chunks are found in the order of the corpus, behind those "
            "that are alike the question"
        )
    blocks = (unit(vectors[first : first + _ROWS_AT_ONCE]) for first in range(0, len(texts), _ROWS_AT_ONCE))
    first = unit(vectors[:1])
    if len(texts) > 2 and not zeros and all(np.abs(block - first).max() < _EQUAL for block in blocks):
        note(
            f"{embedder.name} returns the same vector for all {len(texts)} texts: they are found in the order of the "
            "corpus, whatever the question"
        )
