from .bm25 import BM25Retriever as BM25Retriever
from .function import FunctionRetriever as FunctionRetriever
from .hybrid import HybridRetriever as HybridRetriever
from .reranked import RerankedRetriever as RerankedRetriever
from .vector_rag import VectorRAGRetriever as VectorRAGRetriever
