from .bm25 import BM25Retriever as BM25Retriever
from .function import FunctionRetriever as FunctionRetriever
from .vector_rag import VectorRAGRetriever as VectorRAGRetriever
