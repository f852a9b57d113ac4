"""The three steps of indexing: chunk the corpus, embed the chunks, fill the store. Each can be shared by pipelines."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework._outside import said, shown
from rag_evaluation_framework._support.coroutines import adapted
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.chunkers.position_adapter import ChunkerPositionAdapter, position_aware
from rag_evaluation_framework.chunkers.recursive_character import RecursiveCharacterChunker
from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.data.chunks import AnyChunk, Chunk, PositionAwareChunk
from rag_evaluation_framework.data.documents import Corpus, Document
from rag_evaluation_framework.data.plain import all_chunks, gives_items
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.registry import as_component

DEFAULT_CHUNKER = RecursiveCharacterChunker(chunk_size=800)
"""About 200 tokens of English, without overlap."""


def chunk_corpus(corpus: Corpus, chunker: Chunker | PositionAwareChunker | Callable[[str], Any]) -> list[AnyChunk]:
    """Cut every document into chunks, in the order of the documents.

    Chunks of a chunker that does not know positions are looked for in their document. Those that are not text of it are
    without a position; how many there are is noted.

    Raises:
        InputError: There are none, because the documents are blank or the chunker returned nothing, or one lies
            outside of the corpus.
    """
    positioned = position_aware(chunker)
    chunks: list[AnyChunk] = []
    for document in tqdm(corpus, desc="Chunking", unit="document", delay=2, disable=None, leave=False):
        if isinstance(positioned, ChunkerPositionAdapter):
            chunks += positioned.locate_chunks(document)
        else:
            chunks += _whole(positioned, document)
    for chunk in chunks:
        if not _is_of(corpus, chunk, unplaced=isinstance(positioned, ChunkerPositionAdapter)):
            raise InputError(
                f"{positioned.name} made {shown(chunk)}; expected chunks of the document that it was given"
            )
    if not chunks:
        raise InputError(f"{positioned.name} made no chunks from {len(corpus)} documents: there is nothing to search")
    unplaced = [chunk for chunk in chunks if isinstance(chunk, Chunk)]
    if unplaced:
        note(
            f"{len(unplaced)} of {len(chunks)} chunks are not text of their document, the first: {positioned.name}, "
            f"document {unplaced[0].doc_id!r}: {unplaced[0].content[:50]!r}. They are searched, and keep the chunker's "
            "text and id, but have no place: at token level they are not located. A position-aware chunker places them"
        )
    return chunks


def _whole(chunker: PositionAwareChunker, document: Document) -> list[Any]:
    returned: Any = chunker.chunk_with_positions(document)
    if not gives_items(returned):
        raise InputError(f"{chunker.name} returned {shown(returned)} for {document.id!r}; expected a list of chunks")
    chunks: list[Any] | None = all_chunks(returned, len(document.content))
    if chunks is None:
        raise InputError(
            f"{chunker.name} made more chunks of {document.id!r} than it has characters; expected a list that has an "
            "end"
        )
    return chunks


def _is_of(corpus: Corpus, chunk: Any, *, unplaced: bool) -> bool:
    if isinstance(chunk, PositionAwareChunk):
        return chunk.doc_id in corpus and chunk.end <= len(corpus[chunk.doc_id].content)
    return unplaced and isinstance(chunk, Chunk)


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
        InputError: The embedder returned other than one vector, or one flag, per text.
    """
    made: Embedder = as_component("embedder", embedder, "embed_chunks")
    rows = {text: row for row, text in enumerate(dict.fromkeys(chunk.content for chunk in chunks))}
    texts = list(rows)
    batches = [texts[first : first + batch_size] for first in range(0, len(texts), batch_size)]
    vectors: list[NDArray[np.float32]] = [np.zeros((0, made.dimension), dtype=np.float32)]
    flags: list[NDArray[np.bool_]] = [np.zeros(0, dtype=np.bool_)]
    for batch in tqdm(batches, desc="Embedding", unit="batch", delay=2, disable=None, leave=False):
        vectors.append(_vectors(made, batch))
        flags.append(_truncated(made, batch))  # right after the batch was read: it need not be read again
    embedded = EmbeddedChunks(np.concatenate(vectors), np.concatenate(flags))
    if len(texts) == len(chunks):
        return embedded
    row_of_chunk = [rows[chunk.content] for chunk in chunks]
    return EmbeddedChunks(embedded.vectors[row_of_chunk], embedded.truncated[row_of_chunk])


def fill_store(
    store: VectorStore, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32], batch_size: int = 256
) -> None:
    """Empty a store and add chunks with their vectors.

    Args:
        store: Where they are kept.
        chunks: What to keep.
        vectors: One row per chunk, in their order, shape (len(chunks), dimension).
        batch_size: How many chunks are added at a time.

    Raises:
        InputError: The numbers of chunks and rows differ; the store stays as it is.
    """
    if len(chunks) != len(vectors):
        raise InputError(f"{len(chunks)} chunks with {len(vectors)} vectors; expected one vector per chunk")
    store = adapted(store)
    store.clear()
    for first in range(0, len(chunks), batch_size):
        store.add(chunks[first : first + batch_size], vectors[first : first + batch_size])


def _vectors(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    returned: Any = embedder.embed(texts)
    try:
        vectors = np.asarray(returned, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{embedder.name}.embed returned {shown(returned)} for {len(texts)} texts: {said(error)}; expected "
            f"numbers, shape ({len(texts)}, {embedder.dimension}), row i for text i"
        ) from error
    if vectors.shape != (len(texts), embedder.dimension):
        raise InputError(
            f"{embedder.name}.embed returned shape {vectors.shape} for {len(texts)} texts; "
            f"expected ({len(texts)}, {embedder.dimension}), row i for text i"
        )
    return vectors


def _truncated(embedder: Embedder, texts: list[str]) -> NDArray[np.bool_]:
    flags = np.asarray(embedder.truncated(texts), dtype=np.bool_)
    if flags.shape != (len(texts),):
        raise InputError(
            f"{embedder.name}.truncated returned shape {flags.shape} for {len(texts)} texts; expected ({len(texts)},)"
        )
    return flags
