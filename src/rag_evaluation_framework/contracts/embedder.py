"""Embedders, from text to vectors; and vector stores, which find the nearest."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import adapted, resolved
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.components.results import as_vectors
from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.values import UNREADABLE, plain_array, plain_offset
from rag_evaluation_framework.errors import InputError

# Embedders: from text to vectors.

Role: TypeAlias = Literal["text", "query"]


class EmbeddedPart(NamedTuple):
    """The vectors of some texts.

    Attributes:
        rows: The numbers of the texts.
        vectors: One row per number, in their order: float32, shape (len(rows), dimension).
    """

    rows: Sequence[int]
    vectors: NDArray[np.float32]


class Embedder(Component, ABC):
    """Turns texts into vectors whose cosine says how alike they are."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The length of a vector."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text: float32, shape (len(texts), dimension), row i for text i."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question: float32, shape (dimension,). By default, as any other text."""
        vector: NDArray[np.float32] = resolved(self.embed([text]))[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question: float32, shape (len(texts), dimension). By default one after the other."""
        vectors = [resolved(self.embed_query(text)) for text in texts]
        if not vectors:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return as_vectors(vectors, f"{self.name}.embed_query", texts)

    def embed_in_parts(
        self, texts: Sequence[str], role: Role = "text", batch_size: int = 256
    ) -> Generator[EmbeddedPart]:
        """Yield the vectors of texts part by part, so that each part can be kept as soon as it is there.

        By default `batch_size` texts at a time, in their order. An embedder whose parts are requests to a provider
        yields them as they are answered.

        Args:
            texts: The texts.
            role: Whether they are texts of the corpus or questions.
            batch_size: How many texts are embedded at a time, if the embedder does not know better.
        """
        embed = self.embed if role == "text" else self.embed_queries
        for first in range(0, len(texts), batch_size):
            some = texts[first : first + batch_size]
            yield EmbeddedPart(range(first, first + len(some)), resolved(embed(some)))

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return of which texts the vector covers only a part, as the model reads no more; shape (len(texts),).

        By default of none.
        """
        return np.zeros(len(texts), dtype=np.bool_)

    def fit(self, documents: Sequence[str]) -> "Embedder":
        """Return an embedder that has learnt what it needs from the documents of the corpus.

        Embedders with trained weights have nothing to learn and return themselves. The embedder that is called stays
        as it is. Whole documents are given, never chunks, so that the vectors do not depend on the chunker.
        """
        del documents
        return self


def as_fitted(learnt: object, embedder: Embedder) -> Embedder:
    """Return what the `fit` of an embedder returned, ready to be used.

    Raises:
        InputError: It is not an Embedder.
    """
    if not isinstance(learnt, Embedder):
        raise InputError(f"{embedder.name}.fit returned {shown(learnt)}; expected an Embedder")
    return adapted(learnt)


def checked_dimension(embedder: Embedder) -> int:
    """Return the length of an embedder's vectors.

    Raises:
        InputError: It is not a whole number of at least 1.
    """
    given: Any = embedder.dimension
    try:
        dimension = plain_offset(given)
    except TypeError:
        dimension = 0
    if dimension < 1:
        raise InputError(f"{embedder.name}.dimension is {shown(given)}; expected a whole number of at least 1")
    return dimension


def checked_parts(
    embedder: Embedder, texts: Sequence[str], role: Role = "text", batch_size: int = 256
) -> Generator[EmbeddedPart]:
    """Yield what `embed_in_parts` of an embedder yields, checked: finite numbers, vectors of its dimension.

    Raises:
        InputError: A part is nothing of the kind; or at the end a text has no vector, or two.
    """
    source = f"{embedder.name}.{'embed' if role == 'text' else 'embed_queries'}"
    left, dimension = set(range(len(texts))), None
    with closing(embedder.embed_in_parts(texts, role, batch_size)) as parts:
        for part in parts:
            rows, returned = _as_part(part, embedder)
            if not left.issuperset(rows) or len(set(rows)) < len(rows):
                raise InputError(f"{embedder.name}.embed_in_parts returned rows {shown(rows)}; expected each row once")
            if dimension is None:  # now it can be told without another request
                dimension = checked_dimension(embedder)
            vectors = as_vectors(returned, source, [texts[row] for row in rows], dimension)
            left.difference_update(rows)
            yield EmbeddedPart(rows, vectors)
    if left:
        raise InputError(
            f"{embedder.name}.embed_in_parts returned no vector for {len(left)} of {len(texts)} texts, the first: "
            f"{shown(texts[min(left)])}"
        )


def _as_part(part: Any, embedder: Embedder) -> EmbeddedPart:
    try:
        rows, vectors = part
        return EmbeddedPart([plain_offset(row) for row in rows], vectors)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{embedder.name}.embed_in_parts returned {shown(part)}; expected the numbers of texts and their vectors"
        ) from error


def joined(parts: Generator[EmbeddedPart], count: int) -> NDArray[np.float32]:
    """Return the rows of all parts in one array: float32, shape (count, dimension); of at least one text.

    Args:
        parts: What `embed_in_parts` yields; it is closed, also after an error.
        count: How many texts there are.
    """
    vectors: NDArray[np.float32] | None = None
    with closing(parts):
        for rows, some in parts:
            if vectors is None:
                vectors = np.empty((count, some.shape[1]), dtype=np.float32)
            vectors[rows] = some
    assert vectors is not None  # noqa: S101  of at least one text there is a part
    return vectors


def truncation_flags(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return of which texts the vector covers only a part; shape (len(texts),).

    Raises:
        InputError: The embedder returned other than one flag per text.
    """
    given: Any = embedder.truncated(texts)
    with suppress(*UNREADABLE):
        flags = plain_array(given)
        if flags.shape == (len(texts),) and (not len(flags) or flags.dtype.kind == "b"):
            return flags.astype(np.bool_)
    raise InputError(
        f"{embedder.name}.truncated returned {shown(given)} for {len(texts)} texts; expected ({len(texts)},) of True "
        "and False"
    )


@runtime_checkable
class TokenEmbedder(Protocol):
    """What a late-interaction reranker needs of an embedder: a vector for every token."""

    def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return for each text the vectors of its tokens: float32, shape (tokens, dimension), each of length 1."""
        ...


# Vector stores: keeping vectors and finding the nearest.


class VectorStore(Component, ABC):
    """Keeps chunks with their vectors; every chunk stays that is added.

    The key is the order of adding, never the id: equal texts have equal ids, and are all kept, at two places, at the
    same place, and without a place (`Chunk`).

    After indexing, one search tells whether what was added is found. If the store has `__len__`, the number of its
    chunks, it is counted as well: 0 after `clear`, and as many as were added.
    """

    @abstractmethod
    def add(self, chunks: Sequence[AnyChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks.

        Args:
            chunks: What to keep: ids, texts, metadata, and places of those that have one.
            embeddings: One row per chunk, shape (len(chunks), dimension).

        Raises:
            InputError: The numbers of chunks and rows differ, or the dimension is not that of the store.
        """

    @abstractmethod
    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[AnyChunk]:
        """Return at most `k` chunks by falling cosine; chunks that tie stay in the order in which they were added."""

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[AnyChunk]]:
        """Return one ranking a row of `query_embeddings`; by default one after the other."""
        return [resolved(self.search(row, k)) for row in query_embeddings]

    @abstractmethod
    def clear(self) -> None:
        """Forget everything; the store can be used again."""
