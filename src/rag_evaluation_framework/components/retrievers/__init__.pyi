from .bm25 import BM25Retriever as BM25Retriever  # bm25
from .combined import HybridRetriever as HybridRetriever  # hybrid
from .combined import RerankedRetriever as RerankedRetriever  # reranked
from .combined import ScopedRetriever as ScopedRetriever  # scoped
from .engine import Cleanup as Cleanup
from .engine import EngineRetriever as EngineRetriever  # engine
from .engine import clean_up as clean_up
from .function import FunctionRetriever as FunctionRetriever
from .vector_rag import EmbeddedChunks as EmbeddedChunks
from .vector_rag import VectorRAGRetriever as VectorRAGRetriever  # vector-rag
from .vector_rag import chunk_corpus as chunk_corpus
from .vector_rag import embed_chunks as embed_chunks
from .vector_rag import fill_store as fill_store
