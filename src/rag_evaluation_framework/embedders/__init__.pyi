from .cached import CachedEmbedder as CachedEmbedder
from .cohere import CohereEmbedder as CohereEmbedder
from .embedding_cache import EmbeddingCache as EmbeddingCache
from .function import FunctionEmbedder as FunctionEmbedder
from .lsa import LsaEmbedder as LsaEmbedder
from .openai import OpenAIEmbedder as OpenAIEmbedder
from .sentence_transformer import SentenceTransformerEmbedder as SentenceTransformerEmbedder
