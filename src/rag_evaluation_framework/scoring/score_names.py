"""Parsing what is to be scored: names such as `ndcg@10`, or `nDCG@10` as ir_measures spells it, and metrics."""

from collections.abc import Iterable, Sequence, Set
from difflib import get_close_matches
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.contracts.component import component_name
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF, SPELLINGS, Cutoff, ScoreName, is_metric_name
from rag_evaluation_framework.data.ids import ChunkId, DocumentId, EvaluationType
from rag_evaluation_framework.data.plain import items, plain_text
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.metrics.catalogue import ALL_METRICS
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.scoring.tabulate import reads_judgements

M = TypeVar("M", bound=Metric[Any])

Score: TypeAlias = str | M | tuple[M, Cutoff | int | str]
"""What is to be scored: a name such as `ndcg@10`; a metric, of the whole ranking; or a metric and where it is cut."""

IdScore: TypeAlias = Score[Metric[DocumentId]] | Score[Metric[ChunkId]]
SpanScore: TypeAlias = Score[Metric[CharacterSpan]]

DEFAULT_RANK_SCORES = ("hit@10", "recall@10", "mrr@10", "ndcg@10")
"""The default scores of rankings of ids."""

DEFAULT_SPAN_SCORES = ("span_recall@5", "span_precision@5", "span_iou@5")
"""The default scores of rankings of spans."""

_ALL_LEVELS: Set[EvaluationType] = {"document-level", "chunk-level", "token-level"}
_OF_IDS: Set[EvaluationType] = {"document-level", "chunk-level"}
_OF_SPANS: Set[EvaluationType] = {"token-level"}


def parse_score(name: str, levels: Set[EvaluationType] = _ALL_LEVELS) -> tuple[Metric[Any], ScoreName]:
    """Return the metric and the full name of a score such as `ndcg@10` or, as ir_measures spells it, `nDCG@10`.

    A metric without a cutoff scores whole rankings. An error lists the metrics of these levels.

    Raises:
        ConfigError: The metric is not built in, or cannot be cut there.
    """
    try:
        name = plain_text(name)
    except TypeError:
        raise ConfigError(f"score {shown(name)}: expected a text such as 'ndcg@10'") from None
    try:
        parsed = ScoreName.parse(name)
    except ConfigError as error:
        raise ConfigError(f"score {name!r}: {error}") from error
    metric = ALL_METRICS.get(SPELLINGS.get(parsed.metric, parsed.metric))
    if metric is None:
        own = _names(levels)
        spelt = [spelling for spelling, meant in SPELLINGS.items() if meant in own]
        others = f", and as ir_measures spells them {', '.join(spelt)}" if spelt else ""
        raise ConfigError(
            f"score {name!r}: no metric {parsed.metric!r}; {_hint(parsed.metric, [*spelt, *own])}there are "
            f"{', '.join(own)}{others}"
        )
    _check_cutoff(name, metric, parsed.cutoff)
    return metric, ScoreName(metric.name, parsed.cutoff)


def parse_rank_scores(scores: Sequence[IdScore], *, of_numbers: bool = False) -> dict[ScoreName, Metric[Any]]:
    """Return the metrics of several scores of ids by their full names, each once, in order.

    Raises:
        ConfigError: The list is empty, is not a list, or holds something other than scores of ids; or two metrics share
            a name, or one reads ids where there are only numbers.
    """
    return _parse_scores(scores, _OF_IDS, "score_rankings", DEFAULT_RANK_SCORES, of_numbers)


def parse_span_scores(scores: Sequence[SpanScore], *, of_numbers: bool = False) -> dict[ScoreName, Metric[Any]]:
    """Return the metrics of several scores of spans by their full names, each once, in order.

    Raises:
        ConfigError: The list is empty, is not a list, or holds something other than scores of spans, a budget counts
            tokens, or a metric needs a budget and gets none; or two metrics share a name, or one reads spans where
            there are only numbers.
    """
    chosen = _parse_scores(scores, _OF_SPANS, "score_spans", DEFAULT_SPAN_SCORES, of_numbers)
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


