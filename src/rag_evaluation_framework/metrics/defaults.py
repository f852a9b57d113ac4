"""The built-in metrics by name, and those that an evaluation reports when none are asked for."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from rag_evaluation_framework.contracts.metric import ChunkLevelMetric, Metric
from rag_evaluation_framework.metrics.chunk_f1 import ChunkF1
from rag_evaluation_framework.metrics.chunk_precision import ChunkPrecision
from rag_evaluation_framework.metrics.chunk_recall import ChunkRecall
from rag_evaluation_framework.metrics.f1 import F1
from rag_evaluation_framework.metrics.hit_rate import HitRate
from rag_evaluation_framework.metrics.mean_average_precision import MAP
from rag_evaluation_framework.metrics.mrr import MRR
from rag_evaluation_framework.metrics.ndcg import NDCG
from rag_evaluation_framework.metrics.precision import Precision
from rag_evaluation_framework.metrics.precision_omega import PrecisionOmega
from rag_evaluation_framework.metrics.r_precision import RPrecision
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.recall import Recall
from rag_evaluation_framework.metrics.span_dcg import SpanDCG
from rag_evaluation_framework.metrics.span_f1 import SpanF1
from rag_evaluation_framework.metrics.span_hit import SpanHit
from rag_evaluation_framework.metrics.span_iou import SpanIoU
from rag_evaluation_framework.metrics.span_iou_raw import SpanIoURaw
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.metrics.span_precision import SpanPrecision
from rag_evaluation_framework.metrics.span_precision_raw import SpanPrecisionRaw
from rag_evaluation_framework.metrics.span_recall import SpanRecall
from rag_evaluation_framework.metrics.token_set_f1 import TokenSetF1
from rag_evaluation_framework.metrics.token_set_iou import TokenSetIoU
from rag_evaluation_framework.metrics.token_set_precision import TokenSetPrecision
from rag_evaluation_framework.metrics.token_set_recall import TokenSetRecall

M = TypeVar("M", bound=Metric[Any])


def _by_name(metrics: Iterable[M]) -> Mapping[str, M]:
    return MappingProxyType({metric.name: metric for metric in metrics})


DEFAULT_DOCUMENT_METRICS: Mapping[str, RankMetric] = _by_name((HitRate(), Recall(), Precision(), MRR(), NDCG()))
"""Hit rate, recall, precision, MRR and nDCG, by name."""

DEFAULT_CHUNK_METRICS: Mapping[str, ChunkLevelMetric] = _by_name((ChunkRecall(), ChunkPrecision(), ChunkF1()))
"""Chunk recall, precision and F1, by name."""

DEFAULT_TOKEN_METRICS: Mapping[str, SpanMetric] = _by_name((SpanRecall(), SpanPrecision(), SpanIoU()))
"""Span recall, precision and IoU, by name."""

ALL_METRICS: Mapping[str, Metric[Any]] = _by_name(
    (
        HitRate(),
        Recall(),
        Precision(),
        F1(),
        MRR(),
        MAP(),
        NDCG(),
        RPrecision(),
        ChunkRecall(),
        ChunkPrecision(),
        ChunkF1(),
        SpanRecall(),
        SpanPrecision(),
        SpanIoU(),
        SpanF1(),
        SpanHit(),
        SpanDCG(),
        SpanPrecisionRaw(),
        SpanIoURaw(),
        TokenSetRecall(),
        TokenSetPrecision(),
        TokenSetIoU(),
        TokenSetF1(),
        PrecisionOmega(),
    )
)
"""Every built-in metric, by name."""
