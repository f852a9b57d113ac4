"""What every store asks of vectors before it takes them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.types import PositionAwareChunk


def checked_vectors(
    owner: str, chunks: Sequence[PositionAwareChunk], embeddings: ArrayLike, dimension: int | None
) -> NDArray[np.float32]:
    """Return the vectors of chunks, float32, shape (len(chunks), dimension).

    Args:
        owner: The store, as its user knows it.
        chunks: What the vectors belong to.
        embeddings: One row a chunk.
        dimension: That of the store, or None while it has none.

    Raises:
        InputError: The shape is another one, or a number is NaN or infinite.
    """
    vectors = np.asarray(embeddings, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(chunks):
        raise InputError(
            f"{owner}.add: {len(chunks)} chunks with embeddings of shape {vectors.shape}; "
            f"wanted one row a chunk, shape ({len(chunks)}, dimension)"
        )
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(broken):
        chunk = chunks[int(broken[0])]
        raise InputError(
            f"{owner}.add: an embedding holds NaN or infinity: row {broken[0]}, "
            f"chunk [{chunk.start}:{chunk.end}] of {chunk.doc_id!r}"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise InputError(
            f"{owner}.add: vectors of dimension {vectors.shape[1]}, the store holds dimension "
            f"{dimension}; clear() it before changing the embedder"
        )
    return vectors


def checked_queries(owner: str, embeddings: ArrayLike, dimension: int) -> NDArray[np.float32]:
    """Return the vectors of questions, float32, shape (questions, dimension).

    Raises:
        InputError: The shape is another one, or a number is NaN or infinite.
    """
    queries = np.asarray(embeddings, dtype=np.float32)
    if queries.ndim != 2:
        raise InputError(f"{owner}.search: questions of shape {queries.shape}; wanted one row a question")
    if queries.shape[1] != dimension:
        raise InputError(
            f"{owner}.search: a query of dimension {queries.shape[1]}, the store holds "
            f"dimension {dimension}; embed queries and chunks with the same embedder"
        )
    if not np.isfinite(queries).all():
        raise InputError(f"{owner}.search: the query's embedding holds NaN or infinity")
    return queries


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the rows at length 1, computed in double precision; rows of zeros stay zero."""
    doubles = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=1, keepdims=True)
    rows: NDArray[np.float64] = doubles / np.where(lengths == 0, 1, lengths)
    return rows
