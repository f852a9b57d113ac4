"""Reading rankings of ids from arrays of integers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.labelled_units import LARGEST_GAIN
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements

_CELLS = 262_144


def read_rank_arrays(ground_truth: ArrayLike, rankings: ArrayLike, gains: ArrayLike | None) -> RankJudgements:
    """Judge rankings of integers, one row per query.

    Args:
        ground_truth: Judged units, shape (queries, most judged units), padded with -1.
        rankings: Retrieved units, best first, shape (queries, depth), padded with -1 at the end.
        gains: How relevant each unit of `ground_truth` is, of the same shape; None means 1 for all.

    Raises:
        DatasetError: An array has the wrong shape or type, or a number below -1, a row of the rankings continues after
            -1, a gain is not a finite number or is above 1e100, or a row of the ground truth holds a unit twice.
    """
    truth, ranked = _whole_numbers("ground_truth", ground_truth), _whole_numbers("rankings", rankings)
    weights = np.ones(truth.shape) if gains is None else _finite("gains", gains)
    if len(truth) != len(ranked) or weights.shape != truth.shape or not len(truth):
        raise DatasetError(
            f"ground_truth {truth.shape}, rankings {ranked.shape}, gains {weights.shape}: expected the same number "
            "of rows, at least one, and a gain for every unit of the ground truth"
        )
    _refuse_below("ground_truth", truth)
    _refuse_below("rankings", ranked)
    _refuse_gaps(ranked)
    truth, ranked = _narrowed(truth, ranked)
    _refuse_repeats(truth)
    relevant = np.flatnonzero((truth >= 0) & (weights > 0))
    query = relevant // max(truth.shape[1], 1)
    rank = _first_ranks(truth.ravel()[relevant], ranked, query)
    return RankJudgements.from_ranks(query, rank, weights.ravel()[relevant], np.count_nonzero(ranked >= 0, axis=1))


def _whole_numbers(name: str, given: ArrayLike) -> NDArray[Any]:
    array = _array(name, given)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
        raise DatasetError(f"{name}: shape {array.shape} of {array.dtype}; expected two dimensions of whole numbers")
    return array


def _finite(name: str, given: ArrayLike) -> Numbers:
    try:
        numbers = _array(name, given).astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{name}: {error}; expected numbers, above 0 where the unit is relevant") from error
    if not (np.abs(numbers) <= LARGEST_GAIN).all():
        raise DatasetError(
            f"{name}: one is NaN, infinite or above {LARGEST_GAIN:g}; expected numbers, above 0 where relevant"
        )
    return numbers


def _array(name: str, given: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{name}: {error}; expected an array, its rows padded with -1") from error


def _refuse_below(name: str, array: NDArray[Any]) -> None:
    """Refuse numbers below -1: they name no unit, and padding is -1 only."""
    if array.min(initial=0) < -1:
        row, column = np.argwhere(array < -1)[0]
        raise DatasetError(
            f"{name}: row {row} holds {array[row, column]}; expected units numbered from 0, and -1 as padding"
        )


def _refuse_gaps(ranked: NDArray[Any]) -> None:
    """Refuse a unit after -1: nobody could tell an empty rank from the end of the row."""
    after_end = (ranked[:, 1:] >= 0) & (ranked[:, :-1] < 0)
    if after_end.any():
        row, column = np.argwhere(after_end)[0]
        raise DatasetError(f"rankings: row {row} holds a unit after -1, at {column + 1}; expected -1 at the end only")


def _narrowed(truth: NDArray[Any], ranked: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both as 32-bit integers if all fit: twice as many are compared at a time."""
    limits = np.iinfo(np.int32)
    fit = all(array.max(initial=0) <= limits.max for array in (truth, ranked))
    kinds = (np.int32, np.int32) if fit else (truth.dtype, ranked.dtype)
    return np.ascontiguousarray(truth, dtype=kinds[0]), np.ascontiguousarray(ranked, dtype=kinds[1])


def _refuse_repeats(truth: NDArray[Any]) -> None:
    """Refuse a unit that occurs twice in a row: it would count twice."""
    in_order = np.sort(truth, axis=1)
    again = in_order[:, 1:] == in_order[:, :-1]
    again &= in_order[:, 1:] >= 0
    if again.any():
        first = tuple(np.argwhere(again)[0])
        raise DatasetError(f"ground_truth: row {first[0]} holds {in_order[first]} twice; expected each unit once")


def _first_ranks(units: NDArray[Any], ranked: NDArray[Any], query: Integers) -> Integers:
    """Return the rank of each unit in the row of its query, 0-based: the first if it repeats, -1 if it is not there.

    For units [7, 5, 9] of the queries [0, 0, 1], and ranked [[5, 7, 7], [8, 6, -1]], that is [1, 0, -1].
    """
    depth = max(ranked.shape[1], 1)
    ranks = np.full(len(units), -1, dtype=np.int64)
    step = max(1, _CELLS // depth)
    for first in range(0, len(units), step):
        rows = ranked.take(query[first : first + step], axis=0)
        at: Integers = np.flatnonzero(rows == units[first : first + step, np.newaxis])
        row = at // depth
        # Written from the last to the first, so that the first of several ranks remains.
        ranks[first + row[::-1]] = (at - row * depth)[::-1]
    return ranks
