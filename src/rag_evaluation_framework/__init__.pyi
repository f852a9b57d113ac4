# isort: off
# What a first reading of the guide uses; everything else is imported from its room.

# What goes in: documents, questions, and what is relevant to them
from .data import Corpus as Corpus
from .data import Document as Document
from .data import Query as Query
from .data import PositionAwareChunk as PositionAwareChunk
from .data import CharacterSpan as CharacterSpan
from .data import ChunkRegistry as ChunkRegistry
from .data import Dataset as Dataset
from .data import DocumentLevelGroundTruth as DocumentLevelGroundTruth
from .data import ChunkLevelGroundTruth as ChunkLevelGroundTruth
from .data import TokenLevelGroundTruth as TokenLevelGroundTruth
from .data import DOCUMENT as DOCUMENT
from .data import CHUNK as CHUNK
from .data import TOKEN as TOKEN
from .data import DocumentId as DocumentId
from .data import generate_chunk_id as generate_chunk_id
from .data import generate_pa_chunk_id as generate_pa_chunk_id
from .datasets import load_dataset as load_dataset
from .datasets import save_dataset as save_dataset
from .authoring.models import ChunkLevelDataGenerator as ChunkLevelDataGenerator
from .authoring.models import TokenLevelDataGenerator as TokenLevelDataGenerator

# What is compared: components, and the contracts for your own
from .components.chunkers import FixedTokenChunker as FixedTokenChunker
from .components.chunkers import RecursiveCharacterChunker as RecursiveCharacterChunker
from .components.chunkers import SemanticChunker as SemanticChunker
from .components.chunkers import ChunkerPositionAdapter as ChunkerPositionAdapter
from .components.embedders import OpenAIEmbedder as OpenAIEmbedder
from .components.vector_stores import ChromaVectorStore as ChromaVectorStore
from .components.retrievers import BM25Retriever as BM25Retriever
from .components.retrievers import VectorRAGRetriever as VectorRAGRetriever
from .components.rerankers import CohereReranker as CohereReranker
from .contracts import Chunker as Chunker
from .contracts import PositionAwareChunker as PositionAwareChunker
from .contracts import Embedder as Embedder
from .contracts import VectorStore as VectorStore
from .contracts import Retriever as Retriever
from .contracts import Reranker as Reranker
from .contracts import LLMClient as LLMClient
from .base import note as note

# How it is measured
from .runs import evaluate as evaluate
from .runs import Evaluation as Evaluation
from .runs import DocumentLevelEvaluation as DocumentLevelEvaluation
from .runs import ChunkLevelEvaluation as ChunkLevelEvaluation
from .runs import TokenLevelEvaluation as TokenLevelEvaluation
from .runs import EvaluationConfig as EvaluationConfig
from .runs import ExperimentConfig as ExperimentConfig
from .runs import DocumentLevelExperimentConfig as DocumentLevelExperimentConfig
from .runs import ChunkLevelExperimentConfig as ChunkLevelExperimentConfig
from .runs import TokenLevelExperimentConfig as TokenLevelExperimentConfig
from .runs import run_experiment as run_experiment
from .sweeps import SweepConfig as SweepConfig
from .scoring import score_rankings as score_rankings
from .scoring import score_spans as score_spans

# What comes out
from .runs import EvaluationResult as EvaluationResult
from .runs import ExperimentResult as ExperimentResult
from .analysis import compare as compare
from .analysis import Comparison as Comparison
from .runs import load_result as load_result
from .sweeps import SweepResult as SweepResult
from .trackers import get_langsmith_evaluators as get_langsmith_evaluators
from .contracts import ChunkLevelMetric as ChunkLevelMetric
from .contracts import TokenLevelMetric as TokenLevelMetric

# Every metric; written by docs/generate_metrics.py
from .scoring.metrics import HitRate as HitRate
from .scoring.metrics import Recall as Recall
from .scoring.metrics import Precision as Precision
from .scoring.metrics import F1 as F1
from .scoring.metrics import MRR as MRR
from .scoring.metrics import MAP as MAP
from .scoring.metrics import NDCG as NDCG
from .scoring.metrics import RPrecision as RPrecision
from .scoring.metrics import ChunkRecall as ChunkRecall
from .scoring.metrics import ChunkPrecision as ChunkPrecision
from .scoring.metrics import ChunkF1 as ChunkF1
from .scoring.metrics import SpanRecall as SpanRecall
from .scoring.metrics import SpanPrecision as SpanPrecision
from .scoring.metrics import SpanIoU as SpanIoU
from .scoring.metrics import SpanF1 as SpanF1
from .scoring.metrics import SpanHit as SpanHit
from .scoring.metrics import SpanDCG as SpanDCG
from .scoring.metrics import SpanU as SpanU
from .scoring.metrics import SpanPrecisionRaw as SpanPrecisionRaw
from .scoring.metrics import SpanIoURaw as SpanIoURaw
from .scoring.metrics import TokenSetRecall as TokenSetRecall
from .scoring.metrics import TokenSetPrecision as TokenSetPrecision
from .scoring.metrics import TokenSetIoU as TokenSetIoU
from .scoring.metrics import TokenSetF1 as TokenSetF1
from .scoring.metrics import PrecisionOmega as PrecisionOmega
