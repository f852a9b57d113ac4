from .chroma import ChromaVectorStore as ChromaVectorStore  # chroma
from .in_memory import InMemoryVectorStore as InMemoryVectorStore  # in-memory
from .pgvector import PgVectorStore as PgVectorStore  # pgvector
from .qdrant import QdrantVectorStore as QdrantVectorStore  # qdrant
