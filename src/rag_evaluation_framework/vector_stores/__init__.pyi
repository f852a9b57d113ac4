from .chroma import ChromaVectorStore as ChromaVectorStore
from .in_memory import InMemoryVectorStore as InMemoryVectorStore
from .pgvector import PgVectorStore as PgVectorStore
from .qdrant import QdrantVectorStore as QdrantVectorStore
