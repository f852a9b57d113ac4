"""Exact nearest neighbours by cosine, and choosing the best of many scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
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


# Exact nearest neighbours by cosine: found in single precision, ranked in double precision.

_DECIMALS = 12  # sums of equal products may differ in the last bits; equal vectors must tie
_QUERIES_AT_ONCE = 512
_ROWS_AT_ONCE = 8_192
_MOST_CANDIDATES = 4_096  # of one query; beyond that it is ranked in double precision alone
_FEW = 16
_COSINES_AT_ONCE = 8_000_000
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

    def cosines(self, query: NDArray[np.float64], numbers: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        """Return the cosines of some of the vectors with a query of length 1, in double precision, rounded."""
        # Not `@`, which may add up equal rows in different orders.
        cosines: NDArray[np.float64] = np.einsum("ij,j->i", self.units(numbers), query)
        return np.round(cosines, _DECIMALS)

    def units(self, numbers: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        """Return some of the vectors with length 1, in double precision."""
        units: NDArray[np.float64] = self.vectors[numbers].astype(np.float64) / self.lengths[numbers][:, np.newaxis]
        return units


def nearest(parts: Sequence[Rows], queries: NDArray[np.float64], k: int) -> list[NDArray[np.intp]]:
    """Return, for each query, the positions of the `k` vectors with the highest cosine; of equal ones the earlier.

    Products are computed in single precision, a block at a time. The cosine of d products so computed is wrong by at
    most (d + 8) 2^-24 (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 3.1: d - 1 additions and
    d multiplications, and the roundings of query, length and quotient). So whatever is further than twice that below
    the k-th highest cannot be among the `k` nearest. The others are ranked in double precision, as all would be.

    Args:
        parts: The vectors; positions count through all parts.
        queries: One per row, of length 1 or 0, shape (queries, dimension).
        k: How many to find for each.

    Returns:
        One array per query, best first, of min(k, n) positions.
    """
    found: list[NDArray[np.intp]] = []
    for first in range(0, len(queries), _QUERIES_AT_ONCE):
        batch = queries[first : first + _QUERIES_AT_ONCE]
        found.extend(_nearest_of_batch(parts, batch, k))
    return found


def _nearest_of_batch(parts: Sequence[Rows], queries: NDArray[np.float64], k: int) -> Iterator[NDArray[np.intp]]:
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    k = max(0, min(k, int(starts[-1])))
    if k == 0:
        yield from (np.zeros(0, dtype=np.intp) for _ in queries)
        return
    if _FEW * k > starts[-1]:  # single precision would rule out too little
        yield from _in_double_precision(parts, queries, k)
        return
    candidates = _Candidates(len(queries), k, 2 * (queries.shape[1] + 8) * _HALF_ULP + 10.0**-_DECIMALS)
    single = queries.astype(np.float32)
    for part, start in zip(parts, starts, strict=False):
        inverse = (1 / part.lengths).astype(np.float32)
        for first in range(0, len(part), _ROWS_AT_ONCE):
            last = first + _ROWS_AT_ONCE
            products = single @ part.vectors[first:last].T
            products *= inverse[first:last]
            candidates.see(products, int(start) + first)
    found = list(candidates.of_each())
    alone = [query for query, numbers in enumerate(found) if numbers is None]
    in_double = dict(zip(alone, _in_double_precision(parts, queries[alone], k), strict=True))
    for query, (vector, numbers) in enumerate(zip(queries, found, strict=True)):
        if numbers is None:
            yield in_double[query]
            continue
        pieces = [numbers[begin:end] for begin, end in pairwise(np.searchsorted(numbers, starts))]
        cosines = [
            part.cosines(vector, piece - start) for part, piece, start in zip(parts, pieces, starts, strict=False)
        ]
        yield numbers[top_k(np.concatenate(cosines), k)]


class _Candidates:
    """What can still be among the `k` nearest of each query, as one block of vectors after the other is seen.

    Attributes:
        k: How many to find.
        margin: How much of a difference single precision can make up.
        best: The highest cosines so far, shape (queries, k).
        floors: What a cosine has to reach, shape (queries,); infinite for a query that has too many candidates.
    """

    def __init__(self, queries: int, k: int, margin: float) -> None:
        self.k, self.margin = k, np.float32(margin)
        self.best = np.full((queries, k), -np.inf, dtype=np.float32)
        self.floors = np.full(queries, -np.inf, dtype=np.float32)
        self.limit = max(_MOST_CANDIDATES, 4 * k)
        self.counts = np.zeros(queries, dtype=np.intp)
        self.kept: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]] = []

    def see(self, cosines: NDArray[np.float32], start: int) -> None:
        """Take what is good enough of a block, shape (queries, vectors of the block); `start` is its first position."""
        width = cosines.shape[1]
        if not self.kept and width > self.k:  # of the first block everything would be good enough
            self.floors = np.partition(cosines, width - self.k, axis=1)[:, width - self.k] - self.margin
        places = np.flatnonzero(cosines >= self.floors[:, np.newaxis])
        if not len(places):
            return
        queries, columns = np.divmod(places, width)
        values = cosines[queries, columns]
        counts = np.bincount(queries, minlength=len(self.floors))
        self.kept.append((queries, columns + start, values))
        self.counts += counts
        ordinals = np.arange(len(queries)) - (np.cumsum(counts) - counts)[queries]
        most = int(counts.max())
        merged = np.full((len(self.floors), most + self.k), -np.inf, dtype=np.float32)
        merged[:, most:] = self.best
        merged[queries, ordinals] = values
        self.best = np.partition(merged, most, axis=1)[:, most:]
        self.floors = np.maximum(self.floors, self.best.min(axis=1) - self.margin)
        if (self.counts > self.limit).any():
            self._drop()
            self.floors[self.counts > self.limit] = np.inf
            self._drop()

    def of_each(self) -> Iterator[NDArray[np.intp] | None]:
        """Yield the positions of the candidates of each query, ascending, or None if there are too many."""
        self._drop()
        queries, numbers, _ = self.kept[0]
        order = np.argsort(queries, kind="stable")
        for floor, own in zip(self.floors, np.split(numbers[order], np.cumsum(self.counts)[:-1]), strict=True):
            yield None if floor == np.inf else own

    def _drop(self) -> None:
        """Drop what has turned out not to be good enough."""
        queries, numbers, values = (np.concatenate(column) for column in zip(*self.kept, strict=True))
        rows = values >= self.floors[queries]
        self.kept = [(queries[rows], numbers[rows], values[rows])]
        self.counts = np.bincount(queries[rows], minlength=len(self.floors))


def _in_double_precision(parts: Sequence[Rows], queries: NDArray[np.float64], k: int) -> Iterator[NDArray[np.intp]]:
    """Yield the nearest of queries for which single precision told too little, comparing all vectors."""
    step = max(1, _COSINES_AT_ONCE // sum(map(len, parts)))
    for begin in range(0, len(queries), step):
        batch = queries[begin : begin + step]
        blocks = [
            np.round(batch @ part.units(slice(first, first + _ROWS_AT_ONCE)).T, _DECIMALS)
            for part in parts
            for first in range(0, len(part), _ROWS_AT_ONCE)
        ]
        yield from (top_k(cosines, k) for cosines in np.concatenate(blocks, axis=1))
