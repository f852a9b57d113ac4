from .chunkers import ChunkerConformance as ChunkerConformance
from .embedders import EmbedderConformance as EmbedderConformance
from .id_metrics import IdMetricConformance as IdMetricConformance
from .metrics import MetricConformance as MetricConformance
from .rerankers import RerankerConformance as RerankerConformance
from .retrievers import RetrieverConformance as RetrieverConformance
from .vector_stores import VectorStoreConformance as VectorStoreConformance
