"""Exact nearest neighbours by cosine, and choosing the best of many scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Choosing the best of many scores.


def top_k(scores: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Return the positions of the `k` highest scores, best first; of equal scores the earlier position is better."""
    candidates = np.arange(len(scores) if k > 0 else 0)
    if 0 < k < len(scores):
        lowest = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= lowest)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:k]]


def unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rows scaled to length 1, computed in double precision; zero rows stay zero."""
    doubles = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=1, keepdims=True)
    rows: NDArray[np.float64] = doubles / np.where(lengths == 0, 1, lengths)
    return rows


# Exact nearest neighbours by cosine: found in single precision, ranked in double precision.

_DECIMALS = 12  # sums of equal products may differ in the last bits; equal vectors must tie
_ROWS_AT_ONCE = 8_192  # in double precision
_COSINES_AT_ONCE = 8_000_000  # in single precision
_HALF_ULP = 2.0**-24  # of single precision


@dataclass(frozen=True, eq=False)
class Rows:
    """Vectors to search, as they were given but for a power of two, so that no product overflows.

    Attributes:
        vectors: float32, shape (n, dimension); every length is below 1, and at least 0.5 but for zero vectors.
        lengths: Their lengths in double precision, shape (n,); 1 for zero vectors.
    """

    vectors: NDArray[np.float32]
    lengths: NDArray[np.float64]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> "Rows":
        """Return a copy of the vectors, shape (n, dimension), all finite, ready to be searched."""
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        exponents = np.frexp(lengths)[1]
        lengths = np.ldexp(lengths, -exponents)
        scaled = np.ldexp(vectors, -exponents[:, np.newaxis].astype(np.int32))
        return cls(scaled, np.where(lengths == 0, 1.0, lengths))

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def joined(cls, parts: "Sequence[Rows]") -> "Rows":
        """Return the vectors of several, in their order; of one, itself."""
        if len(parts) == 1:
            return parts[0]
        return cls(np.concatenate([part.vectors for part in parts]), np.concatenate([part.lengths for part in parts]))

    def cosines(self, query: NDArray[np.float64], numbers: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the cosines of some of the vectors with a query of length 1, in double precision, rounded."""
        cosines: NDArray[np.float64] = np.empty(len(numbers))
        for first in range(0, len(numbers), _ROWS_AT_ONCE):
            some = numbers[first : first + _ROWS_AT_ONCE]
            units = self.vectors[some].astype(np.float64) / self.lengths[some][:, np.newaxis]
            # Not `@`, which may add up equal rows in different orders.
            np.einsum("ij,j->i", units, query, out=cosines[first : first + _ROWS_AT_ONCE])
        return np.round(cosines, _DECIMALS)


def nearest(parts: Sequence[Rows], queries: NDArray[np.float64], k: int) -> list[NDArray[np.intp]]:
    """Return, for each query, the positions of the `k` vectors with the highest cosine; of equal ones the earlier.

    Products are computed in single precision, some queries at a time. The cosine of d products so computed is wrong by
    at most (d + 8) 2^-24 (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 3.1: d - 1 additions
    and d multiplications, and the roundings of query, length and quotient). So whatever is further than twice that
    below the k-th highest cannot be among the `k` nearest. The others are ranked in double precision, as all would be.

    Args:
        parts: The vectors; positions count through all parts.
        queries: One per row, of length 1 or 0, shape (queries, dimension).
        k: How many to find for each.

    Returns:
        One array per query, best first, of min(k, n) positions.
    """
    total = sum(map(len, parts))
    k = max(0, min(k, total))
    if k == 0:
        return [np.zeros(0, dtype=np.intp) for _ in queries]
    starts = np.cumsum([0, *map(len, parts)])
    inverse = np.concatenate([(1 / part.lengths).astype(np.float32) for part in parts])
    margin = np.float32(2 * (queries.shape[1] + 8) * _HALF_ULP + 10.0**-_DECIMALS)
    step = max(1, _COSINES_AT_ONCE // total)
    found: list[NDArray[np.intp]] = []
    for first in range(0, len(queries), step):
        batch = queries[first : first + step]
        single, cosines = batch.astype(np.float32), np.empty((len(batch), total), dtype=np.float32)
        for part, start in zip(parts, starts, strict=False):
            np.matmul(single, part.vectors.T, out=cosines[:, start : start + len(part)])
        cosines *= inverse
        for query, row in zip(batch, cosines, strict=True):
            numbers = np.flatnonzero(row >= np.partition(row, total - k)[total - k] - margin)
            bounds = np.searchsorted(numbers, starts).tolist()
            exact = [
                part.cosines(query, numbers[begin:end] - start)
                for part, start, begin, end in zip(parts, starts, bounds, bounds[1:], strict=False)
            ]
            found.append(numbers[top_k(np.concatenate(exact), k)])
    return found
