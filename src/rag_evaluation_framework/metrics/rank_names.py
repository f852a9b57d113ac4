"""The names of rank scores: `ndcg@10`, or `nDCG@10` as ir_measures spells it."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from rag_evaluation_framework.cutoffs import ScoreName
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.metrics.f1 import F1
from rag_evaluation_framework.metrics.hit_rate import HitRate
from rag_evaluation_framework.metrics.mean_average_precision import MAP
from rag_evaluation_framework.metrics.mrr import MRR
from rag_evaluation_framework.metrics.ndcg import NDCG
from rag_evaluation_framework.metrics.precision import Precision
from rag_evaluation_framework.metrics.r_precision import RPrecision
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.recall import Recall

_METRICS: dict[str, RankMetric] = {
    metric.name: metric for metric in (HitRate(), Recall(), Precision(), F1(), MRR(), MAP(), NDCG(), RPrecision())
}
_SPELLINGS = {
    "R": "recall",
    "P": "precision",
    "RR": "mrr",
    "AP": "map",
    "nDCG": "ndcg",
    "Rprec": "r_precision",
    "Success": "hit",
    "SetF": "f1",
}

DEFAULT_SCORES = ("hit@10", "recall@10", "mrr@10", "ndcg@10")
"""What is scored if nothing else is asked for."""


def parse_rank_score(name: str) -> tuple[RankMetric, ScoreName]:
    """Return the metric and the full name of a score such as `ndcg@10` or, as ir_measures spells it, `nDCG@10`.

    A metric without a cutoff stands for whole rankings.

    Raises:
        ConfigError: There is no such metric, or the cutoff is no number of results.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # people who run no checker
        raise ConfigError(f"score {name!r}: wanted a text such as 'ndcg@10'")
    try:
        parsed = ScoreName.parse(name)
    except ConfigError as error:
        raise ConfigError(f"score {name!r}: {error}") from error
    metric = _METRICS.get(_SPELLINGS.get(parsed.metric, parsed.metric))
    if metric is None:
        near = get_close_matches(parsed.metric.lower(), _METRICS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(
            f"score {name!r}: no rank metric {parsed.metric!r}; {hint}there are {', '.join(_METRICS)}, "
            f"and {', '.join(_SPELLINGS)}"
        )
    if parsed.cutoff is not None and parsed.cutoff.is_budget:
        raise ConfigError(f"score {name!r}: rank metrics are cut at a number of results, such as {metric.name}@10")
    return metric, ScoreName(metric.name, parsed.cutoff)


def parse_rank_scores(names: Sequence[str]) -> dict[ScoreName, RankMetric]:
    """Return the metrics of several scores by their full names, each once, in order.

    Raises:
        ConfigError: There is none, they are no list, or one of them is no score.
    """
    if isinstance(names, str):
        raise ConfigError(f"metrics: {names!r} is one text; wanted a list of names, such as [{names!r}]")
    if not isinstance(names, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # people who run no checker
        raise ConfigError(f"metrics: got {names!r}; wanted a list of names, such as {list(DEFAULT_SCORES)}")
    chosen = {full: metric for metric, full in map(parse_rank_score, names)}
    if not chosen:
        raise ConfigError(f"metrics: nothing to score; wanted at least one name, such as {', '.join(DEFAULT_SCORES)}")
    return chosen
