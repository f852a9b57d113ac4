"""From rankings and truth to scores: judge once for each ranking and budget, then read off every metric."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.experiments.query_result import Raised
from rag_evaluation_framework.ground_truth import GroundTruth
from rag_evaluation_framework.levels import Level, U
from rag_evaluation_framework.metrics.attainable import judge_attainable
from rag_evaluation_framework.metrics.judgements import SpanJudgements, judge
from rag_evaluation_framework.metrics.rank_judgements import RankJudgements, judge_units
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Hit, PositionAwareChunk, Ranking

Column = list[float | Raised | None]
"""One score a question, the error of a metric that raised, or None where a metric is not available."""


@dataclass(frozen=True)
class Cut:
    """The rankings of all questions at one cutoff.

    Attributes:
        cutoff: Where they are cut.
        rankings: What is left of them.
        judged: Their judgements.
    """

    cutoff: Cutoff
    rankings: Sequence[Ranking]
    judged: SpanJudgements | RankJudgements


@dataclass(frozen=True)
class Judge(Generic[U]):
    """Scores rankings at one level.

    Attributes:
        level: The evaluation type.
        truth: The ground truth of each question, in the order of the rankings.
        chunks: Everything that could be retrieved, or None if that is not known.
        read: Returns the text of a hit.
    """

    level: Level[U]
    truth: Sequence[GroundTruth[U]]
    chunks: Sequence[PositionAwareChunk] | None
    read: Callable[[Hit], str]

    def judge(self, rankings: Sequence[Ranking]) -> SpanJudgements | RankJudgements:
        """Judge whole rankings."""
        relevant: list[Any] = [entry.relevant for entry in self.truth]
        if self.level.evaluation_type == "token-level":
            spans: list[Any] = [self.level.units(ranking) for ranking in rankings]
            return judge(spans, relevant)
        units = [
            entry.as_labelled(self.level.unit(hit, rank) for rank, hit in enumerate(ranking, start=1))
            for entry, ranking in zip(self.truth, rankings, strict=True)
        ]
        return judge_units(units, relevant, [[*map(entry.gain, entry.relevant)] for entry in self.truth])

    def judge_budget(self, rankings: Sequence[Ranking]) -> SpanJudgements | RankJudgements:
        """Judge rankings that were cut at a budget: the number of results that it bought is the depth of each."""
        judged = self.judge(rankings)
        if isinstance(judged, SpanJudgements):
            return judged
        return judged.at(np.fromiter(map(len, rankings), dtype=np.int64, count=len(rankings)))

    def score(self, cuts: Sequence[Cut], metrics: Sequence[Metric[U]]) -> dict[str, Column]:
        """Return, for every metric and cutoff, under the name of the score, one value a question."""
        if any(isinstance(metric, SpanMetric) and metric.needs_chunks for metric in metrics):
            cuts = list(self._with_attainable(cuts))
        return {
            str(ScoreName(metric.name, cut.cutoff)): self._column(metric, cut) for metric in metrics for cut in cuts
        }

    def _with_attainable(self, cuts: Sequence[Cut]) -> Iterator[Cut]:
        truth: list[Any] = [entry.relevant for entry in self.truth]
        spans = None if self.chunks is None else [CharacterSpan(c.doc_id, c.start, c.end) for c in self.chunks]
        attainable = None if spans is None else judge_attainable(spans, truth)
        for cut in cuts:
            judged: Any = cut.judged
            yield replace(cut, judged=replace(judged, attainable=attainable))

    def _column(self, metric: Metric[U], cut: Cut) -> Column:
        judged: Any = cut.judged
        if isinstance(metric, SpanMetric | RankMetric):
            if isinstance(metric, SpanMetric) and metric.needs_chunks and judged.attainable is None:
                return [None] * len(self.truth)
            try:
                values: list[Any] = metric.score(judged).tolist()
            except (Exception, SystemExit) as error:  # noqa: BLE001  a metric of the user's may raise anything; it becomes data
                return [error] * len(self.truth)
            return [_finite(value) for value in values]
        return [
            self._calculated(metric, ranking, entry) for ranking, entry in zip(cut.rankings, self.truth, strict=True)
        ]

    def _calculated(self, metric: Metric[U], ranking: Ranking, entry: GroundTruth[U]) -> float | Raised:
        retrieved = [*map(self._with_text, entry.as_labelled(self.level.units(ranking)))]
        try:
            return _finite(float(metric.calculate(retrieved, [*map(self._with_text, entry.relevant)])))
        except (Exception, SystemExit) as error:  # noqa: BLE001  a metric of the user's may raise anything; it becomes data
            return error

    def _with_text(self, unit: Any) -> Any:
        """Return a span with the text of its place, and any other unit as it is."""
        if not isinstance(unit, CharacterSpan) or unit.text or unit.start == unit.end:
            return unit
        return replace(unit, text=self.read(Hit(unit.doc_id, unit.start, unit.end)))


def _finite(value: float) -> float | Exception:
    return value if math.isfinite(value) else ValueError(f"returned {value}; wanted a finite number")
