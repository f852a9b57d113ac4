"""Checks of vectors before they are stored or searched."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.data.chunks import AnyChunk, describe_chunk
from rag_evaluation_framework.errors import InputError


def checked_vectors(
    owner: str, chunks: Sequence[AnyChunk], embeddings: ArrayLike, dimension: int | None
) -> NDArray[np.float32]:
    """Check the vectors of chunks and return them as float32, shape (len(chunks), dimension).

    Args:
        owner: The name of the store, for messages.
        chunks: The chunks that the vectors belong to.
        embeddings: One row per chunk.
        dimension: The dimension of the store, or None if it is empty.

    Raises:
        InputError: The shape is wrong, or a number is NaN or infinite.
    """
    vectors = np.asarray(embeddings, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(chunks):
        raise InputError(
            f"{owner}.add: {len(chunks)} chunks with embeddings of shape {vectors.shape}; "
            f"expected one row per chunk, shape ({len(chunks)}, dimension)"
        )
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(broken):
        raise InputError(
            f"{owner}.add: an embedding contains NaN or infinity: row {broken[0]}, "
            f"{describe_chunk(chunks[int(broken[0])])}"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise InputError(
            f"{owner}.add: vectors of dimension {vectors.shape[1]}, but the store has dimension "
            f"{dimension}; call clear() before changing the embedder"
        )
    return vectors


def checked_queries(owner: str, embeddings: ArrayLike, dimension: int) -> NDArray[np.float32]:
    """Check the vectors of queries and return them as float32, shape (queries, dimension).

    Raises:
        InputError: The shape is wrong, or a number is NaN or infinite.
    """
    queries = np.asarray(embeddings, dtype=np.float32)
    if queries.ndim != 2:
        raise InputError(f"{owner}.search: queries of shape {queries.shape}; expected one row per question")
    if queries.shape[1] != dimension:
        raise InputError(
            f"{owner}.search: a query of dimension {queries.shape[1]}, but the store has "
            f"dimension {dimension}; embed queries and chunks with the same embedder"
        )
    if not np.isfinite(queries).all():
        raise InputError(f"{owner}.search: the query's embedding contains NaN or infinity")
    return queries


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the rows scaled to length 1, computed in double precision; zero rows stay zero."""
    doubles = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=1, keepdims=True)
    rows: NDArray[np.float64] = doubles / np.where(lengths == 0, 1, lengths)
    return rows
