# isort: off
# Registered in the order in which the guide shows them.
from .rank import HitRate as HitRate  # hit
from .rank import Recall as Recall  # recall
from .rank import Precision as Precision  # precision
from .rank import F1 as F1  # f1
from .rank import MRR as MRR  # mrr
from .rank import MAP as MAP  # map
from .rank import NDCG as NDCG  # ndcg
from .rank import RPrecision as RPrecision  # r_precision
from .rank import ChunkRecall as ChunkRecall  # chunk_recall
from .rank import ChunkPrecision as ChunkPrecision  # chunk_precision
from .rank import ChunkF1 as ChunkF1  # chunk_f1
from .span import SpanRecall as SpanRecall  # span_recall
from .span import SpanPrecision as SpanPrecision  # span_precision
from .span import SpanIoU as SpanIoU  # span_iou
from .span import SpanF1 as SpanF1  # span_f1
from .span import SpanHit as SpanHit  # span_hit
from .span import SpanDCG as SpanDCG  # span_dcg
from .span import SpanU as SpanU  # span_u
from .span import SpanPrecisionRaw as SpanPrecisionRaw  # span_precision_raw
from .span import SpanIoURaw as SpanIoURaw  # span_iou_raw
from .token_set import TokenSetRecall as TokenSetRecall  # token_set_recall
from .token_set import TokenSetPrecision as TokenSetPrecision  # token_set_precision
from .token_set import TokenSetIoU as TokenSetIoU  # token_set_iou
from .token_set import TokenSetF1 as TokenSetF1  # token_set_f1
from .span import PrecisionOmega as PrecisionOmega  # precision_omega

# Their bases and groups.
from .defaults import ALL_METRICS as ALL_METRICS
from .defaults import DEFAULT_CHUNK_METRICS as DEFAULT_CHUNK_METRICS
from .defaults import DEFAULT_DOCUMENT_METRICS as DEFAULT_DOCUMENT_METRICS
from .defaults import DEFAULT_TOKEN_METRICS as DEFAULT_TOKEN_METRICS
from .rank import RankMetric as RankMetric
from .span import SpanMetric as SpanMetric
from .token_set import TokenSetMetric as TokenSetMetric
