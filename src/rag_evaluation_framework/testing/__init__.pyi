from .chunkers import ChunkerConformance as ChunkerConformance
from .embedders import EmbedderConformance as EmbedderConformance
from .rank_metrics import RankMetricConformance as RankMetricConformance
from .rerankers import RerankerConformance as RerankerConformance
from .retrievers import RetrieverConformance as RetrieverConformance
from .span_metrics import SpanMetricConformance as SpanMetricConformance
from .vector_stores import VectorStoreConformance as VectorStoreConformance
