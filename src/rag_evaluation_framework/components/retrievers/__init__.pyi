from .bm25 import BM25Retriever as BM25Retriever  # bm25
from .combined import HybridRetriever as HybridRetriever  # hybrid
from .combined import RerankedRetriever as RerankedRetriever  # reranked
from .combined import ScopedRetriever as ScopedRetriever  # scoped
from .engine import Cleanup as Cleanup
from .engine import EngineRetriever as EngineRetriever  # engine
from .engine import clean_up as clean_up
from .function import FunctionRetriever as FunctionRetriever
from .indexing import EmbeddedChunks as EmbeddedChunks
from .indexing import chunk_corpus as chunk_corpus
from .indexing import embed_chunks as embed_chunks
from .indexing import fill_store as fill_store
from .vector_rag import VectorRAGRetriever as VectorRAGRetriever  # vector-rag
