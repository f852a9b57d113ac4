from .in_memory import InMemoryVectorStore as InMemoryVectorStore
