"""Parsing names of scores: `ndcg@10`, or `nDCG@10` as ir_measures spells it."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import SPELLINGS, Cutoff, ScoreName
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.metrics.catalogue import ALL_METRICS
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import SpanMetric

DEFAULT_RANK_SCORES = ("hit@10", "recall@10", "mrr@10", "ndcg@10")
"""The default scores of rankings of ids."""

DEFAULT_SPAN_SCORES = ("span_recall@5", "span_precision@5", "span_iou@5")
"""The default scores of rankings of spans."""


def parse_score(name: str, kind: type[Any] = Metric) -> tuple[Metric[Any], ScoreName]:
    """Return the metric and the full name of a score such as `ndcg@10` or, as ir_measures spells it, `nDCG@10`.

    A metric without a cutoff scores whole rankings. An error lists the metrics of that kind.

    Raises:
        ConfigError: The metric is not built in, or cannot be cut there.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
        raise ConfigError(f"score {name!r}: expected a text such as 'ndcg@10'")
    try:
        parsed = ScoreName.parse(name)
    except ConfigError as error:
        raise ConfigError(f"score {name!r}: {error}") from error
    metric = ALL_METRICS.get(SPELLINGS.get(parsed.metric, parsed.metric))
    if metric is None:
        own = _names(kind)
        spelt = [spelling for spelling, meant in SPELLINGS.items() if meant in own]
        others = f", and as ir_measures spells them {', '.join(spelt)}" if spelt else ""
        raise ConfigError(
            f"score {name!r}: no metric {parsed.metric!r}; {_hint(parsed.metric, [*spelt, *own])}there are "
            f"{', '.join(own)}{others}"
        )
    if parsed.cutoff is not None and parsed.cutoff.is_budget and "token-level" not in metric.evaluation_types:
        raise ConfigError(
            f"score {name!r}: {metric.name} compares ids, which have no length; cut it at a number of results, such as "
            f"{metric.name}@10"
        )
    return metric, ScoreName(metric.name, parsed.cutoff)


def parse_rank_scores(names: Sequence[str]) -> dict[ScoreName, RankMetric]:
    """Return the rank metrics of several scores by their full names, each once, in order.

    Raises:
        ConfigError: The list is empty, is not a list, or holds something other than scores of rank metrics.
    """
    return _parse_scores(names, RankMetric, "score_rankings", DEFAULT_RANK_SCORES)


def parse_span_scores(names: Sequence[str]) -> dict[ScoreName, SpanMetric]:
    """Return the span metrics of several scores by their full names, each once, in order.

    Raises:
        ConfigError: The list is empty, is not a list, or holds something other than scores of span metrics, a budget
            counts tokens, or a metric needs a budget and gets none.
    """
    chosen = _parse_scores(names, SpanMetric, "score_spans", DEFAULT_SPAN_SCORES)
    for name, metric in chosen.items():
        if not takes(metric, name.cutoff):
            raise ConfigError(
                f"score {str(name)!r}: {name.metric} is scored at budgets only; name one, such as {name.metric}@4000ch"
            )
        if name.cutoff is not None and name.cutoff.unit == "tok":
            raise ConfigError(
                f"score {str(name)!r}: spans carry no text whose tokens could be counted; give the budget in "
                f"characters, such as {name.metric}@4000ch, or use evaluate, which knows the corpus"
            )
    return chosen


def takes(metric: Metric[Any], cutoff: Cutoff | None) -> bool:
    """Return whether a metric scores rankings that are cut there; None is the whole ranking."""
    at_budgets_only = isinstance(metric, SpanMetric) and metric.needs_budget
    return not at_budgets_only or (cutoff is not None and cutoff.is_budget)


def _parse_scores(
    names: Sequence[str], kind: type[Any], function: str, example: tuple[str, ...]
) -> dict[ScoreName, Any]:
    if isinstance(names, str):
        raise ConfigError(f"metrics: {names!r} is one text; expected a list of names, such as [{names!r}]")
    if not isinstance(names, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
        raise ConfigError(f"metrics: got {names!r}; expected a list of names, such as {list(example)}")
    chosen: dict[ScoreName, Any] = {}
    for name in names:
        metric, full = parse_score(name, kind)
        if not isinstance(metric, kind):
            raise ConfigError(f"score {name!r}: {_where(metric)}; {function} takes {', '.join(_names(kind))}")
        chosen[full] = metric
    if not chosen:
        raise ConfigError(f"metrics: nothing to score; expected at least one name, such as {', '.join(example)}")
    return chosen


def _names(kind: type[Any]) -> list[str]:
    return [name for name, metric in ALL_METRICS.items() if isinstance(metric, kind)]


def _hint(metric: str, names: Iterable[str]) -> str:
    spellings = {name.lower(): name for name in names}
    near = get_close_matches(metric.lower(), spellings, n=1)
    return f"did you mean {spellings[near[0]]}? " if near else ""


def _where(metric: Metric[Any]) -> str:
    if isinstance(metric, RankMetric):
        return f"{metric.name} scores ids: use score_rankings"
    if isinstance(metric, SpanMetric):
        return f"{metric.name} scores spans: use score_spans"
    return f"{metric.name} is scored in evaluations: use evaluate, or {type(metric).__name__}().calculate"
