"""The metrics that an evaluation reports when none are asked for."""

from rag_evaluation_framework.contracts.metric import TokenLevelMetric
from rag_evaluation_framework.metrics.span_iou import SpanIoU
from rag_evaluation_framework.metrics.span_precision import SpanPrecision
from rag_evaluation_framework.metrics.span_recall import SpanRecall

DEFAULT_TOKEN_METRICS: tuple[TokenLevelMetric, ...] = (SpanRecall(), SpanPrecision(), SpanIoU())
"""Span recall, precision and IoU."""