def checked_name(metric: Metric[Any]) -> str:
    """Return the name of a metric.

    Raises:
        ConfigError: It cannot be read, or is not one word without `@`.
    """
    name = component_name(metric)
    if not is_metric_name(name):
        raise ConfigError(f"a metric is called {shown(name, 60)}; expected one word without '@', such as 'my_recall'")
    return name


def _parse_scores(
    scores: Any, levels: Set[EvaluationType], function: str, example: tuple[str, ...], of_numbers: bool
) -> dict[ScoreName, Metric[Any]]:
    if isinstance(scores, str):
        raise ConfigError(f"metrics: {scores!r} is one text; expected a list of names, such as [{scores!r}]")
    if not hasattr(scores, "__iter__"):
        raise ConfigError(f"metrics: got {shown(scores)}; expected a list of names or metrics, such as {list(example)}")
    chosen: dict[ScoreName, Metric[Any]] = {}
    named: dict[str, Metric[Any]] = {}
    for score in items(scores, "metrics"):
        metric, full = _parsed(score, levels)
        if levels.isdisjoint(getattr(metric, "evaluation_types", ())):
            raise ConfigError(f"score {shown(score)}: {_where(metric)}; {function} takes {', '.join(_names(levels))}")
        if of_numbers and not reads_judgements(metric):
            raise ConfigError(
                f"score {shown(score)}: {metric.name} reads ids or spans, and arrays hold numbers: use {function}"
            )
        same_kind = type(named.setdefault(full.metric, metric)) is type(metric)
        if not same_kind or chosen.setdefault(full, metric) != metric:
            raise ConfigError(f"two metrics are called {str(full)!r}; names must be unique")
    if not chosen:
        raise ConfigError(f"metrics: nothing to score; expected at least one name, such as {', '.join(example)}")
    return chosen


def _parsed(score: object, levels: Set[EvaluationType]) -> tuple[Metric[Any], ScoreName]:
    if isinstance(score, str):
        return parse_score(score, levels)
    metric, cut = _apart(score)
    if not _is_metric(metric):
        raise ConfigError(
            f"score {shown(score)}: expected a text such as 'ndcg@10', a metric such as NDCG(), or a metric and its "
            "cutoff such as (NDCG(), 10)"
        )
    cutoff = None if cut is None else Cutoff.parse(cut)
    _check_cutoff(score, metric, cutoff)
    return metric, ScoreName(checked_name(metric), cutoff)


def _apart(score: object) -> tuple[Any, Any]:
    """Return a metric and its cutoff; of anything else itself, and no cutoff."""
    given = cast("Sequence[Any]", score if isinstance(score, list | tuple) else ())
    return (given[0], given[1]) if len(given) == 2 else (cast("Any", score), None)


def _is_metric(value: object) -> TypeGuard[Metric[Any]]:
    return isinstance(value, Metric)


def _check_cutoff(score: object, metric: Metric[Any], cutoff: Cutoff | None) -> None:
    if cutoff == OWN_CUTOFF:
        raise ConfigError(
            f"score {shown(score)}: topK is that of each question of a dataset; expected a number of results, as in "
            f"{metric.name}@10"
        )
    if cutoff is not None and cutoff.is_budget and "token-level" not in getattr(metric, "evaluation_types", ()):
        raise ConfigError(
            f"score {shown(score)}: {metric.name} compares ids, which have no length; cut it at a number of results, "
            f"as in {metric.name}@10"
        )


def _names(levels: Set[EvaluationType]) -> list[str]:
    return [name for name, metric in ALL_METRICS.items() if not levels.isdisjoint(metric.evaluation_types)]


def _hint(metric: str, names: Iterable[str]) -> str:
    spellings = {name.lower(): name for name in names}
    near = get_close_matches(metric.lower(), spellings, n=1)
    return f"did you mean {spellings[near[0]]}? " if near else ""


def _where(metric: Metric[Any]) -> str:
    levels = getattr(metric, "evaluation_types", None)
    if not levels:
        return (
            f"{metric.name} has no evaluation_types; subclass DocumentLevelMetric, ChunkLevelMetric or TokenLevelMetric"
        )
    return f"{metric.name} scores {'spans: use score_spans' if 'token-level' in levels else 'ids: use score_rankings'}"
