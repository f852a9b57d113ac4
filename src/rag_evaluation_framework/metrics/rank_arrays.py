"""Judging rankings that come as arrays of whole numbers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.ground_truth import LARGEST_GAIN
from rag_evaluation_framework.metrics.rank_judgements import Integers, Numbers, RankJudgements, judge_ranks

_CELLS = 262_144


def judge_arrays(ground_truth: ArrayLike, rankings: ArrayLike, gains: ArrayLike | None) -> RankJudgements:
    """Judge rankings of whole numbers, a row a question.

    Args:
        ground_truth: Judged units, shape (questions, most judged units), filled up with -1.
        rankings: Retrieved units, best first, shape (questions, depth), filled up with -1 at the end.
        gains: How relevant each unit of `ground_truth` is, of the same shape; None stands for 1.

    Raises:
        DatasetError: An array has the wrong shape or type, or a number below -1, a row of the rankings goes on behind
            -1, a gain is no finite number or above 1e100, or a row of the ground truth holds a unit twice.
    """
    truth, ranked = _whole_numbers("ground_truth", ground_truth), _whole_numbers("rankings", rankings)
    weights = np.ones(truth.shape) if gains is None else _finite("gains", gains)
    if len(truth) != len(ranked) or weights.shape != truth.shape or not len(truth):
        raise DatasetError(
            f"ground_truth {truth.shape}, rankings {ranked.shape}, gains {weights.shape}: wanted as many rows, at "
            "least one, and gains for every unit of the ground truth"
        )
    _refuse_below("ground_truth", truth)
    _refuse_below("rankings", ranked)
    _refuse_gaps(ranked)
    truth, ranked = _narrowed(truth, ranked)
    _refuse_repeats(truth)
    relevant = np.flatnonzero((truth >= 0) & (weights > 0))
    query = relevant // max(truth.shape[1], 1)
    rank = _first_places(truth.ravel()[relevant], ranked, query)
    return judge_ranks(query, rank, weights.ravel()[relevant], np.count_nonzero(ranked >= 0, axis=1))


def _whole_numbers(name: str, given: ArrayLike) -> NDArray[Any]:
    array = _array(name, given)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
        raise DatasetError(f"{name}: shape {array.shape} of {array.dtype}; wanted two dimensions of whole numbers")
    return array


def _finite(name: str, given: ArrayLike) -> Numbers:
    try:
        numbers = _array(name, given).astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{name}: {error}; wanted numbers, above 0 where the unit is relevant") from error
    if not (np.abs(numbers) <= LARGEST_GAIN).all():
        raise DatasetError(
            f"{name}: one is NaN, infinite or above {LARGEST_GAIN:g}; wanted numbers, above 0 where relevant"
        )
    return numbers


def _array(name: str, given: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{name}: {error}; wanted an array, its rows filled up with -1") from error


def _refuse_below(name: str, array: NDArray[Any]) -> None:
    """Refuse numbers below -1: they stand for no unit, and only -1 fills up."""
    if array.min(initial=0) < -1:
        row, column = np.argwhere(array < -1)[0]
        raise DatasetError(
            f"{name}: row {row} holds {array[row, column]}; wanted units numbered from 0, and -1 to fill rows up"
        )


def _refuse_gaps(ranked: NDArray[Any]) -> None:
    """Refuse a unit that stands behind -1: whether a rank is empty, or the row at its end, nobody could tell."""
    behind = (ranked[:, 1:] >= 0) & (ranked[:, :-1] < 0)
    if behind.any():
        row, column = np.argwhere(behind)[0]
        raise DatasetError(f"rankings: row {row} holds a unit behind -1, at {column + 1}; wanted -1 at the end only")


def _narrowed(truth: NDArray[Any], ranked: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both in rows of 32 bits a number if all fit: twice as many are compared at a time."""
    limits = np.iinfo(np.int32)
    fit = all(array.max(initial=0) <= limits.max for array in (truth, ranked))
    kinds = (np.int32, np.int32) if fit else (truth.dtype, ranked.dtype)
    return np.ascontiguousarray(truth, dtype=kinds[0]), np.ascontiguousarray(ranked, dtype=kinds[1])


def _refuse_repeats(truth: NDArray[Any]) -> None:
    """Refuse a unit that stands in a row twice: it would count twice."""
    in_order = np.sort(truth, axis=1)
    again = in_order[:, 1:] == in_order[:, :-1]
    again &= in_order[:, 1:] >= 0
    if again.any():
        first = tuple(np.argwhere(again)[0])
        raise DatasetError(f"ground_truth: row {first[0]} holds {in_order[first]} twice; wanted each unit once")


def _first_places(wanted: NDArray[Any], ranked: NDArray[Any], query: Integers) -> Integers:
    """Return where each wanted unit stands first in the row of its question, -1 if nowhere."""
    depth = max(ranked.shape[1], 1)
    places = np.full(len(wanted), -1, dtype=np.int64)
    step = max(1, _CELLS // depth)
    for first in range(0, len(wanted), step):
        rows = ranked.take(query[first : first + step], axis=0)
        at: Integers = np.flatnonzero(rows == wanted[first : first + step, np.newaxis])
        row = at // depth
        # Written backwards, so that the first of several places stays.
        places[first + row[::-1]] = (at - row * depth)[::-1]
    return places
