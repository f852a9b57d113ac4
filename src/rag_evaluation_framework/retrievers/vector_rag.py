"""Chunk, embed, search: the plain pipeline."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework.chunkers.semantic import SemanticChunker
from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.part import check_count
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.embedders.lsa import LsaEmbedder
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.registry import describe
from rag_evaluation_framework.retrievers.chunk_index import ChunkRetriever
from rag_evaluation_framework.retrievers.chunking import DEFAULT_CHUNKER, check_parts, chunk_corpus
from rag_evaluation_framework.types import Corpus, Hit, PositionAwareChunk, Retrieval, Retrieved, Stage
from rag_evaluation_framework.vector_stores.in_memory import InMemoryVectorStore


class _Index(NamedTuple):
    chunks: list[PositionAwareChunk]
    embedder: Embedder
    store: VectorStore
    questions: dict[str, tuple[NDArray[np.float32], float]]  # a run asks again to fill a budget; embedding is paid once


@dataclass(frozen=True)
class VectorRAGRetriever(ChunkRetriever[_Index]):
    """Cuts the documents, embeds the chunks and finds those nearest to the question.

    Attributes:
        chunker: How documents are cut; any chunker, position-aware or not.
        embedder: How text becomes a vector; it is fitted on the documents if it learns from them.
        vector_store: Where vectors are kept, emptied when a corpus is indexed and left as it is when the retriever is
            closed; by default a new `InMemoryVectorStore` for every index.
        batch_size: How many chunks are embedded at a time; at least 1.

    Raises:
        ConfigError: `batch_size` is below 1.
    """

    chunker: Chunker = DEFAULT_CHUNKER
    embedder: Embedder = field(default_factory=LsaEmbedder)
    vector_store: VectorStore | None = None
    batch_size: int = 256

    def __post_init__(self) -> None:
        check_parts("VectorRAGRetriever", chunker=(self.chunker, Chunker), embedder=(self.embedder, Embedder))
        if self.vector_store is not None:
            check_parts("VectorRAGRetriever", vector_store=(self.vector_store, VectorStore))
        check_count("VectorRAGRetriever", "batch_size", self.batch_size)

    def index(self, corpus: Corpus) -> None:
        """Cut the documents, fit the embedder, embed every distinct text once and store every chunk.

        If the embedder reads only the beginning of some chunks, a warning says of how many; it becomes a note of the
        result.
        """
        chunks = chunk_corpus(corpus, self.chunker)
        embedder: Embedder = resolved(self.embedder.fit([document.content for document in corpus]))
        store = InMemoryVectorStore() if self.vector_store is None else self.vector_store
        places = {text: row for row, text in enumerate(dict.fromkeys(chunk.content for chunk in chunks))}
        vectors, truncated = _embedded(embedder, list(places), self.batch_size)
        rows = [places[chunk.content] for chunk in chunks]
        _warn_of_truncation(embedder, truncated[rows])
        _warn_of_another_embedder(self.chunker, self.embedder)
        resolved(store.clear())
        for first in range(0, len(chunks), self.batch_size):
            last = first + self.batch_size
            resolved(store.add(chunks[first:last], vectors[rows[first:last]]))
        self._keep(_Index(chunks, embedder, store, {}))

    def prepare(self, queries: Sequence[str]) -> None:
        """Embed the questions together; each one's share of the time becomes the `embed` step of its retrieval."""
        _ask(self._indexed, queries)

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the `k` nearest chunks."""
        index = self._indexed
        _ask(index, [query])
        vector, seconds = index.questions[query]
        start = perf_counter()
        hits = tuple(map(Hit.of, resolved(index.store.search(vector, k))))
        return Retrieval(hits, (Stage("embed", seconds), Stage("search", perf_counter() - start)))

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return the nearest chunks of every question, embedded and searched together."""
        index = self._indexed
        if not queries:
            return []
        _ask(index, queries)
        vectors = [index.questions[query][0] for query in queries]
        rankings: list[list[PositionAwareChunk]] = resolved(index.store.search_many(np.stack(vectors), k))
        return [Retrieval(tuple(map(Hit.of, chunks))) for chunks in rankings]


def _embedded(embedder: Embedder, texts: list[str], batch_size: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the vectors of the texts, one a row, and which of them were truncated."""
    batches = [texts[first : first + batch_size] for first in range(0, len(texts), batch_size)]
    steps = tqdm(batches, desc="Embedding", unit="batch", delay=2, disable=None, leave=False)
    # An embedder is asked about a batch right after it read it, and need not read it again.
    parts = [(_vectors(embedder, batch), _truncated(embedder, batch)) for batch in steps]
    return np.concatenate([vectors for vectors, _ in parts]), np.concatenate([flags for _, flags in parts])


def _truncated(embedder: Embedder, texts: list[str]) -> NDArray[np.bool_]:
    flags = np.asarray(resolved(embedder.truncated(texts)), dtype=np.bool_)
    if flags.shape != (len(texts),):
        raise InputError(
            f"{embedder.name}.truncated returned shape {flags.shape} for {len(texts)} texts; wanted ({len(texts)},)"
        )
    return flags


def _warn_of_truncation(embedder: Embedder, truncated: NDArray[np.bool_]) -> None:
    count = int(truncated.sum())
    if count:
        limit = getattr(embedder, "input_limit", None)
        at = "its input limit" if limit is None else f"its input limit of {limit} tokens"
        share = f"{count / len(truncated):.1%}"
        warnings.warn(
            f"{embedder.name} truncates {count} of {len(truncated)} chunks ({share}) at {at}: "
            "the rest of their text is not in their vectors",
            stacklevel=3,
        )


def _warn_of_another_embedder(chunker: Chunker, embedder: Embedder) -> None:
    if not isinstance(chunker, SemanticChunker):
        return
    cutting, searching = (getattr(part, "embedder", part) for part in (chunker.embedder, embedder))  # behind a cache
    if describe(cutting) != describe(searching):
        warnings.warn(
            f"chunks are cut by the vectors of {cutting.name} and searched by those of {searching.name}; topics that "
            "one tells apart may be one to the other",
            stacklevel=3,
        )


def _ask(index: _Index, queries: Sequence[str]) -> None:
    """Embed those questions that are new, together, and note each one's share of the seconds."""
    new = [query for query in dict.fromkeys(queries) if query not in index.questions]
    if not new:
        return
    start = perf_counter()
    vectors = np.asarray(resolved(index.embedder.embed_queries(new)), dtype=np.float32)
    seconds = (perf_counter() - start) / len(new)
    index.questions.update({query: (vector, seconds) for query, vector in zip(new, vectors, strict=True)})


def _vectors(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    vectors = np.asarray(resolved(embedder.embed(texts)), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.dimension):
        raise InputError(
            f"{embedder.name}.embed returned shape {vectors.shape} for {len(texts)} texts; "
            f"wanted ({len(texts)}, {embedder.dimension}), row i for text i"
        )
    return vectors
