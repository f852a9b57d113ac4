"""`score_rankings`: score existing rankings of ids, without corpus or retriever."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.metrics.chunk_metric import ChunkMetric
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.scoring.rank_arrays import read_rank_arrays
from rag_evaluation_framework.scoring.rank_mappings import (
    IdRankings,
    Truth,
    check_rank_mappings,
    read_rank_mappings,
    read_units,
)
from rag_evaluation_framework.scoring.score_names import DEFAULT_RANK_SCORES, IdScore, Score, parse_rank_scores
from rag_evaluation_framework.scoring.tabulate import Cut, kept, tabulate
from rag_evaluation_framework.scoring.units import Units
from rag_evaluation_framework.scoring.unmatched import check_ids


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
    check_rank_mappings(ground_truth, rankings)
    truth: Any = ground_truth  # read more than once by metrics of one's own, and where chunks are found
    if any(hasattr(kind, "__next__") for kind in set(map(type, truth.values()))):
        truth = dict(zip(truth, kept(truth.values(), "ground_truth"), strict=True))
    judged, counts, of_chunks = read_rank_mappings(truth, rankings)
    check_ids(truth, rankings, judged)
    return _scored(tuple(truth), judged, chosen, counts, partial(read_units, truth, rankings, of_chunks=of_chunks))


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
