"""The built-in metrics by name, and the defaults of each evaluation type."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from rag_evaluation_framework.contracts.metric import ChunkLevelMetric, Metric
from rag_evaluation_framework.metrics.chunk_f1 import ChunkF1
from rag_evaluation_framework.metrics.chunk_precision import ChunkPrecision
from rag_evaluation_framework.metrics.chunk_recall import ChunkRecall
from rag_evaluation_framework.metrics.hit import HitRate
from rag_evaluation_framework.metrics.mrr import MRR
from rag_evaluation_framework.metrics.ndcg import NDCG
from rag_evaluation_framework.metrics.precision import Precision
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.recall import Recall
from rag_evaluation_framework.metrics.span_iou import SpanIoU
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.metrics.span_precision import SpanPrecision
from rag_evaluation_framework.metrics.span_recall import SpanRecall
from rag_evaluation_framework.registry.lookup import load
from rag_evaluation_framework.registry.table import built_in

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
