# isort: off
# What a first reading of the guide uses; everything else is imported from its room.

# What goes in: documents, questions, and what is relevant to them
from .data import Corpus as Corpus
from .data import Document as Document
from .data import Query as Query
from .data import AnyChunk as AnyChunk
from .data import Chunk as Chunk
from .data import PositionAwareChunk as PositionAwareChunk
from .data import CharacterSpan as CharacterSpan
from .data import Answer as Answer
from .data import ChunkRegistry as ChunkRegistry
from .data import Dataset as Dataset
from .data import DocumentLevelGroundTruth as DocumentLevelGroundTruth
from .data import ChunkLevelGroundTruth as ChunkLevelGroundTruth
from .data import TokenLevelGroundTruth as TokenLevelGroundTruth
from .data import DOCUMENT as DOCUMENT
from .data import CHUNK as CHUNK
from .data import TOKEN as TOKEN
from .data import DocumentId as DocumentId
from .data import ChunkId as ChunkId
from .data import generate_chunk_id as generate_chunk_id
from .data import generate_pa_chunk_id as generate_pa_chunk_id
from .datasets import load_dataset as load_dataset
from .datasets import save_dataset as save_dataset
from .labelling import check_quotes as check_quotes

# What is compared: components, and the contracts for your own
from .chunkers import FixedTokenChunker as FixedTokenChunker
from .chunkers import MarkdownHeaderChunker as MarkdownHeaderChunker
from .chunkers import RecursiveCharacterChunker as RecursiveCharacterChunker
from .chunkers import SemanticChunker as SemanticChunker
from .chunkers import SentenceChunker as SentenceChunker
from .chunkers import ChunkerPositionAdapter as ChunkerPositionAdapter
from .embedders import CachedEmbedder as CachedEmbedder
from .embedders import LsaEmbedder as LsaEmbedder
from .embedders import SentenceTransformerEmbedder as SentenceTransformerEmbedder
from .vector_stores import ChromaVectorStore as ChromaVectorStore
from .vector_stores import InMemoryVectorStore as InMemoryVectorStore
from .vector_stores import QdrantVectorStore as QdrantVectorStore
from .retrievers import BM25Retriever as BM25Retriever
from .retrievers import FunctionRetriever as FunctionRetriever
from .retrievers import HybridRetriever as HybridRetriever
from .retrievers import RerankedRetriever as RerankedRetriever
from .retrievers import VectorRAGRetriever as VectorRAGRetriever
from .rerankers import CrossEncoderReranker as CrossEncoderReranker
from .rerankers import LateInteractionReranker as LateInteractionReranker
from .contracts import Chunker as Chunker
from .contracts import PositionAwareChunker as PositionAwareChunker
from .contracts import Embedder as Embedder
from .contracts import VectorStore as VectorStore
from .contracts import Retriever as Retriever
from .contracts import Reranker as Reranker
from .contracts import LLMClient as LLMClient
from ._support import note as note

# How it is measured
from .experiments import evaluate as evaluate
from .experiments import Evaluation as Evaluation
from .experiments import DocumentLevelEvaluation as DocumentLevelEvaluation
from .experiments import ChunkLevelEvaluation as ChunkLevelEvaluation
from .experiments import TokenLevelEvaluation as TokenLevelEvaluation
from .experiments import EvaluationConfig as EvaluationConfig
from .experiments import ExperimentConfig as ExperimentConfig
from .experiments import DocumentLevelExperimentConfig as DocumentLevelExperimentConfig
from .experiments import ChunkLevelExperimentConfig as ChunkLevelExperimentConfig
from .experiments import TokenLevelExperimentConfig as TokenLevelExperimentConfig
from .experiments import run_experiment as run_experiment
from .experiments import retrieve as retrieve
from .scoring import score as score
from .scoring import score_rankings as score_rankings
from .scoring import score_ranking_arrays as score_ranking_arrays
from .scoring import score_spans as score_spans
from .scoring import score_span_arrays as score_span_arrays

# What comes out
from .results import EvaluationResult as EvaluationResult
from .results import ExperimentResult as ExperimentResult
from .analysis import Comparison as Comparison
from .analysis import Attribution as Attribution
from .results import load_result as load_result
from .contracts import Metric as Metric
from .contracts import DocumentLevelMetric as DocumentLevelMetric
from .contracts import ChunkLevelMetric as ChunkLevelMetric
from .contracts import TokenLevelMetric as TokenLevelMetric
from .metrics import ALL_METRICS as ALL_METRICS
from .metrics import DEFAULT_DOCUMENT_METRICS as DEFAULT_DOCUMENT_METRICS
from .metrics import DEFAULT_CHUNK_METRICS as DEFAULT_CHUNK_METRICS
from .metrics import DEFAULT_TOKEN_METRICS as DEFAULT_TOKEN_METRICS
from .errors import RagEvalError as RagEvalError

# Every metric; written by docs/generate_metrics.py
from .metrics import HitRate as HitRate
from .metrics import Recall as Recall
from .metrics import Precision as Precision
from .metrics import F1 as F1
from .metrics import MRR as MRR
from .metrics import MAP as MAP
from .metrics import NDCG as NDCG
from .metrics import RPrecision as RPrecision
from .metrics import ChunkRecall as ChunkRecall
from .metrics import ChunkPrecision as ChunkPrecision
from .metrics import ChunkF1 as ChunkF1
from .metrics import SpanRecall as SpanRecall
from .metrics import SpanPrecision as SpanPrecision
from .metrics import SpanIoU as SpanIoU
from .metrics import SpanF1 as SpanF1
from .metrics import SpanHit as SpanHit
from .metrics import SpanDCG as SpanDCG
from .metrics import SpanU as SpanU
from .metrics import SpanPrecisionRaw as SpanPrecisionRaw
from .metrics import SpanIoURaw as SpanIoURaw
from .metrics import TokenSetRecall as TokenSetRecall
from .metrics import TokenSetPrecision as TokenSetPrecision
from .metrics import TokenSetIoU as TokenSetIoU
from .metrics import TokenSetF1 as TokenSetF1
from .metrics import PrecisionOmega as PrecisionOmega
