"""From rankings and truth to scores: judge once for each ranking and budget, then read off every metric."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.levels import TOKEN
from rag_evaluation_framework.metrics.judgements import SpanJudgements, judge
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Ranking

Truth = Sequence[Sequence[CharacterSpan]]
Column = list[float | Exception]
"""One score a question, or why there is none."""


@dataclass(frozen=True)
class Cut:
    """The rankings of all questions, cut at one cutoff, and their judgements."""

    cutoff: Cutoff
    rankings: Sequence[Ranking]
    judged: SpanJudgements


def judge_rankings(rankings: Sequence[Ranking], truth: Truth) -> SpanJudgements:
    """Judge rankings of placed hits."""
    return judge([TOKEN.units(ranking) for ranking in rankings], truth)


def score_spans(cuts: Sequence[Cut], truth: Truth, metrics: Sequence[Metric[CharacterSpan]]) -> dict[str, Column]:
    """Score rankings against spans.

    Args:
        cuts: The rankings at each cutoff.
        truth: The relevant spans of every question, in the order of the rankings.
        metrics: What to compute.

    Returns:
        For every metric and cutoff, under the name of the score, one value a question: the score, or the error of a
        metric that raised or returned no finite number.
    """
    return {str(ScoreName(metric.name, cut.cutoff)): _column(metric, cut, truth) for metric in metrics for cut in cuts}


def _column(metric: Metric[CharacterSpan], cut: Cut, truth: Truth) -> Column:
    if isinstance(metric, SpanMetric):
        try:
            values: list[Any] = metric.score(cut.judged).tolist()
        except Exception as error:  # noqa: BLE001  a metric of the user's may raise anything; it becomes data
            return [error] * len(truth)
        return [_finite(value) for value in values]
    return [_calculated(metric, ranking, right) for ranking, right in zip(cut.rankings, truth, strict=True)]


def _calculated(metric: Metric[Any], ranking: Ranking, right: Sequence[CharacterSpan]) -> float | Exception:
    try:
        return _finite(float(metric.calculate(TOKEN.units(ranking), right)))
    except Exception as error:  # noqa: BLE001  a metric of the user's may raise anything; it becomes data
        return error


def _finite(value: float) -> float | Exception:
    return value if math.isfinite(value) else ValueError(f"returned {value}; wanted a finite number")
