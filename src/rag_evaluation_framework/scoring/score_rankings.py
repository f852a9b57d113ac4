"""`score_rankings`: score existing rankings of ids, without corpus or retriever."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.contracts.roles import Metric
from rag_evaluation_framework.data import Cutoff, ScoreName, ScoreTable
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.ground_truth import LARGEST_GAIN
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.chunk import ChunkMetric
from rag_evaluation_framework.metrics.rank import RankMetric
from rag_evaluation_framework.scoring.rank_mappings import (
    IdRankings,
    Truth,
    check_ids,
    check_mappings,
    read_rank_mappings,
    read_units,
    with_plain_chunk_ids,
)
from rag_evaluation_framework.scoring.score_names import DEFAULT_RANK_SCORES, IdScore, Score, parse_rank_scores
from rag_evaluation_framework.scoring.tabulate import Cut, Units, kept, tabulate

# Reading rankings of ids from arrays of integers.

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
    for name, array in (("ground_truth", truth), ("rankings", ranked)):
        _refuse(name, array, array < -1, "; expected units numbered from 0, and -1 as padding")
    goes_on = (ranked[:, 1:] >= 0) & (ranked[:, :-1] < 0)  # nobody could tell an empty rank from the end of the row
    if goes_on.any():
        row, column = np.argwhere(goes_on)[0]
        raise DatasetError(f"rankings: row {row} holds a unit after -1, at {column + 1}; expected -1 at the end only")
    truth, ranked = _narrowed(truth, ranked)
    in_order = np.sort(truth, axis=1)
    again, before = in_order[:, 1:], in_order[:, :-1]  # it would count twice
    _refuse("ground_truth", again, (again == before) & (again >= 0), " twice; expected each unit once")
    relevant = np.flatnonzero(truth >= 0)
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


def _refuse(name: str, array: NDArray[Any], wrong: NDArray[np.bool_], told: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DatasetError(f"{name}: row {row} holds {array[row, column]}{told}")


def _narrowed(truth: NDArray[Any], ranked: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both as 32-bit integers if all fit: twice as many are compared at a time."""
    limits = np.iinfo(np.int32)
    fit = all(array.max(initial=0) <= limits.max for array in (truth, ranked))
    kinds = (np.int32, np.int32) if fit else (truth.dtype, ranked.dtype)
    return np.ascontiguousarray(truth, dtype=kinds[0]), np.ascontiguousarray(ranked, dtype=kinds[1])


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


def score_rankings(
    ground_truth: Truth, rankings: IdRankings, metrics: Sequence[IdScore] = DEFAULT_RANK_SCORES
) -> ScoreTable:
    """Score rankings of ids that were made elsewhere.

    Queries are matched by id. A query that the rankings lack scores 0.0, one without ground truth is left out, one
    without anything relevant has no score; all are counted. `pa_chunk_…` and `chunk_…` of one content are one chunk, in
    all questions, if the ground truth of any of them holds such an id; of ids in rankings alone they are two.

    Args:
        ground_truth: For each query its relevant ids, or its judged ids with their gains (0 or below: not relevant).
        rankings: For each query the ids in order, best first, or ids with their scores, which are sorted, highest
            first and ties in the order given. If of two questions or more no relevant id is in any
            ranking, that is noted.
        metrics: Names of scores, such as `ndcg@10`, `map`, `nDCG@10`, `R@5`, `chunk_recall@5`; metrics, which score the
            whole ranking; and pairs of a metric and a number of results. A metric of your own is called once for each
            question that has an answer, with the retrieved ids, each once and cut, and the relevant ones.

    Returns:
        The scores, in the order of the ground truth, with these counts: `queries`, and of these `no_answer` (nothing is
        relevant: no score) and `queries_not_ranked` (scored as an empty ranking, 0.0);
        `queries_not_judged` (left out); `ties_or_duplicates`, the rankings that hold a unit twice (its first
        rank counts), or whose scores tie or do not fall (they are sorted, ties in the order given).

    Raises:
        ConfigError: Something is not a score of ids, two metrics share a name, or no score is named.
        DatasetError: The ground truth is empty, a ranking has no order, an id cannot be hashed, a gain is not a finite
            number, a score is not a number, one chunk has two gains, or some ids are numbers and others texts.
    """
    chosen = parse_rank_scores(metrics)
    check_mappings(ground_truth, rankings, "ids")
    truth: Any = ground_truth  # read more than once by metrics of one's own, and where chunks are found
    if any(hasattr(kind, "__next__") for kind in set(map(type, truth.values()))):
        truth = dict(zip(truth, kept(truth.values(), "ground_truth"), strict=True))
    given: tuple[Any, Any] = truth, rankings
    judged, missing, irregular, of_chunks = read_rank_mappings(*given)
    if of_chunks:
        given = with_plain_chunk_ids(*given)
        judged, _, irregular, _ = read_rank_mappings(*given)
    check_ids(truth, rankings, judged, missing)
    counts = {
        "queries_not_ranked": missing,
        "queries_not_judged": len(rankings) - (len(ground_truth) - missing),
        "ties_or_duplicates": irregular,
    }
    return _scored(tuple(truth), judged, chosen, counts, partial(read_units, *given))


def score_ranking_arrays(
    ground_truth: ArrayLike,
    rankings: ArrayLike,
    metrics: Sequence[Score[RankMetric | ChunkMetric]] = DEFAULT_RANK_SCORES,
    gains: ArrayLike | None = None,
) -> ScoreTable:
    """Score rankings of integers, one row per query: the quickest way in.

    Args:
        ground_truth: Judged units, shape (queries, most judged units), each once per row, padded with -1.
        rankings: Retrieved units, best first, shape (queries, depth), padded with -1 at the end. A relevant unit that
            occurs twice in a row counts at its first rank; other repeats are not looked for.
        metrics: As in `score_rankings`, but for metrics of your own that have nothing but `calculate`: they read ids.
        gains: How relevant each unit of `ground_truth` is, of the same shape; by default 1 for all.

    Returns:
        The scores; the id of a query is its row: "0", "1", …

    Raises:
        ConfigError: Something is not a score of ids, or reads them; two metrics share a name, or no score is named.
        DatasetError: An array has the wrong shape or type, or a number below -1, a gain is not a finite number, or a
            row of the ground truth holds a unit twice.
    """
    chosen = parse_rank_scores(metrics, of_numbers=True)
    judged = read_rank_arrays(ground_truth, rankings, gains)
    return _scored(tuple(map(str, range(len(judged.relevant)))), judged, chosen, {})


def _scored(
    query_ids: tuple[str, ...],
    judged: RankJudgements,
    chosen: Mapping[ScoreName, Metric[Any]],
    counts: dict[str, int],
    units: Callable[[int | None], Iterable[Units]] | None = None,
) -> ScoreTable:
    cuts: dict[Cutoff | None, Cut] = {}
    for cutoff in {None: None, **{name.cutoff: None for name in chosen}}:
        size = None if cutoff is None else cutoff.size
        judgements = judged if size is None else judged.at(size)
        cuts[cutoff] = Cut(judgements) if units is None else Cut(judgements, partial(units, size))
    answerable = judged.relevant > 0
    all_counts = {"queries": len(query_ids), "no_answer": int((~answerable).sum()), **counts}
    return tabulate(query_ids, chosen, cuts, answerable, counts=all_counts)
