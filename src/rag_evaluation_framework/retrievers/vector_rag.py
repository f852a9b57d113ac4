"""Chunk, embed, search: the plain pipeline."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.part import check_count
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.embedders.lsa import LsaEmbedder
from rag_evaluation_framework.errors import InputError, NotIndexed
from rag_evaluation_framework.retrievers.chunking import DEFAULT_CHUNKER, check_parts, chunk_corpus
from rag_evaluation_framework.types import Corpus, Hit, PositionAwareChunk, Retrieval, Retrieved, Stage
from rag_evaluation_framework.vector_stores.in_memory import InMemoryVectorStore


class _Index(NamedTuple):
    chunks: list[PositionAwareChunk]
    embedder: Embedder
    store: VectorStore


@dataclass(frozen=True)
class VectorRAGRetriever(Retriever):
    """Cuts the documents, embeds the chunks and finds those nearest to the question.

    Attributes:
        chunker: How documents are cut; any chunker, position-aware or not.
        embedder: How text becomes a vector; it is fitted on the documents if it learns from them.
        vector_store: Where vectors are kept, emptied when a corpus is indexed; by default a new `InMemoryVectorStore`
            for every index.
        batch_size: How many chunks are embedded at a time; at least 1.

    Raises:
        ConfigError: `batch_size` is below 1.
    """

    chunker: Chunker = DEFAULT_CHUNKER
    embedder: Embedder = field(default_factory=LsaEmbedder)
    vector_store: VectorStore | None = None
    batch_size: int = 256
    _index: _Index | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_parts("VectorRAGRetriever", chunker=(self.chunker, Chunker), embedder=(self.embedder, Embedder))
        if self.vector_store is not None:
            check_parts("VectorRAGRetriever", vector_store=(self.vector_store, VectorStore))
        check_count("VectorRAGRetriever", "batch_size", self.batch_size)

    def index(self, corpus: Corpus) -> None:
        """Cut the documents, fit the embedder, embed every chunk and store it."""
        chunks = chunk_corpus(corpus, self.chunker)
        embedder: Embedder = resolved(self.embedder.fit([document.content for document in corpus]))
        store = InMemoryVectorStore() if self.vector_store is None else self.vector_store
        resolved(store.clear())
        steps = tqdm(
            range(0, len(chunks), self.batch_size), desc="Embedding", unit="batch", delay=2, disable=None, leave=False
        )
        for first in steps:
            batch = chunks[first : first + self.batch_size]
            resolved(store.add(batch, _vectors(embedder, [chunk.content for chunk in batch])))
        object.__setattr__(self, "_index", _Index(chunks, embedder, store))

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the `k` nearest chunks."""
        index = self._indexed
        start = perf_counter()
        vector = resolved(index.embedder.embed_query(query))
        embedded = perf_counter()
        hits = tuple(map(Hit.of, resolved(index.store.search(vector, k))))
        return Retrieval(hits, (Stage("embed", embedded - start), Stage("search", perf_counter() - embedded)))

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return the nearest chunks of every question, embedded and searched together."""
        index = self._indexed
        vectors = [resolved(index.embedder.embed_query(query)) for query in queries]
        if not vectors:
            return []
        rankings: list[list[PositionAwareChunk]] = resolved(index.store.search_many(np.stack(vectors), k))
        return [Retrieval(tuple(map(Hit.of, chunks))) for chunks in rankings]

    def chunks(self) -> Sequence[PositionAwareChunk]:
        """Return everything that could be retrieved."""
        return self._indexed.chunks

    def close(self) -> None:
        """Forget the index; a store of the caller's keeps what it holds."""
        object.__setattr__(self, "_index", None)

    @property
    def _indexed(self) -> _Index:
        if self._index is None:
            raise NotIndexed("VectorRAGRetriever: call index(corpus) before retrieve()")
        return self._index


def _vectors(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    vectors = np.asarray(resolved(embedder.embed(texts)), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.dimension):
        raise InputError(
            f"{embedder.name}.embed returned shape {vectors.shape} for {len(texts)} texts; "
            f"wanted ({len(texts)}, {embedder.dimension}), row i for text i"
        )
    return vectors
