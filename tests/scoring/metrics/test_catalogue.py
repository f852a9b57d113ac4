"""The groups of metrics: what is in them, that nobody can change them, and that the registry knows the same."""

import inspect
import re

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import ChunkLevelMetric, TokenLevelMetric
from rag_evaluation_framework.contracts import Metric
from rag_evaluation_framework.contracts.registry.building import build
from rag_evaluation_framework.contracts.registry.loading import components
from rag_evaluation_framework.scoring import metrics
from rag_evaluation_framework.scoring.metrics import (
    ALL_METRICS,
    DEFAULT_CHUNK_METRICS,
    DEFAULT_DOCUMENT_METRICS,
    DEFAULT_TOKEN_METRICS,
    RankMetric,
)
from support.each import each

IDS, CHUNKS, TEXT = {"document-level", "chunk-level"}, {"chunk-level"}, {"token-level"}


@each(
    ("kind", "levels", "classes"),
    [
        (RankMetric, IDS, {"hit": "HitRate", "recall": "Recall", "precision": "Precision", "f1": "F1", "mrr": "MRR"}),
        (RankMetric, IDS, {"map": "MAP", "ndcg": "NDCG", "r_precision": "RPrecision"}),
        (
            ChunkLevelMetric,
            CHUNKS,
            {"chunk_recall": "ChunkRecall", "chunk_precision": "ChunkPrecision", "chunk_f1": "ChunkF1"},
        ),
        (TokenLevelMetric, TEXT, {"span_recall": "SpanRecall", "span_precision": "SpanPrecision", "span_f1": "SpanF1"}),
        (TokenLevelMetric, TEXT, {"span_iou": "SpanIoU", "span_iou_raw": "SpanIoURaw", "span_hit": "SpanHit"}),
        (TokenLevelMetric, TEXT, {"span_precision_raw": "SpanPrecisionRaw", "span_dcg": "SpanDCG", "span_u": "SpanU"}),
        (TokenLevelMetric, TEXT, {"precision_omega": "PrecisionOmega", "token_set_recall": "TokenSetRecall"}),
        (TokenLevelMetric, TEXT, {"token_set_precision": "TokenSetPrecision", "token_set_f1": "TokenSetF1"}),
        (TokenLevelMetric, TEXT, {"token_set_iou": "TokenSetIoU"}),
    ],
)
def test_metrics_have_these_names_classes_and_levels(kind, levels, classes):
    for name, class_name in classes.items():
        metric = ALL_METRICS[name]
        assert (metric.name, type(metric).__name__, metric.evaluation_types) == (name, class_name, levels)
        assert isinstance(metric, kind)
        assert isinstance(metric, Metric)
        assert (metric, hash(metric)) == (type(metric)(), hash(type(metric)()))


def test_the_groups_hold_these_metrics_and_nobody_can_change_them():
    assert list(DEFAULT_TOKEN_METRICS) == ["span_recall", "span_precision", "span_iou"]
    assert list(DEFAULT_CHUNK_METRICS) == ["chunk_recall", "chunk_precision", "chunk_f1"]
    assert list(DEFAULT_DOCUMENT_METRICS) == ["hit", "recall", "precision", "mrr", "ndcg"]
    assert len(ALL_METRICS) == 25
    for group in (DEFAULT_TOKEN_METRICS, DEFAULT_CHUNK_METRICS, DEFAULT_DOCUMENT_METRICS, ALL_METRICS):
        assert {metric.name: ALL_METRICS[metric.name] for metric in group.values()} == dict(group)
        with pytest.raises(TypeError):
            group["mine"] = next(iter(group.values()))
        with pytest.raises(TypeError):
            del group[next(iter(group))]


@pytest.mark.parametrize(
    ("base", "class_name", "name"),
    [
        ("span_recall", "SpanU", "span_u"),
        ("span_recall", "F1AtK", "f1_at_k"),
        ("span_recall", "NDCGScore", "ndcg_score"),
        *((base, "Sub", base) for base in ("span_iou", "span_iou_raw", "token_set_iou")),  # which name themselves
    ],
)
def test_a_metric_is_called_like_its_class_in_snake_case_unless_it_names_itself(base, class_name, name):
    assert type(class_name, (type(ALL_METRICS[base]),), {})().name == name


def test_every_metric_is_built_by_its_name_and_stands_at_the_root():
    # The registry builds every built in metric by its name:
    assert set(components("metric")) == set(ALL_METRICS)
    assert {name: build("metric", name) for name in ALL_METRICS} == dict(ALL_METRICS)

    # Every metric class is at the root:
    public = {name: getattr(metrics, name) for name in metrics.__all__}
    classes = {name for name, value in public.items() if inspect.isclass(value) and issubclass(value, Metric)}
    concrete = {name for name in classes if not inspect.isabstract(public[name])}
    assert concrete == {type(metric).__name__ for metric in ALL_METRICS.values()}
    assert concrete <= set(rag.__all__)


NEW = [ALL_METRICS[name] for name in ("chunk_recall", "chunk_precision", "chunk_f1", "precision_omega")]


@pytest.mark.parametrize("metric", NEW, ids=lambda metric: metric.name)
def test_the_docstrings_say_formula_range_undefined_and_source(metric):
    assert re.findall(r"^    (\w+): \S", type(metric).__doc__, re.MULTILINE) == [
        "Formula",
        "Range",
        "Undefined",
        "Source",
    ]
