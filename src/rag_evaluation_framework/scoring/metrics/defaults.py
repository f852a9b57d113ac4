"""The built-in metrics by name, and the defaults of each evaluation type."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from ...contracts.registry.building import load
from ...contracts.registry.loading import built_in
from ...contracts.roles import ChunkLevelMetric, Metric
from .rank import MRR, NDCG, ChunkF1, ChunkPrecision, ChunkRecall, HitRate, Precision, RankMetric, Recall
from .span import SpanIoU, SpanMetric, SpanPrecision, SpanRecall

M = TypeVar("M", bound=Metric[Any])


def _by_name(metrics: Iterable[M]) -> Mapping[str, M]:
    return MappingProxyType({metric.name: metric for metric in metrics})


DEFAULT_DOCUMENT_METRICS: Mapping[str, RankMetric] = _by_name((HitRate(), Recall(), Precision(), MRR(), NDCG()))
"""Hit rate, recall, precision, MRR and nDCG, by name."""

DEFAULT_CHUNK_METRICS: Mapping[str, ChunkLevelMetric] = _by_name((ChunkRecall(), ChunkPrecision(), ChunkF1()))
"""Chunk recall, precision and F1, by name."""

DEFAULT_TOKEN_METRICS: Mapping[str, SpanMetric] = _by_name((SpanRecall(), SpanPrecision(), SpanIoU()))
"""Span recall, precision and IoU, by name."""

ALL_METRICS: Mapping[str, Metric[Any]] = _by_name(load("metric", name)() for name in built_in("metric"))
"""Every built-in metric, by name."""
