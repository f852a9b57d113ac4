"""Scores for rankings that people already have."""

from collections.abc import Mapping, Sequence
from math import nan

from numpy.typing import ArrayLike

from rag_evaluation_framework.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.metrics.rank_arrays import judge_arrays
from rag_evaluation_framework.metrics.rank_judgements import Numbers, RankJudgements
from rag_evaluation_framework.metrics.rank_mappings import Rankings, Truth, judge_mappings
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.ranking_scores import RankingScores
from rag_evaluation_framework.metrics.score_names import DEFAULT_RANK_SCORES, parse_rank_scores


def score_rankings(
    ground_truth: Truth, rankings: Rankings, metrics: Sequence[str] = DEFAULT_RANK_SCORES
) -> RankingScores:
    """Score rankings of ids that were made elsewhere.

    Questions are matched by id. A question that the rankings lack scores 0.0, one without ground truth is left out, one
    without anything relevant has no score; all are counted.

    Args:
        ground_truth: For each question its relevant ids, or its judged ids with their gains (0 or below: not relevant).
        rankings: For each question the ids in order, best first, or ids with their scores, which are sorted, highest
            first and ties in the order given.
        metrics: Names of scores, such as `ndcg@10`, `map`, `nDCG@10`, `R@5`.

    Returns:
        The scores, in the order of the ground truth.

    Raises:
        ConfigError: There is no such rank metric, or none is asked for.
        DatasetError: There is no ground truth, a ranking has no order, an id cannot be compared, a gain is no finite
            number, or a score is no number.
    """
    chosen = parse_rank_scores(metrics)
    judged, counts = judge_mappings(ground_truth, rankings)
    return _scored(tuple(ground_truth), judged, chosen, counts)


def score_ranking_arrays(
    ground_truth: ArrayLike,
    rankings: ArrayLike,
    metrics: Sequence[str] = DEFAULT_RANK_SCORES,
    gains: ArrayLike | None = None,
) -> RankingScores:
    """Score rankings of whole numbers, a row a question: the quickest way in.

    Args:
        ground_truth: Judged units, shape (questions, most judged units), each once a row, filled up with -1.
        rankings: Retrieved units, best first, shape (questions, depth), filled up with -1 at the end. A relevant unit
            that stands in a row twice counts where it stands first; other repeats are not looked for.
        metrics: Names of scores, as in `score_rankings`.
        gains: How relevant each unit of `ground_truth` is, of the same shape; by default 1 for all.

    Returns:
        The scores; the questions are called by their row: "0", "1", …

    Raises:
        ConfigError: There is no such rank metric, or none is asked for.
        DatasetError: An array has the wrong shape or type, or a number below -1, a gain is no finite number, or a row
            of the ground truth holds a unit twice.
    """
    chosen = parse_rank_scores(metrics)
    judged = judge_arrays(ground_truth, rankings, gains)
    return _scored(tuple(map(str, range(len(judged.relevant)))), judged, chosen, {})


def _scored(
    query_ids: tuple[str, ...], judged: RankJudgements, chosen: Mapping[ScoreName, RankMetric], counts: dict[str, int]
) -> RankingScores:
    cuts: dict[Cutoff | None, RankJudgements] = {None: judged}
    unanswered = judged.relevant == 0
    columns: dict[str, Numbers] = {}
    for name, metric in chosen.items():
        if name.cutoff not in cuts and name.cutoff is not None:
            cuts[name.cutoff] = judged.at(name.cutoff.size)
        column = metric.score(cuts[name.cutoff])
        if unanswered.any():
            column[unanswered] = nan
        columns[str(name)] = column
    return RankingScores(query_ids, columns, {"queries": len(query_ids), "no_answer": int(unanswered.sum()), **counts})
