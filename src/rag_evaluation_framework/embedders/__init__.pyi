from .cached import CachedEmbedder as CachedEmbedder
from .embedding_cache import EmbeddingCache as EmbeddingCache
from .function import FunctionEmbedder as FunctionEmbedder
from .lsa import LsaEmbedder as LsaEmbedder
from .sentence_transformer import SentenceTransformerEmbedder as SentenceTransformerEmbedder
