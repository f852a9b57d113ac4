from .cached import CachedEmbedder as CachedEmbedder  # cached
from .cached import EmbeddingCache as EmbeddingCache
from .function import FunctionEmbedder as FunctionEmbedder
from .lsa import LsaEmbedder as LsaEmbedder  # lsa
from .remote import CohereEmbedder as CohereEmbedder  # cohere
from .remote import OpenAIEmbedder as OpenAIEmbedder  # openai
from .sentence_transformer import SentenceTransformerEmbedder as SentenceTransformerEmbedder  # sentence-transformer
