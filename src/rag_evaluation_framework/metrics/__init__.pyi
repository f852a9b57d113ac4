# isort: off
# Registered in the order in which the guide shows them.
from .hit import HitRate as HitRate
from .recall import Recall as Recall
from .precision import Precision as Precision
from .f1 import F1 as F1
from .mrr import MRR as MRR
from .map import MAP as MAP
from .ndcg import NDCG as NDCG
from .r_precision import RPrecision as RPrecision
from .chunk_recall import ChunkRecall as ChunkRecall
from .chunk_precision import ChunkPrecision as ChunkPrecision
from .chunk_f1 import ChunkF1 as ChunkF1
from .span_recall import SpanRecall as SpanRecall
from .span_precision import SpanPrecision as SpanPrecision
from .span_iou import SpanIoU as SpanIoU
from .span_f1 import SpanF1 as SpanF1
from .span_hit import SpanHit as SpanHit
from .span_dcg import SpanDCG as SpanDCG
from .span_u import SpanU as SpanU
from .span_precision_raw import SpanPrecisionRaw as SpanPrecisionRaw
from .span_iou_raw import SpanIoURaw as SpanIoURaw
from .token_set_recall import TokenSetRecall as TokenSetRecall
from .token_set_precision import TokenSetPrecision as TokenSetPrecision
from .token_set_iou import TokenSetIoU as TokenSetIoU
from .token_set_f1 import TokenSetF1 as TokenSetF1
from .precision_omega import PrecisionOmega as PrecisionOmega

# Their bases and groups.
from .catalogue import ALL_METRICS as ALL_METRICS
from .catalogue import DEFAULT_CHUNK_METRICS as DEFAULT_CHUNK_METRICS
from .catalogue import DEFAULT_DOCUMENT_METRICS as DEFAULT_DOCUMENT_METRICS
from .catalogue import DEFAULT_TOKEN_METRICS as DEFAULT_TOKEN_METRICS
from .rank_metric import RankMetric as RankMetric
from .span_metric import SpanMetric as SpanMetric
from .token_set_metric import TokenSetMetric as TokenSetMetric
